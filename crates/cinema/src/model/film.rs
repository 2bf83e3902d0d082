//! A film, its genre and its age class.

use kit::text::{fold, narrow};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Film {
    pub id: String,
    pub title: String,
    /// In kana, with spaces between the words; empty if unknown.
    pub reading: String,
    /// Empty if unknown.
    pub english_title: String,
    pub genre: String,
    pub duration_minutes: i64,
    /// A score from 1 to 5.
    pub rating: f64,
    pub age_class: String,
    pub popularity: i64,
    pub description: String,
    /// Empty if unknown.
    pub english_description: String,
    pub release_date: String,
}

/// The age classes of Japanese cinemas, the mildest first.
pub const AGE_CLASSES: [&str; 4] = ["G", "PG12", "R15+", "R18+"];

/// The place of an age class in [`AGE_CLASSES`]. An unknown one counts as the strictest.
pub fn strictness(age_class: &str) -> usize {
    let known = AGE_CLASSES.iter().position(|class| *class == age_class);
    known.unwrap_or(AGE_CLASSES.len())
}

/// Understands `r15`, `PG-12`, `Ｇ` and their like.
pub fn tidy_age_class(text: &str) -> Option<&'static str> {
    let bare = |text: &str| narrow(text).to_uppercase().replace(['+', '-', ' '], "");
    let wanted = bare(text);
    AGE_CLASSES.into_iter().find(|class| bare(class) == wanted)
}

/// Genres with their English names.
const GENRES: [(&str, &str); 19] = [
    ("アニメ", "animation|anime|animated|cartoon"),
    ("コメディ", "comedy|funny"),
    ("SF", "science fiction|sci-fi"),
    ("時代劇", "period drama|historical|samurai|jidaigeki"),
    ("ミステリー", "mystery|detective|whodunit"),
    ("ファミリー", "family|kids|children"),
    ("ホラー", "horror|scary"),
    ("アドベンチャー", "adventure"),
    ("恋愛", "romance|love story|romantic"),
    ("アクション", "action"),
    ("ドキュメンタリー", "documentary"),
    ("ドラマ", "drama"),
    ("サスペンス", "suspense"),
    ("スリラー", "thriller"),
    ("ファンタジー", "fantasy"),
    ("ミュージカル", "musical"),
    ("音楽", "music"),
    ("戦争", "war"),
    ("西部劇", "western"),
];

/// The English names of a genre, separated by `|`; empty if it has none here.
pub fn english_genre(genre: &str) -> &'static str {
    let known = GENRES.iter().find(|(name, _)| *name == genre);
    known.map_or("", |(_, english)| english)
}

/// Whether `wanted` is the genre, a part of its name, or its English name.
pub fn is_genre(genre: &str, wanted: &str) -> bool {
    let wanted = fold(wanted);
    let mut english = english_genre(genre).split('|');
    fold(genre).contains(&wanted) || english.any(|name| fold(name) == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_classes_as_people_write_them() {
        for (text, class) in [
            ("g", Some("G")),
            ("PG-12", Some("PG12")),
            ("Ｒ１５＋", Some("R15+")),
            ("r18", Some("R18+")),
            ("12", None),
        ] {
            assert_eq!(tidy_age_class(text), class, "{text}");
        }
        assert!(AGE_CLASSES.is_sorted_by_key(|class| strictness(class)));
        assert!(strictness("X") > strictness("R18+"));
    }

    #[test]
    fn genres_in_both_languages() {
        for wanted in ["アニメ", "ｱﾆﾒ", "あにめ", "anime", "Animation"] {
            assert!(is_genre("アニメ", wanted), "{wanted}");
            assert!(!is_genre("ホラー", wanted), "{wanted}");
        }
        assert!(is_genre("SF", "sci-fi"));
        assert!(!is_genre("ドラマ", "period drama"));
    }
}
