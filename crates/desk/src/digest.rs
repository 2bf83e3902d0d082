//! SHA-256 digests, and bytes as hexadecimal text.

use serde_json::Value;
use sha2::{Digest, Sha256};

pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    push_hex(bytes, &mut text);
    text
}

/// The same, at the end of a text.
pub fn push_hex(bytes: &[u8], into: &mut String) {
    let digit = |half: u8| {
        if half < 10 {
            b'0' + half
        } else {
            b'a' - 10 + half
        }
    };
    for some in bytes.chunks(32) {
        let mut digits = [[0; 2]; 32];
        for (pair, byte) in digits.iter_mut().zip(some) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        let digits = digits.as_flattened().get(..some.len() * 2);
        into.push_str(std::str::from_utf8(digits.unwrap_or_default()).unwrap_or_default());
    }
}

pub fn parse_hex(text: &str) -> Option<[u8; 32]> {
    // The parser alone would take a sign for a digit.
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 over JSON with sorted keys, so that equal arguments have equal digests
/// however they were written. Not RFC 8785, for which there is a crate: rows keep
/// these digests, and its bytes differ (no comma after the last member).
pub fn of_json(value: &Value) -> String {
    let mut canonical = String::new();
    write_sorted(value, &mut canonical);
    sha256(canonical.as_bytes())
}

fn write_sorted(value: &Value, into: &mut String) {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            into.push('{');
            for (key, value) in entries {
                into.push_str(&Value::String(key.clone()).to_string());
                into.push(':');
                write_sorted(value, into);
                into.push(',');
            }
            into.push('}');
        }
        Value::Array(items) => {
            into.push('[');
            for item in items {
                write_sorted(item, into);
                into.push(',');
            }
            into.push(']');
        }
        other => into.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_digest_does_not_depend_on_key_order() {
        assert_eq!(
            of_json(&json!({ "a": 1, "b": { "c": [1, 2], "d": null } })),
            of_json(&json!({ "b": { "d": null, "c": [1, 2] }, "a": 1 }))
        );
        assert_ne!(
            of_json(&json!({ "a": [1, 2] })),
            of_json(&json!({ "a": [12] }))
        );
    }

    #[test]
    fn only_64_digits_are_a_digest() {
        let text = sha256(b"a");
        let bytes = parse_hex(&text).unwrap();
        assert_eq!(hex(&bytes), text);
        assert_eq!(parse_hex(&text.to_uppercase()), Some(bytes));
        for wrong in [&text[..62], &format!("{text}00"), &text.replace('c', "g")] {
            assert_eq!(parse_hex(wrong), None, "{wrong}");
        }
        assert_eq!(parse_hex(&format!("+1{}", &text[2..])), None);
        assert_eq!(parse_hex(&format!("窓{}", &text[3..])), None);
        let long: Vec<u8> = (0..=255).collect();
        let expected: String = long.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex(&long), expected);
    }

    /// Rows that an earlier version wrote hold digests of these bytes.
    #[test]
    fn stored_digests_still_match() {
        assert_eq!(
            of_json(&json!({ "b": { "d": true, "c": null }, "a": [1, 2.5, "窓\n"] })),
            "18ccaa540abc5fdfb3d9f052fa57b3432758e6a25df0e8befc9b67d46476f495"
        );
    }
}
