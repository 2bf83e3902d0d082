//! Texts of a page in the language of its reader.

use crate::{context::Context, language::Language};

pub fn pick<'a>(context: &Context, english: &'a str, japanese: &'a str) -> &'a str {
    match context.language {
        Language::English => english,
        Language::Japanese => japanese,
    }
}

/// Several texts, such as the heads of a table's columns, in English and Japanese.
pub fn pick_all(context: &Context, texts: &[(&str, &str)]) -> Vec<String> {
    let picked = texts
        .iter()
        .map(|(english, japanese)| pick(context, english, japanese));
    picked.map(str::to_owned).collect()
}
