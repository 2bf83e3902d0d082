//! A message: as a line of the log, as a draft, and as tools answer it.

use std::borrow::Cow;

use jiff::Timestamp;
use kit::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};

use super::{mentions::MAX_MENTIONS, names};
use crate::errors;

pub const MAX_MESSAGE: usize = 10_000;
/// Of the metadata as JSON, in bytes.
pub const MAX_METADATA: usize = 10_000;
pub const MAX_CLIENT_ID: usize = 100;
/// How deep metadata may be nested. JSON parsers fail at some depth, and a line that
/// can't be parsed is a lost message.
pub const MAX_DEPTH: usize = 64;

/// One line of `messages.jsonl`. The order of the fields is the file's; the
/// last two are only written when they are used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageLine {
    pub id: String,
    #[serde(default, deserialize_with = "lenient")]
    pub room_name: String,
    pub agent_name: String,
    pub message: String,
    #[serde(default, deserialize_with = "lenient")]
    pub mentions: Vec<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub timestamp: String,
    #[serde(default, deserialize_with = "lenient")]
    pub metadata: Map<String, Value>,
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub reply_to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<String>,
}

impl MessageLine {
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub fn time(&self) -> Option<Timestamp> {
        self.timestamp.parse().ok()
    }

    pub fn mentions(&self, agent: &str) -> bool {
        let mut mentions = self.mentions.iter();
        mentions.any(|name| names::canonical(name) == agent)
    }

    /// Cuts a line of another program to what our own limits allow.
    pub fn cut(&mut self) {
        self.metadata.clear();
        self.mentions.truncate(MAX_MENTIONS);
        if let Some((end, _)) = self.message.char_indices().nth(MAX_MESSAGE) {
            self.message.truncate(end);
            self.message.push('…');
        }
    }
}

/// What the index keeps of a line. `message` is there so that a line without a
/// text counts as damaged.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexedLine<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub agent_name: Cow<'a, str>,
    #[serde(borrow, rename = "message")]
    _message: Cow<'a, str>,
    #[serde(borrow, default)]
    mentions: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub client_message_id: Option<Cow<'a, str>>,
}

impl<'a> IndexedLine<'a> {
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// Parsed only when needed: most messages mention nobody.
    pub fn mentions(&self) -> Vec<String> {
        let written = self.mentions.map(RawValue::get);
        let some = written.filter(|json| *json != "[]");
        some.and_then(|json| serde_json::from_str(json).ok())
            .unwrap_or_default()
    }
}

/// What search looks at, borrowed from the line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchedLine<'a> {
    #[serde(borrow)]
    pub agent_name: Cow<'a, str>,
    #[serde(borrow)]
    pub message: Cow<'a, str>,
    #[serde(default, deserialize_with = "lenient")]
    timestamp: String,
}

impl<'a> SearchedLine<'a> {
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub fn time(&self) -> Option<Timestamp> {
        self.timestamp.parse().ok()
    }
}

/// [`kit::text::fold`], with a fast path for ASCII: search folds every message, and
/// most are ASCII.
pub fn folded(text: &str) -> String {
    if !text.is_ascii() {
        return kit::text::fold(text);
    }
    let dropped =
        |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b || b"-~:!?'\",.()".contains(byte);
    let kept = text.bytes().filter(|byte| !dropped(byte));
    kept.map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect()
}

/// The default for an invalid value: other programs write `null`, and a message must
/// not be lost for one field.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// A message before it is sent.
#[derive(Debug, Clone)]
pub struct Draft {
    pub agent: String,
    pub text: String,
    pub metadata: Map<String, Value>,
    pub reply_to: Option<String>,
    pub client_id: Option<String>,
}

impl Draft {
    pub fn check(&self) -> Result<()> {
        names::check_agent(&self.agent)?;
        if self.text.trim().is_empty() {
            return Err(errors::empty_message());
        }
        let length = self.text.chars().count();
        if length > MAX_MESSAGE {
            return Err(errors::message_too_long(length, MAX_MESSAGE));
        }
        if is_too_deep(&self.metadata) {
            return Err(errors::metadata_too_deep(MAX_DEPTH));
        }
        let size = serde_json::to_string(&self.metadata).map_or(usize::MAX, |json| json.len());
        if size > MAX_METADATA {
            return Err(errors::metadata_too_large());
        }
        Ok(())
    }

    /// Whether `line` is what this draft became when it was sent before.
    pub fn became(&self, line: &MessageLine) -> bool {
        self.agent == names::canonical(&line.agent_name)
            && self.client_id == line.client_message_id
            && self.text == line.message
            && self.reply_to == line.reply_to
            && self.metadata == line.metadata
    }
}

pub fn is_too_deep(object: &Map<String, Value>) -> bool {
    fn depth(value: &Value) -> usize {
        let inner: Option<usize> = match value {
            Value::Array(items) => items.iter().map(depth).max(),
            Value::Object(fields) => fields.values().map(depth).max(),
            _ => return 0,
        };
        1 + inner.unwrap_or_default()
    }
    object.values().any(|value| depth(value) >= MAX_DEPTH)
}

// A message as tools answer it. Only a compact answer lacks the times and mentions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct Message {
    id: String,
    // Only if the answer is about several rooms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    room_name: Option<String>,
    agent_name: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mentions: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<String>,
}

impl From<MessageLine> for Message {
    fn from(line: MessageLine) -> Self {
        Self {
            id: line.id,
            room_name: None,
            agent_name: line.agent_name,
            message: line.message,
            timestamp: Some(line.timestamp),
            mentions: Some(line.mentions),
            metadata: Some(line.metadata).filter(|metadata| !metadata.is_empty()),
            reply_to: line.reply_to,
        }
    }
}

/// How messages are shown in an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Form {
    /// Leaves out metadata, mentions (they are in the text), and the time of a
    /// message that was sent in the same minute as the one before it.
    pub compact: bool,
    pub with_rooms: bool,
}

/// Messages as tools answer them.
pub fn shown(lines: impl IntoIterator<Item = MessageLine>, form: Form) -> Vec<Message> {
    let mut minute = String::new();
    let message = |line: MessageLine| {
        let room_name = form.with_rooms.then(|| line.room_name.clone());
        let mut message = Message {
            room_name,
            ..line.into()
        };
        if form.compact {
            (message.mentions, message.metadata) = (None, None);
            let sent = message.timestamp.as_deref().and_then(|time| time.get(..16));
            match sent {
                Some(sent) if sent == minute => message.timestamp = None,
                sent => minute = sent.unwrap_or_default().to_owned(),
            }
        }
        message
    };
    lines.into_iter().map(message).collect()
}

/// A time as the files have it: with milliseconds unless they are zero.
pub fn written(now: Timestamp) -> String {
    Timestamp::from_millisecond(now.as_millisecond())
        .unwrap_or(now)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: &str = r#"{"id":"msg_1234567890","roomName":"dev-team","agentName":"agent1","message":"Hello @coordinator, task completed!","mentions":["coordinator"],"timestamp":"2024-01-20T10:30:00Z","metadata":{}}"#;

    #[test]
    fn a_line_matches_the_seed_byte_for_byte() {
        let line = MessageLine::parse(SEED.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&line).unwrap(), SEED);
    }

    #[test]
    fn lines_of_the_original_server_are_read() {
        let line = r#"{"id":"6b0e","agentName":"system","message":"x","timestamp":"2025-06-17T09:27:18.123Z","mentions":[],"metadata":{"type":"system"}}"#;
        let line = MessageLine::parse(line.as_bytes()).unwrap();
        assert_eq!(line.agent_name, "system");
        assert!(line.time().is_some());
        let bare = r#"{"id":"6b0f","agentName":"a","message":"x","timestamp":"2025-06-17T09:27:18Z","mentions":[]}"#;
        assert!(IndexedLine::parse(bare.as_bytes()).is_some());
        assert!(IndexedLine::parse(br#"{"id":"1","agentName":"a"}"#).is_none());
    }

    #[test]
    fn folding_ascii_gives_the_same_as_folding_any_text() {
        let ascii: String = (0..128_u8).map(char::from).collect();
        assert_eq!(folded(&ascii), kit::text::fold(&ascii));
        assert_eq!(folded("ＡＢ ー"), kit::text::fold("ＡＢ ー"));
    }

    #[test]
    fn times_are_written_as_in_the_seed() {
        let time = |text: &str| written(text.parse().unwrap());
        assert_eq!(time("2024-01-20T10:30:00Z"), "2024-01-20T10:30:00Z");
        assert_eq!(
            time("2024-01-20T10:30:00.12345Z"),
            "2024-01-20T10:30:00.123Z"
        );
    }
}
