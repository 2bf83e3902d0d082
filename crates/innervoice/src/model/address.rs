//! E-mail addresses and phone numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    Sms,
    Email,
}

impl Platform {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Sms => "sms",
        }
    }

    /// Reads what people call a platform.
    pub fn read(text: &str) -> Option<Self> {
        let text = kit::text::fold(text);
        match text.as_str() {
            "email" | "mail" | "メル" | "eメル" | "電子メル" => Some(Self::Email),
            "sms" | "text" | "textmessage" | "ショトメッセジ" | "ショトメル" => {
                Some(Self::Sms)
            }
            _ => None,
        }
    }
}

/// `someone@example.com`, alone or in `Name <…>`.
pub fn email(text: &str) -> Option<String> {
    let text = kit::text::narrow(text);
    let text = text.strip_prefix("mailto:").unwrap_or(&text);
    let address = match (text.rfind('<'), text.ends_with('>')) {
        (Some(at), true) => text.get(at + 1..text.len() - 1)?,
        _ => text,
    };
    let address: lettre::Address = address.trim().parse().ok()?;
    address.domain().contains('.').then(|| address.to_string())
}

/// A number in international form, `+819012345678`. A number that begins with 0
/// gets the country code that is given.
pub fn phone(text: &str, country_code: &str) -> Option<String> {
    let text = kit::text::narrow(text);
    let text = text.strip_prefix("tel:").unwrap_or(&text);
    let is_number = text
        .chars()
        .all(|c| c.is_ascii_digit() || " +-().‐‑–—−ー".contains(c));
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if !is_number || !(7..=15).contains(&digits.len()) {
        return None;
    }
    if text.starts_with('+') {
        return Some(format!("+{digits}"));
    }
    // Without a prefix the country is unknown.
    let national = digits.strip_prefix('0')?;
    Some(format!("+{country_code}{national}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for text in [
            "a@example.com",
            " ａ＠example.com ",
            "mailto:a@example.com",
            "A B <a@example.com>",
        ] {
            assert_eq!(email(text).as_deref(), Some("a@example.com"), "{text}");
        }
        for text in [
            "",
            "a",
            "a@",
            "@example.com",
            "a@localhost",
            "a b@example.com",
            "a@example.com\r\nBcc: b@example.com",
            "a@example.com, b@example.com",
        ] {
            assert_eq!(email(text), None, "{text}");
        }
    }

    #[test]
    fn numbers() {
        for text in [
            "090-1234-5678",
            "０９０－１２３４－５６７８",
            "09012345678",
            "+81 90 1234 5678",
            "tel:+81-90-1234-5678",
        ] {
            assert_eq!(
                phone(text, "81").as_deref(),
                Some("+819012345678"),
                "{text}"
            );
        }
        for text in [
            "",
            "110",
            "田中",
            "12345678",
            "0901234567890123456",
            "090a1234567",
        ] {
            assert_eq!(phone(text, "81"), None, "{text}");
        }
    }

    #[test]
    fn platforms_in_words() {
        assert_eq!(Platform::read("E-Mail"), Some(Platform::Email));
        assert_eq!(Platform::read("メール"), Some(Platform::Email));
        assert_eq!(Platform::read("ＳＭＳ"), Some(Platform::Sms));
        assert_eq!(Platform::read("fax"), None);
    }
}
