//! Scores how well a text matches a query, from 0 to 1.

use memchr::memmem::Finder;

use super::{fold::fold, signature};

/// The folded words of a query.
pub struct Query {
    words: Vec<QueryWord>,
    /// All words joined, if there are several.
    phrase: Option<Finder<'static>>,
}

struct QueryWord {
    text: String,
    finder: Finder<'static>,
    pairs: Vec<u32>,
}

/// Which words of the query a text must contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchMode {
    All,
    Any,
}

/// Further occurrences of a word do not raise the score.
const MOST_COUNTED: usize = 10;

impl Query {
    pub fn new(query: &str) -> Self {
        let mut words: Vec<QueryWord> = Vec::new();
        for part in query.split_whitespace() {
            let text = fold(part);
            if !text.is_empty() && !words.iter().any(|word| word.text == text) {
                words.push(QueryWord {
                    finder: Finder::new(&text).into_owned(),
                    pairs: signature::pairs_of(&text),
                    text,
                });
            }
        }
        let phrase = (words.len() > 1).then(|| {
            let joined: String = words.iter().map(|word| word.text.as_str()).collect();
            Finder::new(&joined).into_owned()
        });
        Self { words, phrase }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn has_several_words(&self) -> bool {
        self.words.len() > 1
    }

    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.text.as_str())
    }

    /// Whether a text with this signature may match.
    pub fn may_match(&self, signature: &signature::Signature, strength: MatchMode) -> bool {
        let mut holds = self
            .words
            .iter()
            .map(|word| signature.may_hold(&word.pairs));
        match strength {
            MatchMode::All => holds.all(|holds| holds),
            MatchMode::Any => holds.any(|holds| holds),
        }
    }

    /// `None` if the text does not match. Title and body must be folded.
    pub fn score(&self, title: &[u8], body: &[u8], strength: MatchMode) -> Option<f64> {
        let mut sum = 0.0;
        for word in &self.words {
            let score = word.score(title, body);
            if score == 0.0 && strength == MatchMode::All {
                return None;
            }
            sum += score;
        }
        if sum == 0.0 {
            return None;
        }
        let mut score = sum / self.words.len() as f64;
        if let Some(phrase) = &self.phrase
            && [title, body].iter().any(|text| phrase.find(text).is_some())
        {
            score += 0.1;
        }
        Some((score.min(1.0) * 1000.0).round() / 1000.0)
    }
}

impl QueryWord {
    fn score(&self, title: &[u8], body: &[u8]) -> f64 {
        if self.finder.find(title).is_some() {
            return 0.75 + 0.25 * self.text.len() as f64 / title.len().max(1) as f64;
        }
        let count = self.finder.find_iter(body).take(MOST_COUNTED).count() as f64;
        if count == 0.0 {
            return 0.0;
        }
        0.3 + 0.35 * count / (count + 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::fold::fold_bytes;

    #[test]
    fn titles_and_repeated_words_score_higher() {
        let query = Query::new("認証");
        let score = |title: &str, body: &str| {
            query.score(&fold_bytes(title), &fold_bytes(body), MatchMode::All)
        };
        let exact = score("認証", "").unwrap();
        let partly = score("認証の設計", "").unwrap();
        let often = score("", "認証 認証 認証").unwrap();
        let once = score("", "認証").unwrap();
        assert!(exact > partly && partly > often && often > once && once > 0.0);
        assert_eq!(score("x", "y"), None);
        assert_eq!(exact, 1.0);
    }

    #[test]
    fn matches_all_words_or_any() {
        let query = Query::new("ログイン error");
        let body = fold("ろぐいん の ＥＲＲＯＲ");
        assert!(query.score(b"", body.as_bytes(), MatchMode::All).is_some());
        assert!(query.score(b"", b"error", MatchMode::All).is_none());
        assert!(query.score(b"", b"error", MatchMode::Any).is_some());
    }
}
