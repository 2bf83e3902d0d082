//! Converts what people and models send into what the schemas expect. Values
//! that are not understood stay as they are, and the schema rejects them.
//!
//! Only reads accept other spellings of an id or a status; their descriptions
//! list them. Calls that change something accept the published form only, so
//! that they never act on a guess; `supersedes` also accepts `ADR-001`.

use serde_json::{Value, json};

pub use kit::arguments::{Arguments, change};

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
        // Four digits are no id, even with a leading zero.
        let whole = (1..=3).contains(&digits.len());
        let whole = whole && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: u16 = digits.parse().ok().filter(|_| whole)?;
        Some(format!("T{number:03}").into())
    });
}

/// A task's id, or a record's number as text.
pub fn target(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        value.as_i64().map(|number| number.to_string().into())
    });
}

/// `adr-003`, `ADR-003`, `003` and `#3` for 3.
pub fn adr_number(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        let text = kit::text::narrow(value.as_str()?).to_lowercase();
        let plain = ["adr-", "#"].iter().find_map(|it| text.strip_prefix(it));
        let plain = plain.unwrap_or(&text);
        let is_number = plain.bytes().all(|byte| byte.is_ascii_digit());
        Some(plain.parse::<i64>().ok().filter(|_| is_number)?.into())
    });
    integer(arguments, name);
}

/// `"20"` and `20.0` for 20.
pub fn integer(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| match value {
        Value::String(_) => kit::arguments::whole(value),
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

/// A list of objects with a title, or of plain texts.
pub fn titled(arguments: &mut Arguments, name: &str) {
    list(arguments, name);
    change(arguments, name, |value| {
        let items = value.as_array()?.iter().map(|item| match item {
            Value::String(title) => json!({ "title": title }),
            other => other.clone(),
        });
        Some(items.collect())
    });
}

/// Accepts a JSON array in a string, and one text instead of a list.
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
    use kit::testing::normalised;

    use super::*;

    #[test]
    fn other_spellings_of_ids_and_numbers_are_normalised() {
        for id in [
            json!("T001"),
            json!("#T001"),
            json!("t1"),
            json!(1),
            json!("Ｔ００１"),
        ] {
            assert_eq!(normalised(task_id, id), json!("T001"));
        }
        for odd in [
            json!("T0001x"),
            json!("T0001"),
            json!("TT001"),
            json!("TASK"),
            json!("T1234"),
            json!(true),
        ] {
            assert_eq!(normalised(task_id, odd.clone()), odd);
        }
        assert_eq!(normalised(integer, json!("２０")), json!(20));
        assert_eq!(normalised(integer, json!(3.0)), json!(3));
        assert_eq!(normalised(integer, json!("adr-003")), json!("adr-003"));
        for text in ["adr-003", "ADR-003", "Adr-3", "003", "#3", "3", "３"] {
            assert_eq!(normalised(adr_number, json!(text)), json!(3));
        }
        assert_eq!(normalised(adr_number, json!(3.0)), json!(3));
        assert_eq!(normalised(adr_number, json!("adr--3")), json!("adr--3"));
        assert_eq!(normalised(adr_number, json!("-#3")), json!("-#3"));
        assert_eq!(normalised(target, json!("adr-003")), json!("adr-003"));
        assert_eq!(normalised(target, json!(3)), json!("3"));
    }

    #[test]
    fn other_spellings_of_statuses_and_lists_are_normalised() {
        assert_eq!(
            normalised(status, json!("In Progress")),
            json!("in_progress")
        );
        assert_eq!(normalised(status, json!("nonsense")), json!("nonsense"));
        assert_eq!(normalised(adr_status, json!("accepted")), json!("Accepted"));
        assert_eq!(normalised(list, json!("[\"a\"]")), json!(["a"]));
        assert_eq!(normalised(titled, json!(["a"])), json!([{"title": "a"}]));
    }
}
