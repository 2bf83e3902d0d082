//! The words of a query, and how well a film is described by them.

use kit::text::{fold, narrow};

use super::film::{Film, english_genre};

/// Words that say nothing about a film.
const STOP_WORDS: [&str; 29] = [
    "a", "about", "an", "and", "any", "at", "by", "film", "for", "from", "in", "is", "it", "movie",
    "of", "on", "one", "or", "show", "some", "that", "the", "to", "with", "where", "who", "映画",
    "作品", "上映",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Kanji,
    Katakana,
    Hiragana,
    Other,
}

fn script(character: char) -> Script {
    match character {
        'ァ'..='ヺ' | 'ー' | 'ヽ' | 'ヾ' => Script::Katakana,
        'ぁ'..='ゖ' | 'ゝ' | 'ゞ' => Script::Hiragana,
        '々' | '〇' | '㐀'..='鿿' | '豈'..='﫿' => Script::Kanji,
        letter if letter.is_alphanumeric() => Script::Latin,
        _ => Script::Other,
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    script: Script,
    text: String,
}

/// Splits a text at white space, punctuation and changes of script.
fn split(text: &str) -> Vec<Word> {
    let text: Vec<char> = narrow(text).to_lowercase().chars().collect();
    let runs = text.chunk_by(|a, b| script(*a) == script(*b));
    runs.map(|run| Word {
        script: run.first().map_or(Script::Other, |first| script(*first)),
        text: fold(&run.iter().collect::<String>()),
    })
    .collect()
}

/// What a query says about a film.
pub struct Words(Vec<Word>);

/// How well a film is described by some words; more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score {
    /// How many of the words the film has.
    pub known: usize,
    /// More for a long word than for a short one, and more for one in the title than for
    /// one in the description.
    weight: usize,
}

impl Words {
    /// Leaves out what says nothing: stop words, particles and the endings of verbs.
    pub fn of(query: &str) -> Self {
        let mut before = Script::Other;
        let mut words = split(query);
        words.retain(|word| {
            let follows = std::mem::replace(&mut before, word.script);
            match word.script {
                Script::Other => false,
                Script::Hiragana => follows != Script::Kanji && word.text.chars().count() > 2,
                _ => !STOP_WORDS.contains(&word.text.as_str()),
            }
        });
        Self(words)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// `None` for a film that has none of the words.
    pub fn score(&self, film: &FilmText) -> Option<Score> {
        let weights = self.0.iter().filter_map(|word| {
            let with_word = film.0.iter().filter(|(_, text)| word.is_in(text));
            let weight = with_word.map(|(weight, _)| *weight).max()?;
            Some(weight * word.text.chars().count())
        });
        let weights: Vec<usize> = weights.collect();
        (!weights.is_empty()).then(|| Score {
            known: weights.len(),
            weight: weights.iter().sum(),
        })
    }
}

/// What is written about a film, each text with the weight of its words.
pub struct FilmText([(usize, String); 6]);

impl FilmText {
    pub fn of(film: &Film) -> Self {
        let genre = format!("{} {}", film.genre, english_genre(&film.genre));
        let texts = [
            (3, &film.title),
            (3, &film.english_title),
            (3, &film.reading),
            (2, &genre),
            (1, &film.description),
            (1, &film.english_description),
        ];
        Self(texts.map(|(weight, text)| (weight, spaced(text))))
    }
}

/// The words of a text, each between two spaces.
fn spaced(text: &str) -> String {
    let words = split(text).into_iter();
    let words = words.filter(|word| word.script != Script::Other);
    words.fold(String::from(" "), |text, word| text + &word.text + " ")
}

impl Word {
    /// Whether a spaced text has the word. An English word may go on (`train`,
    /// `trains`), and of a long Japanese compound two letters are enough.
    fn is_in(&self, spaced: &str) -> bool {
        let text = &self.text;
        match self.script {
            Script::Latin if text.len() < 4 => spaced.contains(&format!(" {text} ")),
            Script::Latin => {
                let singular = text.strip_suffix('s').unwrap_or(text);
                spaced.contains(&format!(" {singular}"))
            }
            Script::Kanji if text.chars().count() > 2 => {
                let letters: Vec<char> = text.chars().collect();
                let mut pairs = letters.windows(2).map(String::from_iter);
                pairs.any(|pair| spaced.contains(&pair))
            }
            _ => spaced.contains(text.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particles_and_stop_words_say_nothing() {
        for (query, words) in [
            ("the train one", "train"),
            ("銀河の電車", "銀河 電車"),
            ("猫が出てくる映画", "猫 出"),
            ("Ｓｐａｃｅ trains!", "space trains"),
        ] {
            assert_eq!(spaced_words(&Words::of(query)), words, "{query}");
        }
    }

    fn spaced_words(words: &Words) -> String {
        let texts: Vec<&str> = words.0.iter().map(|word| word.text.as_str()).collect();
        texts.join(" ")
    }

    #[test]
    fn words_of_the_title_count_more_than_words_of_the_description() {
        let film = |title: &str, description: &str| Film {
            title: title.into(),
            english_description: description.into(),
            genre: "ホラー".into(),
            ..Film::default()
        };
        let score = |query: &str, film: &Film| Words::of(query).score(&FilmText::of(film));
        let in_title = score("train", &film("Night Train", "")).unwrap();
        let described = score("train", &film("Night", "Two trains meet.")).unwrap();
        assert!(in_title > described);
        assert_eq!(score("rain", &film("Night Train", "")), None);
        assert_eq!(score("scary", &film("Night", "")).unwrap().known, 1);
        assert_eq!(score("銀河電車", &film("銀河鉄道", "")).unwrap().known, 1);
    }
}
