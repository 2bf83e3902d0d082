//! Resources: data that clients can read and watch.

use futures::future::BoxFuture;
use serde::Serialize;

use crate::{
    context::Context,
    error::{Error, Result},
    page::{self, Page},
    text,
};

/// How many resources a page of a list has.
const PAGE_SIZE: usize = 50;
/// How many values a completion may have, by the protocol.
const MAX_COMPLETIONS: usize = 100;

/// One page of the resources that are made from `all`.
pub fn list_page<T: Clone>(
    all: &[T],
    cursor: Option<&str>,
    resource: impl Fn(T) -> Resource,
) -> Result<Page<Resource>> {
    let page = page::slice(all, cursor, PAGE_SIZE)?;
    Ok(Page {
        items: page.items.into_iter().map(resource).collect(),
        next_cursor: page.next_cursor,
    })
}

/// The values that contain what was typed. Those that start with it come first.
pub fn completions(values: &[String], typed: &str) -> Vec<String> {
    let typed = text::fold(typed);
    let matching = |starts: bool| {
        let typed = typed.as_str();
        values.iter().filter(move |value| {
            let value = text::fold(value);
            value.starts_with(typed) == starts && value.contains(typed)
        })
    };
    let values = matching(true).chain(matching(false));
    values.take(MAX_COMPLETIONS).cloned().collect()
}

/// Escapes a text for an address: all but ASCII letters, digits, `-._~` and the
/// characters in `also`.
pub fn escape(text: &str, also: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if is_plain || also.as_bytes().contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// Reverses [`escape`]; `None` if the escapes are broken or not UTF-8.
pub fn unescape(escaped: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            // The parser alone would take a sign for a digit.
            if !digits.iter().all(u8::is_ascii_hexdigit) {
                return None;
            }
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The tools whose data an address shows. A caller needs the right to all of them:
/// data that a key can't get by a call can't be read as a resource either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shows {
    /// Tools whose data a reader or subscriber sees.
    pub read: &'static [&'static str],
    /// Tools whose data the address itself reveals in a list or a completion.
    pub listed: &'static [&'static str],
}

impl Shows {
    /// Data of one tool, whether read or listed.
    pub const fn data_of(tool: &'static [&'static str]) -> Self {
        Self {
            read: tool,
            listed: tool,
        }
    }
}

/// What a counter lets clients read. The methods that return a future may go to
/// the store or disk.
pub trait Resources: Send + Sync {
    /// The tools whose data the resource shows; `None` if there can be no resource at
    /// this address. Such an address is never read, listed or watched.
    fn shows(&self, uri: &str) -> Option<Shows>;

    /// The resources that exist now, in a fixed order.
    fn list<'a>(
        &'a self,
        context: &'a Context,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Page<Resource>>>;

    fn templates(&self) -> Vec<Template>;

    /// `None` when there is no such resource.
    fn read<'a>(
        &'a self,
        context: &'a Context,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<Contents>>>;

    /// Values for an argument of a template or a prompt, best first.
    fn complete<'a>(
        &'a self,
        context: &'a Context,
        question: &'a CompletionQuestion,
    ) -> BoxFuture<'a, Result<Vec<String>>>;

    /// How long a client may cache what it read, in milliseconds.
    fn ttl_ms(&self) -> u64;
}

#[derive(Debug, Clone)]
pub struct Resource {
    pub uri: String,
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub mime_type: &'static str,
}

#[derive(Debug, Clone)]
pub struct Template {
    /// RFC 6570, level 1.
    pub uri_template: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub mime_type: &'static str,
    pub shows: Shows,
}

#[derive(Debug, Clone)]
pub struct Contents {
    pub mime_type: &'static str,
    pub body: Body,
}

impl Contents {
    pub fn json(value: &impl Serialize) -> Result<Self> {
        let text = serde_json::to_string(value).map_err(Error::internal)?;
        Ok(Self {
            mime_type: "application/json",
            body: Body::Text(text),
        })
    }
}

#[derive(Debug, Clone)]
pub enum Body {
    Text(String),
    /// Base64.
    Blob(String),
}

/// A request for completion.
#[derive(Debug, Clone)]
pub struct CompletionQuestion {
    pub about: Reference,
    pub argument: String,
    /// What the person has typed so far.
    pub typed: String,
    /// Arguments that already have a value.
    pub settled: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    Prompt(String),
    Template(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_that_start_with_the_typed_text_come_first() {
        let values = ["my-team", "Team-1", "general", "ＴＥＡＭ"].map(str::to_owned);
        assert_eq!(
            completions(&values, "team"),
            ["Team-1", "ＴＥＡＭ", "my-team"]
        );
        assert_eq!(completions(&values, ""), values);
        let many: Vec<String> = (0..200).map(|n| n.to_string()).collect();
        assert_eq!(completions(&many, "").len(), MAX_COMPLETIONS);
    }

    #[test]
    fn escaped_texts_come_back_and_broken_ones_are_refused() {
        assert_eq!(escape("a-b._~/窓 1", ""), "a-b._~%2F%E7%AA%93%201");
        assert_eq!(escape("a/b c", "/"), "a/b%20c");
        for text in ["", "a-b._~/窓 1%"] {
            assert_eq!(unescape(&escape(text, "")).as_deref(), Some(text));
        }
        for broken in ["%", "%2", "%zz", "%ff", "%+1"] {
            assert_eq!(unescape(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_list_of_resources_has_pages() {
        let all: Vec<usize> = (0..=PAGE_SIZE).collect();
        let resource = |n: usize| Resource {
            uri: n.to_string(),
            name: String::new(),
            title: None,
            description: None,
            mime_type: "text/plain",
        };
        let first = list_page(&all, None, resource).unwrap();
        assert_eq!(first.items.len(), PAGE_SIZE);
        let rest = list_page(&all, first.next_cursor.as_deref(), resource).unwrap();
        assert_eq!(rest.items.len(), 1);
        assert_eq!(rest.items[0].uri, PAGE_SIZE.to_string());
        assert_eq!(rest.next_cursor, None);
    }
}
