//! Normalises what people and models send to what the schemas accept, and holds the
//! arguments that several tools share. A value that can't be normalised stays as it
//! is, and the schema refuses it.

use jiff::{
    Timestamp,
    civil::{Date, DateTime},
    tz::TimeZone,
};
use kit::{Context, Result};
use schemars::{JsonSchema, Schema, transform::transform_subschemas};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    errors,
    model::{
        message::written,
        names::{self, RoomName, canonical},
    },
};

const SPELLINGS: [(&str, &str); 6] = [
    ("room_name", "roomName"),
    ("agent_name", "agentName"),
    ("reply_to", "replyTo"),
    ("client_message_id", "clientMessageId"),
    ("mentions_only", "mentionsOnly"),
    ("message_id", "messageId"),
];

/// For all tools: an argument's name has the same meaning in each.
pub fn tidy(_: &Context, arguments: &mut Map<String, Value>) {
    // Models send `null` for what they do not know.
    arguments.retain(|_, value| !value.is_null());
    for (snake, camel) in SPELLINGS {
        if !arguments.contains_key(camel)
            && let Some(value) = arguments.remove(snake)
        {
            arguments.insert(camel.to_owned(), value);
        }
    }
    for (name, value) in arguments.iter_mut() {
        let tidied = match name.as_str() {
            "agentName" => value
                .as_str()
                .map(|name| canonical(name.trim()).into_owned().into()),
            "limit" | "offset" => integer(value),
            "timeout" => seconds(value),
            "confirm" | "mentionsOnly" | "compact" => boolean(value),
            "metadata" | "profile" => object(value),
            _ => None,
        };
        if let Some(tidied) = tidied {
            *value = tidied;
        }
    }
}

/// `"20"` and `20.0` for 20.
fn integer(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => Some(kit::text::narrow(text).parse::<i64>().ok()?.into()),
        Value::Number(number) if number.is_f64() => {
            let real = number.as_f64().filter(|real| real.fract() == 0.0)?;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it is whole; the cast saturates"
            )]
            let whole = real as i64;
            Some(whole.into())
        }
        _ => None,
    }
}

/// Clients of the original server send milliseconds, at least 1000. Nobody may wait
/// that many seconds.
const MILLISECONDS: f64 = 1_000.0;

/// `"1.5"` and 1500 for 1.5.
fn seconds(value: &Value) -> Option<Value> {
    let given: f64 = match value {
        Value::String(text) => kit::text::narrow(text).parse().ok()?,
        _ => value.as_f64()?,
    };
    let seconds = match given >= MILLISECONDS {
        true => given / MILLISECONDS,
        false => given,
    };
    Some(serde_json::Number::from_f64(seconds)?.into())
}

fn boolean(value: &Value) -> Option<Value> {
    match value.as_str()?.trim().to_ascii_lowercase().as_str() {
        "true" => Some(true.into()),
        "false" => Some(false.into()),
        _ => None,
    }
}

/// An object that came as its JSON text.
fn object(value: &Value) -> Option<Value> {
    let parsed: Value = serde_json::from_str(value.as_str()?).ok()?;
    parsed.is_object().then_some(parsed)
}

// No doc comments on these: they would be published. Only the tools that take new
// names publish their patterns.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct AgentName(String);

impl AgentName {
    /// The name, if it is valid and not reserved.
    pub fn checked(self) -> Result<String> {
        names::check_agent(&self.0)?;
        Ok(self.0)
    }

    pub fn unchecked(self) -> String {
        self.0
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ExistingRoom(String);

impl ExistingRoom {
    pub fn name(&self) -> Result<RoomName> {
        RoomName::parse(&self.0)
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Limit(#[schemars(range(min = 1, max = MAX_LIMIT))] usize);

pub const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 1_000;

impl Default for Limit {
    fn default() -> Self {
        Self(DEFAULT_LIMIT)
    }
}

impl Limit {
    pub fn get(self) -> usize {
        self.0.clamp(1, MAX_LIMIT)
    }
}

// The arguments of a tool that removes something.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Confirmed {
    room_name: ExistingRoom,
    /// Must be true (確認フラグ)
    confirm: bool,
}

impl Confirmed {
    /// The room, if the caller has confirmed.
    pub fn room(self) -> Result<RoomName> {
        match self.confirm {
            true => self.room_name.name(),
            false => Err(errors::confirmation_required()),
        }
    }
}

/// Drops `additionalProperties` from the schema of an object that may have any.
pub fn open_object(schema: &mut Schema) {
    if let Some(object) = schema.as_object_mut() {
        object.remove("additionalProperties");
    }
    transform_subschemas(&mut open_object, schema);
}

/// Parses a time, or a day: `end` for its last millisecond instead of its first.
pub fn time(
    field: &str,
    text: Option<&str>,
    end: bool,
    now: Timestamp,
) -> Result<Option<Timestamp>> {
    let text = text.map(kit::text::narrow).unwrap_or_default();
    if text.is_empty() {
        return Ok(None);
    }
    let time = text.parse::<Timestamp>().ok();
    let time = time.or_else(|| match text.len() == "2026-11-15".len() {
        true => day(text.parse().ok()?, end),
        false => in_utc(text.parse().ok()?),
    });
    time.map(Some)
        .ok_or_else(|| errors::invalid_time(field, &written(now)))
}

fn day(day: Date, end: bool) -> Option<Timestamp> {
    if !end {
        return in_utc(day.into());
    }
    let next = in_utc(day.tomorrow().ok()?.into())?;
    Timestamp::from_millisecond(next.as_millisecond() - 1).ok()
}

fn in_utc(time: DateTime) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(time).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_normalised_to_the_schemas() {
        let mut arguments = json!({
            "room_name": "dev-team",
            "agentName": " 田中 ",
            "limit": "２０",
            "offset": 3.0,
            "timeout": 1.5,
            "confirm": "True",
            "metadata": "{\"a\": 1}",
            "reply_to": null,
            "message": " spaces stay "
        });
        let arguments = arguments.as_object_mut().unwrap();
        let context = Context::of_the_desk(kit::time::Clock::system());
        tidy(&context, arguments);
        let expected = json!({
            "roomName": "dev-team",
            "agentName": "田中",
            "limit": 20,
            "offset": 3,
            "timeout": 1.5,
            "confirm": true,
            "metadata": {"a": 1},
            "message": " spaces stay "
        });
        assert_eq!(Value::Object(arguments.clone()), expected);
    }

    #[test]
    fn timeouts_of_1000_and_more_are_milliseconds() {
        for (given, expected) in [
            (json!(30), json!(30.0)),
            (json!(1.5), json!(1.5)),
            (json!("１.5"), json!(1.5)),
            (json!(999), json!(999.0)),
            (json!(1_000), json!(1.0)),
            (json!(120_000), json!(120.0)),
        ] {
            assert_eq!(seconds(&given), Some(expected), "{given}");
        }
        assert_eq!(seconds(&json!("soon")), None);
    }

    #[test]
    fn times_and_days_are_parsed_in_utc() {
        let at = |text, end| {
            time("since", Some(text), end, Timestamp::UNIX_EPOCH)
                .unwrap()
                .unwrap()
                .to_string()
        };
        assert_eq!(
            at("2026-11-15T09:30:00+09:00", false),
            "2026-11-15T00:30:00Z"
        );
        assert_eq!(at("2026-11-15T09:30", true), "2026-11-15T09:30:00Z");
        assert_eq!(at("2026-11-15 09:30:01", false), "2026-11-15T09:30:01Z");
        assert_eq!(at("2026-11-15", false), "2026-11-15T00:00:00Z");
        assert_eq!(at("2026-11-15", true), "2026-11-15T23:59:59.999Z");
        assert_eq!(
            time("since", Some(" "), false, Timestamp::UNIX_EPOCH).unwrap(),
            None
        );
        let refused = time("since", Some("yesterday"), false, Timestamp::UNIX_EPOCH).unwrap_err();
        assert_eq!(refused.code, "INVALID_ARGUMENT");
    }
}
