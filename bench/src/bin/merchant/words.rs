//! What the made-up shop sells and how it praises it. A `+` is the seam of a
//! compound, which nobody sees; a `_` is a space.

use anyhow::Result;
use serde::Deserialize;

/// Words with spaces between them.
#[derive(Deserialize)]
pub struct Words<'a> {
    /// Categories, and what they hold.
    #[serde(borrow)]
    pub things: Vec<(&'a str, &'a str)>,
    pub traits: &'a str,
    pub colours: &'a str,
    pub sizes: &'a str,
    pub phrases: &'a str,
    /// What brands are made of: kana, kanji, Latin syllables.
    pub brands: [&'a str; 3],
}

pub fn words() -> Result<Words<'static>> {
    Ok(serde_json::from_str(include_str!("words.json"))?)
}
