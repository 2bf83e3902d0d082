//! Where the cinema is, how to get there, and who can get in.

use kit::Language;
use serde::{Deserialize, Serialize};

/// What the operator says about the place. Empty fields are unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub english_name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub address: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub english_address: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub directions: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub english_directions: String,
    /// Steps, lifts, wheelchair spaces, hearing loops, assistance dogs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub accessibility: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub english_accessibility: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parking: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub opening_hours: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub phone: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub website: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub map_url: String,
}

/// What a customer with a ticket needs.
#[derive(Debug, Serialize)]
pub struct ShortPlace {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    address: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    directions: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    accessibility: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    phone: String,
}

impl Place {
    /// Name and address on one line.
    pub fn line(self, language: Language) -> String {
        let ShortPlace { name, address, .. } = self.short(language);
        let parts = [name, address].into_iter();
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(match language {
            Language::English => ", ",
            Language::Japanese => " ",
        })
    }

    /// The part for a customer, in one language where both are known.
    pub fn short(self, language: Language) -> ShortPlace {
        let said = |japanese: String, english: String| {
            let is_english = language == Language::English && !english.is_empty();
            match is_english || japanese.is_empty() {
                true => english,
                false => japanese,
            }
        };
        ShortPlace {
            name: said(self.name, self.english_name),
            address: said(self.address, self.english_address),
            directions: said(self.directions, self.english_directions),
            accessibility: said(self.accessibility, self.english_accessibility),
            phone: self.phone,
        }
    }
}
