//! What people say who want a recommendation rather than a certain film.

use std::borrow::Borrow;

use kit::text::fold;
use schemars::JsonSchema;
use serde::Deserialize;

use super::film::Film;

// The order of a list of films, the best first. The names say it to callers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Order {
    #[default]
    Rating,
    Popularity,
    Newest,
}

impl Order {
    /// Sorts films that come in the order of their rating.
    pub fn sort<F: Borrow<Film>>(self, films: &mut [F]) {
        match self {
            Self::Rating => {}
            Self::Popularity => films.sort_by_key(|film| -film.borrow().popularity),
            Self::Newest => {
                films.sort_by(|a, b| b.borrow().release_date.cmp(&a.borrow().release_date));
            }
        }
    }
}

/// Words that ask for the best films in some order. Longer ones come before their parts.
const WISHES: [(&str, Order); 17] = [
    ("おすすめ", Order::Rating),
    ("お勧め", Order::Rating),
    ("お薦め", Order::Rating),
    ("高評価", Order::Rating),
    ("評価の高い", Order::Rating),
    ("面白い", Order::Rating),
    ("recommendations", Order::Rating),
    ("recommended", Order::Rating),
    ("recommend", Order::Rating),
    ("top rated", Order::Rating),
    ("best", Order::Rating),
    ("人気", Order::Popularity),
    ("話題", Order::Popularity),
    ("popular", Order::Popularity),
    ("新作", Order::Newest),
    ("最新", Order::Newest),
    ("newest", Order::Newest),
];

/// Words that say nothing beside a wish. In a text that is folded.
const FILLERS: [&str; 12] = [
    "movies",
    "movie",
    "films",
    "film",
    "most",
    "映画",
    "作品",
    "ヲ",
    "教エテ",
    "アリマスカ",
    "ハ",
    "ノ",
];

/// The order that a query asks for, and what else it says, such as a genre. `None` for a
/// query without such a wish.
pub fn wish(query: &str) -> Option<(Order, String)> {
    let query = fold(query);
    let (word, order) = WISHES
        .iter()
        .map(|(word, order)| (fold(word), *order))
        .find(|(word, _)| query.contains(word))?;
    let rest = query.replacen(&word, "", 1);
    Some((order, without_fillers(&rest).to_owned()))
}

fn without_fillers(text: &str) -> &str {
    let shorter = FILLERS
        .iter()
        .find_map(|filler| text.strip_prefix(filler).or(text.strip_suffix(filler)));
    shorter.map_or(text, without_fillers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_in_both_languages() {
        for (query, order, rest) in [
            ("おすすめ", Order::Rating, ""),
            ("オススメの映画", Order::Rating, ""),
            ("お勧めの作品", Order::Rating, ""),
            ("人気のアニメ", Order::Popularity, "アニメ"),
            ("人気の映画は？", Order::Popularity, ""),
            ("most popular movies", Order::Popularity, ""),
            ("recommended comedy", Order::Rating, "comedy"),
            ("Best horror film", Order::Rating, "horror"),
            ("新作", Order::Newest, ""),
        ] {
            assert_eq!(wish(query), Some((order, rest.to_owned())), "{query}");
        }
        for query in ["", "銀河鉄道の夜", "映画"] {
            assert_eq!(wish(query), None, "{query}");
        }
    }
}
