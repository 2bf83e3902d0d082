//! Words that mean the same, so that a search in one language finds products named
//! in another.

use std::collections::HashMap;

/// The most texts to search for beside the given one.
const MOST_ALTERNATIVES: usize = 10;
/// Characters of a search that are compared with synonyms. People write fewer, and
/// comparing takes longer with every one.
const LONGEST_TEXT: usize = 300;

/// Groups of words and phrases with one meaning.
#[derive(Debug, Default)]
pub struct Synonyms {
    groups: Vec<Vec<String>>,
    /// The groups of each phrase, by its plain form.
    by_phrase: HashMap<String, Vec<usize>>,
    /// Characters of the longest plain form.
    longest: usize,
}

impl Synonyms {
    pub fn new(groups: Vec<Vec<String>>) -> Self {
        let mut by_phrase: HashMap<String, Vec<usize>> = HashMap::new();
        let mut longest = 0;
        for (number, group) in groups.iter().enumerate() {
            for phrase in group.iter().map(|phrase| plain(phrase)) {
                longest = longest.max(phrase.chars().count());
                by_phrase.entry(phrase).or_default().push(number);
            }
        }
        Self {
            groups,
            by_phrase,
            longest,
        }
    }

    pub fn groups(&self) -> &[Vec<String>] {
        &self.groups
    }

    /// Texts that mean the same as `text`: each has one of its phrases replaced. Where
    /// phrases overlap, the first and longest counts.
    pub fn alternatives(&self, text: &str) -> Vec<String> {
        let (text, _) = kit::text::cut(text, LONGEST_TEXT);
        let text: Vec<char> = plain(text).chars().collect();
        let (mut found, mut start) = (Vec::new(), 0);
        while start < text.len() && found.len() < MOST_ALTERNATIVES {
            let longest = text.len().min(start + self.longest);
            let mut ends = (start + 1..=longest).rev();
            start = match ends.find(|end| self.replace(&text, start, *end, &mut found)) {
                Some(end) => end,
                None => start + 1,
            };
        }
        found.truncate(MOST_ALTERNATIVES);
        found
    }

    /// Adds the text with every word that means the same as its characters from `start`
    /// to `end`. False if these are no phrase.
    fn replace(&self, text: &[char], start: usize, end: usize, found: &mut Vec<String>) -> bool {
        let (Some(before), Some(phrase), Some(after)) =
            (text.get(..start), text.get(start..end), text.get(end..))
        else {
            return false;
        };
        if is_inside_a_word(before, phrase) || is_inside_a_word(phrase, after) {
            return false;
        }
        let phrase: String = phrase.iter().collect();
        let Some(groups) = self.by_phrase.get(&phrase) else {
            return false;
        };
        let [before, after]: [String; 2] = [before, after].map(|part| part.iter().collect());
        let words = groups.iter().filter_map(|group| self.groups.get(*group));
        for word in words.flatten().filter(|word| plain(word) != phrase) {
            let text = format!("{} {word} {}", before.trim(), after.trim());
            let text = text.trim().to_owned();
            if !found.contains(&text) {
                found.push(text);
            }
        }
        true
    }
}

/// Whether Latin letters or digits stand on both sides of the boundary.
fn is_inside_a_word(left: &[char], right: &[char]) -> bool {
    let is_latin = |letter: Option<&char>| letter.is_some_and(char::is_ascii_alphanumeric);
    is_latin(left.last()) && is_latin(right.first())
}

/// Removes differences of width, case, kana and spacing, and English plurals.
fn plain(text: &str) -> String {
    let text = kit::text::narrow(text).to_lowercase();
    let words: Vec<&str> = text.split_whitespace().map(singular).collect();
    let katakana = |letter: char| match letter {
        'ぁ'..='ゖ' => char::from_u32(letter as u32 + 0x60).unwrap_or(letter),
        other => other,
    };
    words.join(" ").chars().map(katakana).collect()
}

fn singular(word: &str) -> &str {
    let after_a_hiss = ["s", "x", "ch", "sh"];
    let long = word
        .strip_suffix("es")
        .filter(|stem| stem.len() > 2 && after_a_hiss.iter().any(|end| stem.ends_with(end)));
    let short = word
        .strip_suffix('s')
        .filter(|stem| stem.len() > 2 && stem.is_ascii() && !stem.ends_with('s'));
    long.or(short).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn synonyms() -> Synonyms {
        let group = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        Synonyms::new(vec![
            group(&["running shoes", "ランニングシューズ", "ジョギングシューズ"]),
            group(&["shoes", "靴"]),
            group(&["mug", "マグカップ"]),
            group(&["cup", "mug", "コップ"]),
            group(&["dress", "ワンピース"]),
        ])
    }

    #[test]
    fn a_very_long_search_has_few_alternatives() {
        let long = "靴 マグカップ ".repeat(20_000);
        let found = synonyms().alternatives(&long);
        assert!(found.len() <= MOST_ALTERNATIVES);
        assert!(
            found
                .iter()
                .all(|text| text.chars().count() < 2 * LONGEST_TEXT)
        );
    }

    #[test]
    fn a_phrase_is_replaced_by_each_word_with_its_meaning() {
        for (text, alternatives) in [
            (
                "running shoes",
                &["ランニングシューズ", "ジョギングシューズ"][..],
            ),
            (
                "blue Running  Shoe 26",
                &["blue ランニングシューズ 26", "blue ジョギングシューズ 26"],
            ),
            (
                "らんにんぐしゅーず",
                &["running shoes", "ジョギングシューズ"],
            ),
            (
                "青いﾗﾝﾆﾝｸﾞｼｭｰｽﾞ",
                &["青イ running shoes", "青イ ジョギングシューズ"],
            ),
            ("shoe", &["靴"]),
            ("mugs", &["マグカップ", "cup", "コップ"]),
            ("Dresses", &["ワンピース"]),
            ("smug cupboard", &[]),
            ("", &[]),
        ] {
            assert_eq!(synonyms().alternatives(text), alternatives, "{text}");
        }
        assert!(Synonyms::default().alternatives("shoes").is_empty());
    }

    #[test]
    fn alternatives_are_few() {
        let many = (0..100).map(|number| format!("word {number}")).collect();
        let found = Synonyms::new(vec![many]).alternatives("word 1");
        assert_eq!(found.len(), MOST_ALTERNATIVES);
    }
}
