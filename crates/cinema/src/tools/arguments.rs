//! What people and models really send, turned into what the schemas say. What
//! is not understood stays as it is, and is refused by the schema.

use kit::Context;
use serde_json::{Map, Value};

use crate::model::{
    seat::{self, Named},
    when::{tidy_date, tidy_time},
};

pub type Arguments = Map<String, Value>;

/// Models send `null` for what they do not know.
pub fn drop_nulls(arguments: &mut Arguments) {
    arguments.retain(|_, value| !value.is_null());
}

/// An id or a title: a number becomes text, white space around it goes.
pub fn text(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| match value {
        Value::String(text) => Some(text.trim().into()),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    });
}

/// An id of ours: full-width letters become ASCII as well.
pub fn id(arguments: &mut Arguments, name: &str) {
    text(arguments, name);
    change(arguments, name, |value| {
        Some(kit::text::narrow(value.as_str()?).into())
    });
}

pub fn date(context: &Context, arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        Some(tidy_date(value.as_str()?, context.today())?.into())
    });
}

pub fn time(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        Some(tidy_time(value.as_str()?)?.into())
    });
}

/// `"20"` and `20.0` for 20.
pub fn integer(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| match value {
        Value::String(text) => Some(kit::text::narrow(text).parse::<i64>().ok()?.into()),
        _ => None,
    });
}

/// A list of seats: an array, a JSON array in a string, or a list in words.
pub fn seats(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        let parsed = value
            .as_str()
            .filter(|text| text.trim_start().starts_with('['))
            .and_then(|text| serde_json::from_str(text).ok());
        let parts = match parsed.as_ref().unwrap_or(value) {
            Value::String(list) => seat::split_list(list),
            Value::Array(items) => {
                let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                texts?.into_iter().flat_map(seat::split_list).collect()
            }
            _ => return None,
        };
        let canonical = parts.into_iter().map(|part| match Named::parse(&part) {
            Some(named) => Value::String(named.to_string()),
            None => Value::String(part),
        });
        Some(Value::Array(canonical.collect()))
    });
}

fn change(arguments: &mut Arguments, name: &str, change: impl FnOnce(&Value) -> Option<Value>) {
    if let Some(value) = arguments.get_mut(name)
        && let Some(changed) = change(value)
    {
        *value = changed;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn after(step: impl FnOnce(&mut Arguments, &str), value: Value) -> Value {
        let mut arguments = Map::from_iter([("x".to_owned(), value)]);
        step(&mut arguments, "x");
        arguments.remove("x").unwrap()
    }

    #[test]
    fn seat_lists_of_every_kind() {
        for list in [
            json!(["A1", "A2"]),
            json!(["a-1", "Ａ列２番"]),
            json!("A1,A2"),
            json!("A1、A2"),
            json!("A1 A2"),
            json!("[\"A1\", \"A2\"]"),
            json!(["A1,A2"]),
        ] {
            assert_eq!(after(seats, list.clone()), json!(["A1", "A2"]), "{list}");
        }
        assert_eq!(after(seats, json!(["S1:a1"])), json!(["S1:A1"]));
        assert_eq!(after(seats, json!(["A1", "?"])), json!(["A1", "?"]));
        assert_eq!(after(seats, json!([1, 2])), json!([1, 2]));
        assert_eq!(after(seats, json!("")), json!([]));
    }

    #[test]
    fn numbers_ids_and_dates() {
        assert_eq!(after(integer, json!("２０")), json!(20));
        assert_eq!(after(integer, json!("many")), json!("many"));
        assert_eq!(after(id, json!(" Ｍ００１ ")), json!("M001"));
        assert_eq!(after(id, json!(7)), json!("7"));
        let context = Context::of_the_desk(kit::time::Clock::system());
        let date = |arguments: &mut Arguments, name: &str| super::date(&context, arguments, name);
        assert_eq!(after(date, json!("2026/1/2")), json!("2026-01-02"));
        assert_eq!(after(date, json!("soon")), json!("soon"));
        assert_eq!(after(time, json!("午後7時")), json!("19:00"));
    }
}
