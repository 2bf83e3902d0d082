//! In which language to answer: the requested one, else the one of the arguments.

use std::{
    cmp::Ordering,
    sync::{Mutex, PoisonError},
};

use kit::{context::Language, counter::AnswerLanguage};
use serde_json::{Map, Value};

/// The language that a counter's person used last.
#[derive(Default)]
pub struct LastLanguage(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// What was requested or spoken.
    last: Option<Language>,
    /// Until then: English if the texts of the calls are English sentences. Any
    /// Japanese text ends that for good.
    guessed: Option<Language>,
}

impl LastLanguage {
    /// The language of the answer to a call with these arguments.
    pub fn choose(
        &self,
        rule: AnswerLanguage,
        requested: Option<Language>,
        arguments: &Map<String, Value>,
    ) -> Language {
        match rule {
            AnswerLanguage::Always(language) => language,
            AnswerLanguage::OfTheCall => requested.unwrap_or_else(|| of_arguments(arguments)),
            AnswerLanguage::OfThePerson { spoken, otherwise } => {
                let words = spoken
                    .iter()
                    .filter_map(|name| arguments.get(*name)?.as_str());
                let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                known.last = requested.or_else(|| of_words(words)).or(known.last);
                let texts = || arguments.values().filter_map(Value::as_str);
                if texts().any(is_japanese) {
                    known.guessed = Some(otherwise);
                } else if texts().any(is_other_sentence) {
                    known.guessed.get_or_insert(Language::English);
                }
                known.last.or(known.guessed).unwrap_or(otherwise)
            }
        }
    }
}

/// The language of somebody's words; `None` if it can't be told, as from a number.
fn of_words<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Language> {
    words.find_map(|text| match is_japanese(text) && !is_other_sentence(text) {
        true => Some(Language::Japanese),
        false => is_english(text).then_some(Language::English),
    })
}

/// `tomorrow`, `every week`, but neither a time such as `2026-11-15T10:00:00Z` nor a
/// rule such as `FREQ=DAILY`.
fn is_english(text: &str) -> bool {
    let text = text.split('[').next().unwrap_or_default();
    let mut words = text.split(|c: char| !c.is_alphabetic());
    is_other_sentence(text)
        || (text.is_ascii() && !text.contains('=') && words.any(|word| word.len() >= 3))
}

/// From the locale of the user who started the process.
pub fn of_environment() -> Option<Language> {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    of_tag(&locale?)
}

/// From a tag such as `ja-JP` or `ja_JP.UTF-8`; `None`: no preference.
fn of_tag(tag: &str) -> Option<Language> {
    match primary(tag).as_str() {
        "" | "*" | "c" | "posix" => None,
        "ja" => Some(Language::Japanese),
        _ => Some(Language::English),
    }
}

/// From a weighted list such as `Accept-Language: en;q=0.5, ja`; `None`: no preference.
/// Whoever names neither of our languages is answered in English.
pub fn of_accepted(list: &str) -> Option<Language> {
    let accepted: Vec<(String, f32)> = list.split(',').map(weighted).collect();
    let weight = |language: &str| {
        let weights = accepted.iter().filter(|(tag, _)| tag == language);
        weights.map(|(_, weight)| *weight).reduce(f32::max)
    };
    if weight("ja").or(weight("en")).is_none() {
        let others = accepted.iter().filter(|(_, weight)| *weight > 0.0);
        return others.map(|(tag, _)| of_tag(tag)).find(Option::is_some)?;
    }
    // `ja;q=0` accepts what is not named rather than Japanese.
    let unnamed = weight("*").unwrap_or(f32::MIN_POSITIVE);
    let [japanese, english] = ["ja", "en"].map(|language| weight(language).unwrap_or(unnamed));
    Some(match japanese.total_cmp(&english) {
        Ordering::Greater => Language::Japanese,
        Ordering::Less => Language::English,
        Ordering::Equal => accepted.iter().find_map(|(tag, _)| of_tag(tag))?,
    })
}

/// The language of a tag, and the weight behind it.
fn weighted(item: &str) -> (String, f32) {
    let mut parts = item.split(';');
    let tag = primary(parts.next().unwrap_or_default());
    let weight = parts.find_map(|part| part.trim().strip_prefix("q=")?.parse().ok());
    let weight = weight.filter(|weight: &f32| weight.is_finite());
    (tag, weight.unwrap_or(1.0).clamp(0.0, 1.0))
}

fn primary(tag: &str) -> String {
    let language = tag.trim().split(['-', '_', '.']).next();
    language.unwrap_or_default().to_ascii_lowercase()
}

/// Detects the language of the arguments: Japanese if there is Japanese text and no
/// sentence in another language. A Japanese name in an English message does not count.
pub fn of_arguments(arguments: &Map<String, Value>) -> Language {
    let texts = || arguments.values().filter_map(Value::as_str);
    match texts().any(is_japanese) && !texts().any(is_other_sentence) {
        true => Language::Japanese,
        false => Language::English,
    }
}

fn is_japanese(text: &str) -> bool {
    text.chars().any(is_japanese_letter)
}

fn is_japanese_letter(letter: char) -> bool {
    matches!(letter, 'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ｦ'..='ﾝ' | '一'..='鿿' | '々')
}

/// Whether there are two or more Latin words, and more Latin than Japanese letters.
fn is_other_sentence(text: &str) -> bool {
    let is_word = |word: &&str| {
        let letters = word.trim_matches(|c: char| c.is_ascii_punctuation());
        letters.len() > 1 && letters.chars().all(|c| c.is_ascii_alphabetic())
    };
    let words = text.split_whitespace().filter(is_word).count();
    let letters = text.chars().filter(char::is_ascii_alphabetic).count();
    let japanese = text.chars().filter(|c| is_japanese_letter(*c)).count();
    words >= 2 && letters > japanese
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn language_tags_are_recognised() {
        for (tag, language) in [
            ("ja", Some(Language::Japanese)),
            ("ja_JP.UTF-8", Some(Language::Japanese)),
            ("de", Some(Language::English)),
            ("jam", Some(Language::English)),
            ("*", None),
            ("C.UTF-8", None),
            ("", None),
        ] {
            assert_eq!(of_tag(tag), language, "{tag}");
        }
    }

    #[test]
    fn the_weights_of_accepted_languages_decide() {
        for (list, language) in [
            ("ja", Some(Language::Japanese)),
            ("ja-JP,en;q=0.5", Some(Language::Japanese)),
            ("en;q=0.5, ja", Some(Language::Japanese)),
            (
                "en-US;q=0.8, JA-jp; q=0.9, *;q=0.1",
                Some(Language::Japanese),
            ),
            ("ja;q=0.1, en-GB;q=0.2", Some(Language::English)),
            ("en-US,ja", Some(Language::English)),
            ("ja, en", Some(Language::Japanese)),
            ("ja;q=0", Some(Language::English)),
            ("ja;q=0.5, *", Some(Language::English)),
            ("de, ja;q=0.5", Some(Language::Japanese)),
            ("de, fr;q=0.5", Some(Language::English)),
            ("de;q=0, *", None),
            ("ja;q=nan", Some(Language::Japanese)),
            ("*", None),
            ("", None),
            (",;q=1,", None),
        ] {
            assert_eq!(of_accepted(list), language, "{list}");
        }
    }

    #[test]
    fn a_person_is_answered_in_the_language_they_speak() {
        let rule = AnswerLanguage::OfThePerson {
            spoken: &["start", "note"],
            otherwise: Language::English,
        };
        let last = LastLanguage::default();
        for (requested, arguments, expected) in [
            (None, json!({"title": "企画会議"}), Language::English),
            (
                None,
                json!({"title": "Run", "start": "明日15時"}),
                Language::Japanese,
            ),
            (None, json!({"id": "evt_1"}), Language::Japanese),
            (
                None,
                json!({"start": "2026-11-16T07:00:00Z"}),
                Language::Japanese,
            ),
            (
                None,
                json!({"start": "2026-11-16T07:00[Asia/Tokyo]"}),
                Language::Japanese,
            ),
            (
                None,
                json!({"title": "企画会議", "start": "tomorrow"}),
                Language::English,
            ),
            (None, json!({"title": "企画会議"}), Language::English),
            (
                Some(Language::Japanese),
                json!({"note": "Buy milk"}),
                Language::Japanese,
            ),
            (
                None,
                json!({"note": "Call 田中 about lunch"}),
                Language::English,
            ),
        ] {
            let arguments = arguments.as_object().unwrap();
            let chosen = last.choose(rule, requested, arguments);
            assert_eq!(chosen, expected, "{arguments:?}");
        }
        // Before anything is spoken, English sentences count, but no Japanese title.
        let rule = AnswerLanguage::OfThePerson {
            spoken: &["start"],
            otherwise: Language::Japanese,
        };
        let unknown = LastLanguage::default();
        for (title, expected) in [
            ("Lunch", Language::Japanese),
            ("Lunch with Ann", Language::English),
            ("Lunch", Language::English),
            ("企画会議", Language::Japanese),
            ("Lunch with Ann", Language::Japanese),
        ] {
            let arguments = json!({"title": title, "start": "2026-11-16T07:00"});
            let chosen = unknown.choose(rule, None, arguments.as_object().unwrap());
            assert_eq!(chosen, expected, "{title}");
        }
        let always = AnswerLanguage::Always(Language::Japanese);
        let chosen = last.choose(always, Some(Language::English), &Map::new());
        assert_eq!(chosen, Language::Japanese);
    }

    #[test]
    fn the_language_of_arguments_is_detected() {
        for (arguments, language) in [
            (json!({}), Language::English),
            (
                json!({"title": "朝ラン", "start": "2025-09-19T07:00:00+09:00"}),
                Language::Japanese,
            ),
            (
                json!({"id": "evt_65h3cj0mw0rfb4pfm2v1", "title": "夜ラン"}),
                Language::Japanese,
            ),
            (json!({"to": "田中さん", "text": "OK"}), Language::Japanese),
            (
                json!({"to": "田中", "text": "See you at seven"}),
                Language::English,
            ),
            (
                json!({"note": "Google Meetで田中さんと打ち合わせ"}),
                Language::Japanese,
            ),
            (
                json!({"title": "Lunch", "duration_min": 30}),
                Language::English,
            ),
            (json!({"seat_ids": "Ａ５、Ａ６"}), Language::English),
        ] {
            let map = arguments.as_object().unwrap();
            assert_eq!(of_arguments(map), language, "{arguments}");
        }
    }
}
