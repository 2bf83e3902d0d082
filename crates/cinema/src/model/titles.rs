//! Which film a caller means: an id, a title in any spelling, or some words about it.

mod nearness;
#[cfg(test)]
mod quality_tests;

use std::{cell::OnceCell, cmp::Reverse};

use kit::text::{cut, fold, narrow, sound};

use self::nearness::nearness;
use super::{
    film::Film,
    words::{FilmText, Score, Words},
};

/// From this similarity on, a text counts as a misspelling of a title: one wrong
/// letter in three.
const NEAR: f64 = 0.65;
/// From this similarity on, a film is proposed when nothing matches.
const WORTH_PROPOSING: f64 = 0.25;
/// Fewer letters of romaji could be part of any title.
const SHORTEST_SOUND: usize = 3;
/// Characters of a text that are looked at. No title is longer, and comparing takes
/// longer with every one.
const LONGEST: usize = 500;

#[derive(Debug, PartialEq)]
pub enum TitleMatch<'a> {
    One(&'a Film),
    Several(Vec<&'a Film>),
    /// Nothing fits; these come nearest, the nearest first.
    None(Vec<&'a Film>),
}

/// The film that an id, a title or a part of a title names. Misspellings and
/// descriptions are proposed, not assumed: the caller may be about to book.
pub fn find<'a>(wanted: &str, films: &'a [Film]) -> TitleMatch<'a> {
    let wanted = Wanted::new(wanted);
    let films: Vec<FilmNames> = films.iter().map(FilmNames::of).collect();
    let ranked = films
        .iter()
        .filter_map(|names| Some((wanted.rank(names)?, names.film)));
    let ranked: Vec<(Rank, &Film)> = ranked.collect();
    let best = ranked.iter().map(|(rank, _)| *rank).min();
    let named = ranked.iter().filter(|(rank, _)| Some(*rank) == best);
    let named: Vec<&Film> = named.map(|(_, film)| *film).collect();
    match named.as_slice() {
        [] => TitleMatch::None(wanted.nearest(&films)),
        [one] => TitleMatch::One(one),
        several => TitleMatch::Several(several.to_vec()),
    }
}

/// `true` if `wanted` is the film's id or its title, or a part of it.
pub fn names(wanted: &str, film: &Film) -> bool {
    Wanted::new(wanted).rank(&FilmNames::of(film)).is_some()
}

/// The films a search finds, the best first.
#[derive(Debug, PartialEq)]
pub struct SearchHits<'a> {
    pub films: Vec<&'a Film>,
    /// No title has the query. These resemble it, or their descriptions have its words.
    pub are_approximate: bool,
}

/// Films with the query in their title, else films that it probably describes.
/// Films that fit equally well keep their order.
pub fn search<'a>(query: &str, films: &'a [Film]) -> SearchHits<'a> {
    let films: Vec<FilmNames> = films.iter().map(FilmNames::of).collect();
    search_among(query, &films)
}

fn search_among<'a>(query: &str, films: &[FilmNames<'a>]) -> SearchHits<'a> {
    let wanted = Wanted::new(query);
    let ranked = films
        .iter()
        .filter_map(|names| Some((wanted.rank(names)?, names.film)));
    let mut ranked: Vec<(Rank, &Film)> = ranked.collect();
    if ranked.iter().any(|(rank, _)| *rank <= Rank::PartOfName) {
        ranked.retain(|(rank, _)| *rank <= Rank::PartOfName);
    }
    let named = in_order(ranked);
    let are_approximate = named.is_empty();
    SearchHits {
        films: match are_approximate {
            true => wanted.resembling(films),
            false => named,
        },
        are_approximate,
    }
}

/// How a text names a film, the surest way first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Id,
    WholeName,
    WholeSound,
    PartOfName,
    PartOfSound,
    /// The id, but for upper and lower case.
    OtherCase,
}

/// A text that should name a film, in the forms in which it is compared.
struct Wanted {
    id: String,
    folded: String,
    /// `None` for text that is not kana or romaji, or too short.
    sound: Option<String>,
    words: Words,
}

impl Wanted {
    fn new(text: &str) -> Self {
        let (text, _) = cut(text, LONGEST);
        Self {
            id: narrow(text),
            folded: fold(text),
            sound: sound(text).filter(|sound| sound.len() >= SHORTEST_SOUND),
            words: Words::of(text),
        }
    }

    fn rank(&self, compared: &FilmNames<'_>) -> Option<Rank> {
        let FilmNames {
            film,
            names,
            sounds,
            ..
        } = compared;
        if film.id == self.id {
            return Some(Rank::Id);
        }
        if self.folded.is_empty() {
            return None;
        }
        let sound = self.sound.as_deref();
        Some(if names.contains(&self.folded) {
            Rank::WholeName
        } else if sound.is_some() && sounds.whole.as_deref() == sound {
            Rank::WholeSound
        } else if names.iter().any(|name| name.contains(&self.folded)) {
            Rank::PartOfName
        } else if sound
            .is_some_and(|sound| sounds.from_words.iter().any(|it| it.starts_with(sound)))
        {
            Rank::PartOfSound
        } else if film.id.eq_ignore_ascii_case(&self.id) {
            Rank::OtherCase
        } else {
            return None;
        })
    }

    /// Films of which all words are known, else films with a similar title, else
    /// films of which half of the words are known.
    fn resembling<'a>(&self, films: &[FilmNames<'a>]) -> Vec<&'a Film> {
        let scored = films
            .iter()
            .filter_map(|names| Some((self.words.score(names.text())?, names)));
        let scored: Vec<(Score, &FilmNames<'a>)> = scored.collect();
        let by_words = |least: usize| {
            let known = scored.iter().filter(|(score, _)| score.known >= least);
            // Of films with the same words, the one with the more similar name is meant.
            let ranked = known.map(|(score, names)| {
                let similarity = self.similarity(names, 0.0);
                (
                    (Reverse(*score), Reverse(thousandths(similarity))),
                    names.film,
                )
            });
            in_order(ranked.collect())
        };
        let count = self.words.count().max(1);
        let mut found = by_words(count);
        if found.is_empty() {
            found = self.similar(films, NEAR);
        }
        if found.is_empty() {
            found = by_words(count.div_ceil(2));
        }
        found
    }

    /// Films to propose, the nearest first.
    fn nearest<'a>(&self, films: &[FilmNames<'a>]) -> Vec<&'a Film> {
        let found = self.resembling(films);
        match found.is_empty() {
            true => self.similar(films, WORTH_PROPOSING),
            false => found,
        }
    }

    fn similar<'a>(&self, films: &[FilmNames<'a>], least: f64) -> Vec<&'a Film> {
        let mut scored: Vec<(f64, &Film)> = films
            .iter()
            .map(|names| (self.similarity(names, least), names.film))
            .filter(|(score, _)| *score >= least)
            .collect();
        scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        scored.into_iter().map(|(_, film)| film).collect()
    }

    /// How similar the text is to one of the film's names. Below `least` it may be too
    /// low.
    fn similarity(&self, names: &FilmNames<'_>, least: f64) -> f64 {
        let written = names.names.iter().map(|name| (&self.folded, name));
        let spoken = self.sound.iter().zip(&names.sounds.whole);
        let pairs = written.chain(spoken);
        pairs.fold(0.0, |best, (text, name)| {
            nearness(text, name, least.max(best)).max(best)
        })
    }
}

fn in_order<R: Ord>(mut ranked: Vec<(R, &Film)>) -> Vec<&Film> {
    ranked.sort_by(|(a, _), (b, _)| a.cmp(b));
    ranked.into_iter().map(|(_, film)| film).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and 1000"
)]
fn thousandths(similarity: f64) -> u16 {
    (similarity * 1000.0) as u16
}

/// A film in the forms in which it is compared.
struct FilmNames<'a> {
    film: &'a Film,
    /// Folded: its title, its reading and its English title.
    names: Vec<String>,
    sounds: Sounds,
    /// Made when no title has the query.
    text: OnceCell<FilmText>,
}

impl<'a> FilmNames<'a> {
    fn of(film: &'a Film) -> Self {
        let names = [&film.title, &film.reading, &film.english_title];
        let names = names.into_iter().filter(|name| !name.is_empty());
        Self {
            film,
            names: names.map(|name| fold(name)).collect(),
            sounds: Sounds::of(film),
            text: OnceCell::new(),
        }
    }

    fn text(&self) -> &FilmText {
        self.text.get_or_init(|| FilmText::of(self.film))
    }
}

/// How the kana of a title sound. Latin letters are compared as they are written:
/// `light` is not `right`.
struct Sounds {
    /// `None` for a title without kana, or with kanji whose reading is not known.
    whole: Option<String>,
    /// From each of its words on.
    from_words: Vec<String>,
}

impl Sounds {
    fn of(film: &Film) -> Self {
        let reading = match film.reading.is_empty() {
            true => &film.title,
            false => &film.reading,
        };
        let words: Vec<&str> = reading.split_whitespace().collect();
        let from = |first: usize| sound_of_kana(&words.get(first..)?.concat());
        let whole = from(0);
        let from_words = match whole {
            Some(_) => (0..words.len()).filter_map(from).collect(),
            None => {
                let has_no_sound = |letter: char| sound(letter.encode_utf8(&mut [0; 4])).is_none();
                let runs = reading.split(has_no_sound);
                runs.filter_map(sound_of_kana).collect()
            }
        };
        Self { whole, from_words }
    }
}

fn sound_of_kana(text: &str) -> Option<String> {
    let has_kana = fold(text).contains(|letter| matches!(letter, 'ァ'..='ヺ'));
    sound(text).filter(|_| has_kana)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn films() -> Vec<Film> {
        [
            (
                "M001",
                "銀河鉄道の夜",
                "ぎんが てつどう の よる",
                "Night on the Galactic Railroad",
            ),
            (
                "M002",
                "シャーロック・ホームズ：霧の埠頭",
                "",
                "Sherlock Holmes: The Fog Wharf",
            ),
            (
                "M003",
                "シャーロック・ホームズ：最後の挨拶",
                "",
                "Sherlock Holmes: His Last Bow",
            ),
            ("M004", "The Clockwork Harbor", "", ""),
            ("M005", "霧", "きり", "Fog"),
            ("M006", "オンライン", "", ""),
        ]
        .into_iter()
        .map(|(id, title, reading, english_title)| Film {
            id: id.into(),
            title: title.into(),
            reading: reading.into(),
            english_title: english_title.into(),
            ..Film::default()
        })
        .collect()
    }

    #[test]
    fn ids_titles_readings_romaji_and_parts_of_titles() {
        let films = films();
        for (wanted, id) in [
            ("M001", "M001"),
            ("Ｍ００１", "M001"),
            ("m004", "M004"),
            ("銀河鉄道の夜", "M001"),
            ("銀河", "M001"),
            ("ぎんが", "M001"),
            ("ギンガテツドウノヨル", "M001"),
            ("ginga tetsudō no yoru", "M001"),
            ("Ginga Tetudou", "M001"),
            ("tetsudo", "M001"),
            ("galactic railroad", "M001"),
            ("ｼｬｰﾛｯｸ･ﾎｰﾑｽﾞ 霧の埠頭", "M002"),
            ("the fog wharf", "M002"),
            ("しゃーろっくほーむず最後の挨拶", "M003"),
            ("ＴＨＥ　ｃｌｏｃｋｗｏｒｋ　ｈａｒｂｏｒ", "M004"),
            // A whole title comes before parts of others.
            ("霧", "M005"),
            ("fog", "M005"),
            ("kiri", "M005"),
        ] {
            let found = find(wanted, &films);
            assert!(
                matches!(found, TitleMatch::One(film) if film.id == id),
                "{wanted} {found:?}"
            );
        }
    }

    #[test]
    fn several_and_none() {
        let films = films();
        for wanted in ["シャーロック", "sherlock holmes", "sharokku"] {
            let found = find(wanted, &films);
            assert!(
                matches!(&found, TitleMatch::Several(it) if it.len() == 2),
                "{found:?}"
            );
        }
        let TitleMatch::None(near) = find("銀河鉄通の夜", &films) else {
            panic!("a misspelling was accepted as a title")
        };
        assert_eq!(near[0].id, "M001");
        // The sound of a word counts from its beginning: オンライン is no `rain`.
        for wanted in ["zzzzzz", "", "rain"] {
            assert!(
                matches!(find(wanted, &films), TitleMatch::None(_)),
                "{wanted}"
            );
        }
        assert_eq!(find("zzzzzz", &films), TitleMatch::None(vec![]));
    }

    #[test]
    fn misspellings_are_near() {
        let films = films();
        for (typed, id) in [
            ("銀河鉄通の夜", "M001"),
            ("gingatetsuton", "M001"),
            ("シャーコック", "M002"),
            ("sherlok holmes", "M002"),
            ("clokwork", "M004"),
            ("clockwork habor", "M004"),
        ] {
            let hits = search(typed, &films);
            assert!(hits.are_approximate, "{typed}");
            assert_eq!(
                hits.films.first().map(|it| it.id.as_str()),
                Some(id),
                "{typed}"
            );
        }
        for typed in ["海", "宇宙戦争", "zz"] {
            assert_eq!(search(typed, &films).films, Vec::<&Film>::new(), "{typed}");
        }
    }
}
