//! What somebody looks for: the words of a query, and the parts of its compounds.

use kit::{Result, text::fold};

use crate::errors;

/// Every message is searched for each of them.
const MAX_WORDS: usize = 32;

/// The words that a message must contain, in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Folded.
    pub words: Vec<String>,
    /// The same words as they were written.
    pub shown: Vec<String>,
}

impl Query {
    /// Folding removes punctuation. A query of punctuation alone finds nothing rather
    /// than everything.
    pub fn parse(text: &str) -> Result<Self> {
        let written: Vec<&str> = text.split_whitespace().collect();
        if written.len() > MAX_WORDS {
            return Err(errors::too_many_words(MAX_WORDS));
        }
        let query = Self::of(written.iter().copied());
        if query.words.is_empty() && !written.is_empty() {
            return Ok(Self {
                // No folded text contains a space.
                words: vec![" ".to_owned()],
                shown: vec![text.trim().to_owned()],
            });
        }
        Ok(query)
    }

    fn of<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let folded = words.map(|word| (fold(word), word.to_owned()));
        let (words, shown) = folded.filter(|(folded, _)| !folded.is_empty()).unzip();
        Self { words, shown }
    }

    /// The parts of its Japanese compounds as words of their own, if it has any.
    pub fn in_parts(&self) -> Option<Self> {
        let parts = Self::of(self.shown.iter().flat_map(|word| parts(word)));
        (parts.words != self.words && parts.words.len() > 1).then_some(parts)
    }

    /// Each word by itself, if there are several.
    pub fn each(&self) -> impl Iterator<Item = Self> {
        let words = self.words.iter().zip(&self.shown);
        let words = words.filter(|_| self.words.len() > 1).take(kit::SHORTLIST);
        words.map(|(word, shown)| Self {
            words: vec![word.clone()],
            shown: vec![shown.clone()],
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Hiragana,
    Katakana,
    Kanji,
    Other,
}

fn script(c: char) -> Script {
    match c {
        '\u{3041}'..='\u{309f}' => Script::Hiragana,
        '\u{30a0}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}' => Script::Katakana,
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々' => Script::Kanji,
        _ => Script::Other,
    }
}

/// The parts of a word where its script changes: リリース and 計画 of リリースの計画.
/// Hiragana between them are mostly particles and endings, and left out.
fn parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut kind = None;
    for (at, c) in word.char_indices().chain([(word.len(), ' ')]) {
        let next = (at < word.len()).then(|| script(c));
        if next == kind {
            continue;
        }
        if let (Some(kind), Some(part)) = (kind, word.get(start..at))
            && kind != Script::Hiragana
        {
            parts.push(part);
        }
        (start, kind) = (at, next);
    }
    match parts.is_empty() {
        true => vec![word],
        false => parts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_punctuation_finds_nothing() {
        let words = |query| Query::parse(query).unwrap().words;
        assert_eq!(words("ﾘﾘｰｽ Plan"), ["リリス", "plan"]);
        assert_eq!(words("Plan - B!"), ["plan", "b"]);
        assert_eq!(words("!? ~"), [" "]);
        assert!(words("  ").is_empty());
        assert_eq!(words(&"a ".repeat(MAX_WORDS)).len(), MAX_WORDS);
        assert!(Query::parse(&"a ".repeat(MAX_WORDS + 1)).is_err());
    }

    #[test]
    fn compounds_are_split_where_the_script_changes() {
        for (word, expected) in [
            ("リリースの計画", ["リリース", "計画"].as_slice()),
            ("API設計レビュー", &["API", "設計", "レビュー"]),
            ("おねがいします", &["おねがいします"]),
            ("release", &["release"]),
        ] {
            assert_eq!(parts(word), expected, "{word}");
        }
        let parts = Query::parse("リリース計画 draft").unwrap().in_parts();
        assert_eq!(parts.unwrap().shown, ["リリース", "計画", "draft"]);
        assert_eq!(Query::parse("release plan").unwrap().in_parts(), None);
    }
}
