//! What people and models really send, turned into what the schemas say. What
//! is not understood stays as it is, and is refused by the schema.

use kit::arguments::change;
use serde_json::{Value, json};

pub use kit::arguments::{Arguments, drop_nulls};

/// `t1`, `#T001`, `Ｔ００１` and `1` are all T001.
pub fn task_id(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        let text = match value {
            Value::String(text) => kit::text::narrow(text),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let plain = text.strip_prefix('#').unwrap_or(&text);
        let digits = plain.strip_prefix(['T', 't']).unwrap_or(plain);
        // What has four digits is no id, whatever the first is.
        let whole = (1..=3).contains(&digits.len());
        let whole = whole && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: u16 = digits.parse().ok().filter(|_| whole)?;
        Some(format!("T{number:03}").into())
    });
}

/// A task's id or a record's number, as text.
pub fn target(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| match value {
        Value::Number(number) => Some(number.to_string().into()),
        Value::String(text) => {
            let text = kit::text::narrow(text);
            let text = text.trim_start_matches('#');
            let record = text
                .strip_prefix("adr-")
                .or_else(|| text.strip_prefix("ADR-"));
            let digits = record.map(|rest| {
                let end = rest
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len());
                rest.get(..end).unwrap_or(rest)
            });
            Some(digits.unwrap_or(text).into())
        }
        _ => None,
    });
}

/// `"20"` and `20.0` for 20.
pub fn integer(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| match value {
        Value::String(text) => {
            let text = kit::text::narrow(text);
            let plain = ["adr-", "ADR-", "#"]
                .iter()
                .find_map(|start| text.strip_prefix(start));
            Some(plain.unwrap_or(&text).parse::<i64>().ok()?.into())
        }
        Value::Number(number) if number.is_f64() => {
            let real = number.as_f64()?;
            let whole = real.fract() == 0.0 && real.abs() < 1e15;
            whole.then(|| Value::from(real as i64))
        }
        _ => None,
    });
}

/// `In Progress` and `completed` in the seed's words.
pub fn status(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        Some(known_status(value.as_str()?)?.into())
    });
}

fn known_status(text: &str) -> Option<&'static str> {
    let plain = kit::text::narrow(text)
        .to_lowercase()
        .replace([' ', '-'], "_");
    match plain.as_str() {
        "todo" | "to_do" | "未着手" => Some("todo"),
        "in_progress" | "inprogress" | "doing" | "作業中" => Some("in_progress"),
        "done" | "completed" | "complete" | "完了" => Some("done"),
        _ => None,
    }
}

pub fn adr_status(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        let plain = kit::text::narrow(value.as_str()?).to_lowercase();
        let known = ["Proposed", "Accepted", "Deprecated"];
        known
            .into_iter()
            .find(|name| name.to_lowercase() == plain)
            .map(Value::from)
    });
}

/// A list of texts: objects with a title, or a JSON array in a string, too.
pub fn titles(arguments: &mut Arguments, name: &str) {
    list(arguments, name);
    change(arguments, name, |value| {
        let titles: Option<Vec<&Value>> = value
            .as_array()?
            .iter()
            .map(|item| {
                if item.is_string() {
                    Some(item)
                } else {
                    item.get("title")
                }
            })
            .collect();
        Some(titles?.into_iter().cloned().collect())
    });
}

/// A list of objects with a title: plain texts, too.
pub fn titled(arguments: &mut Arguments, name: &str) {
    list(arguments, name);
    change(arguments, name, |value| {
        let items = value.as_array()?.iter().map(|item| {
            let mut item = match item {
                Value::String(title) => json!({ "title": title }),
                other => other.clone(),
            };
            if let Some(object) = item.as_object_mut() {
                drop_nulls(object);
                status(object, "status");
            }
            item
        });
        Some(items.collect())
    });
}

/// A JSON array in a string, or one text instead of a list.
pub fn list(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        let text = value.as_str()?;
        if text.trim_start().starts_with('[') {
            return serde_json::from_str(text).ok();
        }
        Some(json!([text]))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(step: impl FnOnce(&mut Arguments, &str), value: Value) -> Value {
        let mut arguments = Arguments::from_iter([("x".to_owned(), value)]);
        step(&mut arguments, "x");
        arguments.remove("x").unwrap()
    }

    #[test]
    fn ids_and_numbers() {
        for id in [
            json!("T001"),
            json!("#T001"),
            json!("t1"),
            json!(1),
            json!("Ｔ００１"),
        ] {
            assert_eq!(after(task_id, id), json!("T001"));
        }
        for odd in [
            json!("T0001x"),
            json!("T0001"),
            json!("TT001"),
            json!("TASK"),
            json!("T1234"),
            json!(true),
        ] {
            assert_eq!(after(task_id, odd.clone()), odd);
        }
        assert_eq!(after(integer, json!("２０")), json!(20));
        assert_eq!(after(integer, json!(3.0)), json!(3));
        assert_eq!(after(integer, json!("adr-003")), json!(3));
        assert_eq!(after(integer, json!("-#3")), json!("-#3"));
        assert_eq!(after(target, json!("adr-003-use-rust")), json!("003"));
        assert_eq!(after(target, json!(3)), json!("3"));
    }

    #[test]
    fn statuses_and_lists() {
        assert_eq!(after(status, json!("In Progress")), json!("in_progress"));
        assert_eq!(after(status, json!("nonsense")), json!("nonsense"));
        assert_eq!(after(adr_status, json!("accepted")), json!("Accepted"));
        assert_eq!(after(titles, json!("[\"a\"]")), json!(["a"]));
        assert_eq!(after(titles, json!([{"title": "a"}])), json!(["a"]));
        assert_eq!(after(titled, json!(["a"])), json!([{"title": "a"}]));
    }
}
