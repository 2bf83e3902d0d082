//! What people and models really send, turned into what the schemas say. What
//! is not understood stays as it is, and the schema refuses it.

use kit::{Context, arguments::change};
use serde_json::{Map, Value};

pub use kit::arguments::{Arguments, integer, narrow, text};

use crate::model::{
    film::tidy_age_class,
    seat::{self, SeatReference},
    when::{tidy_date, tidy_time},
};

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

/// The film by its id, where the schema has only a title: titles may be ids.
pub fn movie(arguments: &mut Arguments) {
    rename(arguments, "movie_id", "movie_title");
    text(arguments, "movie_title");
}

pub fn age_class(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        Some(tidy_age_class(value.as_str()?)?.into())
    });
}

/// Moves an argument that goes by another name, unless both are given.
pub fn rename(arguments: &mut Arguments, from: &str, to: &str) {
    if !arguments.contains_key(to)
        && let Some(value) = arguments.remove(from)
    {
        arguments.insert(to.into(), value);
    }
}

/// Turns `"true"` and `"false"` into what they say.
pub fn boolean(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        Some(
            value
                .as_str()?
                .trim()
                .to_lowercase()
                .parse::<bool>()
                .ok()?
                .into(),
        )
    });
}

/// A list of seats: an array, a JSON array in a string, or a list in words. `null`
/// and `""` in it count as not given.
pub fn seats(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        let parsed = value
            .as_str()
            .filter(|text| text.trim_start().starts_with('['))
            .and_then(|text| serde_json::from_str(text).ok());
        let parts = match parsed.as_ref().unwrap_or(value) {
            Value::String(list) => seat::split_list(list),
            Value::Array(items) => {
                let given = items.iter().filter(|item| !item.is_null());
                let texts: Option<Vec<&str>> = given.map(Value::as_str).collect();
                texts?.into_iter().flat_map(seat::split_list).collect()
            }
            _ => return None,
        };
        let canonical = parts
            .into_iter()
            .map(|part| match SeatReference::parse(&part) {
                Some(named) => Value::String(named.to_string()),
                None => Value::String(part),
            });
        Some(Value::Array(canonical.collect()))
    });
}

/// Tickets by price class: an object, the same as JSON in a string, or a list of classes.
pub fn tickets(arguments: &mut Arguments) {
    change(arguments, "tickets", |value| {
        let parsed: Option<Value> = value
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        let mut counts = Map::new();
        match parsed.as_ref().unwrap_or(value) {
            Value::Object(given) => {
                for (class, count) in given.iter().filter(|(_, count)| !count.is_null()) {
                    let count = kit::arguments::whole(count).unwrap_or_else(|| count.clone());
                    counts.insert(class.clone(), count);
                }
            }
            Value::Array(classes) => {
                for class in classes {
                    let count = counts.entry(class.as_str()?).or_insert(Value::from(0));
                    *count = Value::from(count.as_u64()? + 1);
                }
            }
            _ => return None,
        }
        Some(Value::Object(counts))
    });
}

#[cfg(test)]
mod tests {
    use kit::testing::normalised;
    use serde_json::json;

    use super::*;

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
            json!(["", "A1", null, "A2", " "]),
        ] {
            assert_eq!(
                normalised(seats, list.clone()),
                json!(["A1", "A2"]),
                "{list}"
            );
        }
        assert_eq!(normalised(seats, json!(["S1:a1"])), json!(["S1:A1"]));
        assert_eq!(normalised(seats, json!(["A1", "?"])), json!(["A1", "?"]));
        assert_eq!(normalised(seats, json!([1, 2])), json!([1, 2]));
        assert_eq!(normalised(seats, json!("")), json!([]));
    }

    #[test]
    fn tickets_of_every_kind() {
        let wanted = json!({"general": 2, "child": 1});
        for given in [
            wanted.clone(),
            json!("{\"general\": 2, \"child\": 1}"),
            json!({"general": "2", "child": 1, "senior": null}),
            json!(["general", "child", "general"]),
        ] {
            let mut arguments = Arguments::from_iter([("tickets".to_owned(), given)]);
            tickets(&mut arguments);
            assert_eq!(arguments["tickets"], wanted);
        }
    }

    #[test]
    fn numbers_ids_and_dates() {
        assert_eq!(normalised(integer, json!("２０")), json!(20));
        assert_eq!(normalised(integer, json!("many")), json!("many"));
        assert_eq!(normalised(narrow, json!(" Ｍ００１ ")), json!("M001"));
        assert_eq!(normalised(narrow, json!(7)), json!("7"));
        let context = Context::of_the_desk(kit::time::Clock::system());
        let date = |arguments: &mut Arguments, name: &str| super::date(&context, arguments, name);
        assert_eq!(normalised(date, json!("2026/1/2")), json!("2026-01-02"));
        assert_eq!(normalised(date, json!("soon")), json!("soon"));
        assert_eq!(normalised(time, json!("午後7時")), json!("19:00"));
        assert_eq!(normalised(boolean, json!("True")), json!(true));
        assert_eq!(normalised(boolean, json!("maybe")), json!("maybe"));
    }
}
