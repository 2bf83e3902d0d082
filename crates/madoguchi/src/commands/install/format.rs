//! The formats of configuration files. An edit changes one entry and leaves everything
//! else as it is.

mod json;
mod text;
mod toml;
mod yaml;

use serde_json::Value;

pub use text::{Entry, Problem};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comments and trailing commas are accepted.
    Json,
    Toml,
    Yaml,
}

impl Format {
    /// The whole text as JSON, with its keys in the order of the file. An empty text is
    /// an empty object.
    pub fn parse(self, text: &str) -> Result<Value, Problem> {
        match self {
            Self::Json => json::parse(text),
            Self::Toml => toml::parse(text),
            Self::Yaml => yaml::parse(text),
        }
    }

    /// Adds the entry `name` to the object at `path`, which is created if it is missing.
    /// In an existing entry only the keys of `entry` that differ change.
    pub fn set(
        self,
        text: &str,
        path: &[&str],
        name: &str,
        entry: &Entry,
    ) -> Result<String, Problem> {
        match self {
            Self::Json => json::set(text, path, name, entry),
            Self::Toml => toml::set(text, path, name, entry),
            Self::Yaml => yaml::set(text, path, name, entry),
        }
    }

    /// Removes a key from the object at `path`. The object stays, even if it is empty.
    pub fn remove(self, text: &str, path: &[&str], name: &str) -> Result<String, Problem> {
        match self {
            Self::Json => json::remove(text, path, name),
            Self::Toml => toml::remove(text, path, name),
            Self::Yaml => yaml::remove(text, path, name),
        }
    }
}

#[cfg(test)]
mod tests;
