//! Redacts a call's arguments for the trail: without secrets, shortened, and with
//! personal texts apart from the rest.

use std::{cell::Cell, fmt::Write, net::IpAddr};

use serde_json::{Map, Value};

use super::json_text::push_quoted;
use crate::digest;

/// How many characters of a string are kept. For a longer one, its length and
/// digest are added.
const LONGEST: usize = 400;
/// How many items of a list, and fields of an object, are kept.
const MOST: usize = 50;
const DEEPEST: usize = 8;
/// How many bytes of all arguments together are kept.
const ENOUGH: usize = 8 * 1024;

/// A field whose name contains one of these holds a secret. Case and punctuation do
/// not matter.
const SECRET: [&str; 17] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "authorization",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "credential",
    "cookie",
    "cardnumber",
    "cardno",
    "securitycode",
    "accountnumber",
];
/// Every field of every call is looked at; most have short names.
const SHORTEST_SECRET: usize = "token".len();
/// A field with exactly one of these names holds a secret. As part of a name they
/// are too common.
const SECRET_ALONE: [&str; 8] = ["pin", "cvv", "cvc", "otp", "pan", "iban", "card", "bearer"];

/// Redacted arguments as JSON text. A part is empty when it has no fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactedArguments {
    pub arguments: String,
    /// Fields with what people wrote, or who they are.
    pub personal: String,
}

impl RedactedArguments {
    /// Redacts arguments as they were sent, before they are normalised.
    pub fn of(arguments: &Map<String, Value>, is_personal: impl Fn(&str) -> bool) -> Self {
        let mut kept = Self::default();
        let (looked_at, others) = (Cell::new(0), Cell::new(0));
        object(arguments, 0, &mut kept.arguments, |name| {
            let is_other = !is_personal(name);
            looked_at.set(looked_at.get() + 1);
            others.set(others.get() + usize::from(is_other));
            is_other
        });
        // Most calls have no such field, and all fields were looked at.
        let may_be_personal = looked_at != others || looked_at.get() < arguments.len();
        if may_be_personal && arguments.keys().any(|name| is_personal(name)) {
            object(arguments, 0, &mut kept.personal, is_personal);
        }
        kept
    }

    /// Adds the names of the tools that a call runs.
    pub fn add_inner_calls<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let names: Vec<&str> = names.take(MOST).collect();
        add(
            &mut self.arguments,
            "inner_calls",
            &serde_json::json!(names),
        );
    }

    /// Adds where the call came from. It can be erased, like what people wrote.
    pub fn add_address(&mut self, address: IpAddr) {
        let address = address.to_string().into();
        add(&mut self.personal, "client_address", &address);
    }
}

/// Adds a field, the last, to an object that may be empty text. Of two fields with
/// the same name, readers take the last.
fn add(object: &mut String, name: &str, value: &Value) {
    let fields = object.strip_suffix('}').unwrap_or("{");
    let comma = if fields.len() > 1 { "," } else { "" };
    *object = format!("{fields}{comma}\"{name}\":{value}}}");
}

/// Called for every field of every call, so short names are not allocated.
fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    let mut short = [0; 48];
    if name.is_ascii() && name.len() <= short.len() {
        let mut length = 0;
        for (place, letter) in short.iter_mut().zip(letters) {
            *place = letter.to_ascii_lowercase() as u8;
            length += 1;
        }
        return says_secret(short.get(..length).unwrap_or_default());
    }
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    says_secret(plain.as_bytes())
}

fn says_secret(plain: &[u8]) -> bool {
    let begins = |rest: &[u8]| SECRET.iter().any(|part| rest.starts_with(part.as_bytes()));
    let last = (plain.len() + 1).saturating_sub(SHORTEST_SECRET);
    (0..last).any(|at| plain.get(at..).is_some_and(begins))
        || SECRET_ALONE.iter().any(|word| plain == word.as_bytes())
}

fn object(
    fields: &Map<String, Value>,
    depth: usize,
    into: &mut String,
    wanted: impl Fn(&str) -> bool,
) {
    into.push('{');
    let fields = fields.iter().filter(|(name, _)| wanted(name));
    for (written, (name, inner)) in fields.enumerate() {
        if written > 0 {
            into.push(',');
        }
        if written == MOST || into.len() > ENOUGH {
            into.push_str("\"…\":\"…\"");
            break;
        }
        text(name, into);
        into.push(':');
        if is_secret(name) {
            into.push_str("\"[secret]\"");
        } else {
            value(inner, depth + 1, into);
        }
    }
    into.push('}');
}

fn value(it: &Value, depth: usize, into: &mut String) {
    match it {
        Value::Object(_) | Value::Array(_) if depth == DEEPEST => into.push_str("\"…\""),
        Value::Object(fields) => object(fields, depth, into, |_| true),
        Value::Array(items) => {
            into.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    into.push(',');
                }
                if at == MOST || into.len() > ENOUGH {
                    let _ = write!(into, "\"… {} in all\"", items.len());
                    break;
                }
                value(item, depth + 1, into);
            }
            into.push(']');
        }
        Value::String(whole) => text(whole, into),
        other => {
            let _ = write!(into, "{other}");
        }
    }
}

fn text(whole: &str, into: &mut String) {
    // Most strings are short: count characters only if there are many bytes.
    if whole.len() > LONGEST
        && let Some((end, _)) = whole.char_indices().nth(LONGEST)
    {
        let cut = whole.get(..end).unwrap_or_default();
        let (all, digest) = (whole.chars().count(), digest::sha256(whole.as_bytes()));
        return push_quoted(&format!("{cut}… {all} characters, SHA-256 {digest}"), into);
    }
    push_quoted(whole, into);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kept(arguments: Value, personal: &[&str]) -> (Value, Option<Value>) {
        let kept = RedactedArguments::of(arguments.as_object().unwrap(), |name| {
            personal.contains(&name)
        });
        let personal = (!kept.personal.is_empty()).then(|| kept.personal.parse().unwrap());
        (kept.arguments.parse().unwrap(), personal)
    }

    #[test]
    fn secrets_are_never_kept_at_any_depth_in_any_spelling() {
        let (kept, _) = kept(
            json!({
                "API-Key": "k1", "accessToken": "k2", "user": { "PassWord": "k3", "name": "Aiko" },
                "cards": [{ "card_number": "4111111111111111", "cvv": 123 }], "pin": "0000",
                "pinned": true,
            }),
            &[],
        );
        let text = kept.to_string();
        for secret in ["k1", "k2", "k3", "4111", "123", "0000"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert_eq!(kept["user"]["name"], "Aiko");
        assert_eq!(kept["pinned"], true);
    }

    #[test]
    fn each_secret_name_is_recognised_in_every_spelling() {
        for word in SECRET.iter().chain(&SECRET_ALONE) {
            assert!(is_secret(word), "{word}");
            assert!(is_secret(&word.to_uppercase()), "{word}");
            let apart: Vec<String> = word.chars().map(String::from).collect();
            assert!(is_secret(&apart.join("-")), "{word}");
        }
        for part in SECRET {
            assert!(is_secret(&format!("my_{part}_2")), "{part}");
            assert!(is_secret(&format!("{}{part}", "x".repeat(100))), "{part}");
            assert!(is_secret(&format!("私の{part}")), "{part}");
        }
        for name in ["", "pinned", "panel", "quantity", "postal_code", "cardinal"] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn personal_fields_are_kept_apart() {
        let (rest, personal) = kept(json!({ "room": "dev", "message": "hi" }), &["message"]);
        assert_eq!(rest, json!({ "room": "dev" }));
        assert_eq!(personal, Some(json!({ "message": "hi" })));
        assert_eq!(kept(json!({ "room": "dev" }), &["message"]).1, None);
    }

    #[test]
    fn large_arguments_are_cut_and_stay_valid_json() {
        let long = "窓".repeat(5_000);
        let mut deep = json!("x");
        for _ in 0..100 {
            deep = json!([deep]);
        }
        let mut arguments = json!({ "long": long, "deep": deep, "list": vec![long.clone(); 500] });
        for n in 0..5_000 {
            arguments[format!("field {n}")] = long.clone().into();
        }
        let kept = RedactedArguments::of(arguments.as_object().unwrap(), |_| false);
        assert!(
            kept.arguments.len() < 4 * ENOUGH,
            "{}",
            kept.arguments.len()
        );
        let value: Value = kept.arguments.parse().unwrap();
        let digest = digest::sha256(long.as_bytes());
        let end = format!("… 5000 characters, SHA-256 {digest}");
        assert!(value["long"].as_str().unwrap().ends_with(&end), "{value}");
    }

    #[test]
    fn inner_calls_are_added_to_the_kept_arguments() {
        for (arguments, expected) in [
            (json!({}), json!({ "inner_calls": ["a", "b"] })),
            (
                json!({ "x": 1 }),
                json!({ "x": 1, "inner_calls": ["a", "b"] }),
            ),
        ] {
            let mut kept = RedactedArguments::of(arguments.as_object().unwrap(), |_| false);
            kept.add_inner_calls(["a", "b"].into_iter());
            assert_eq!(kept.arguments.parse::<Value>().unwrap(), expected);
        }
        let mut kept = RedactedArguments::default();
        kept.add_address("192.0.2.7".parse().unwrap());
        assert_eq!(kept.personal, r#"{"client_address":"192.0.2.7"}"#);
        kept.add_inner_calls(std::iter::repeat_n("a", 500));
        let value: Value = kept.arguments.parse().unwrap();
        assert_eq!(value["inner_calls"].as_array().unwrap().len(), MOST);
    }
}
