//! Splits text into parts: stretches of Japanese (also Chinese and Korean),
//! which has no spaces, and words of other scripts.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::letters::{fold, is_dash, is_dot, is_japanese, is_joint, is_kana, push_plain};

/// Characters of a field that are indexed.
const LONGEST_TEXT: usize = 4_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// A stretch without spaces, in normal width and lower case. Kana,
    /// long-vowel marks and middle dots are unchanged.
    Japanese(String),
    /// A word of another script, with numbers and joints: `wh-1000xm5` has the
    /// atoms `wh`, `1000`, `xm`, `5`.
    Word(Vec<String>),
    /// A stronger separator than a space, such as a comma or a bracket.
    Gap,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Japanese,
    Letter,
    Digit,
}

/// Splits `text` into its parts, in order.
pub(crate) fn parts(text: &str) -> Vec<Part> {
    let mut cutter = Splitter::default();
    let text: Vec<char> = text
        .nfkc()
        .flat_map(char::to_lowercase)
        .take(LONGEST_TEXT)
        .collect();
    for (at, &character) in text.iter().enumerate() {
        let next = text.get(at + 1).copied().unwrap_or(' ');
        cutter.take(character, next);
    }
    cutter.finish()
}

#[derive(Default)]
struct Splitter {
    parts: Vec<Part>,
    japanese: String,
    atoms: Vec<String>,
    last: Option<Kind>,
}

impl Splitter {
    fn take(&mut self, character: char, next: char) {
        if is_dash(character) && self.japanese.chars().next_back().is_some_and(is_kana) {
            // A dash in place of a long-vowel mark: コ－ヒ－.
            self.japanese.push('ー');
        } else if is_dot(character) && !self.japanese.is_empty() {
            self.japanese.push('・');
        } else if is_japanese(character) {
            self.end_word();
            self.japanese.push(character);
            self.last = Some(Kind::Japanese);
        } else if character.is_alphanumeric() {
            self.end_japanese();
            let kind = if character.is_numeric() {
                Kind::Digit
            } else {
                Kind::Letter
            };
            if self.last != Some(kind) {
                self.atoms.push(String::new());
            }
            self.last = Some(kind);
            if let Some(atom) = self.atoms.last_mut() {
                push_plain(atom, character);
            }
        } else if is_combining_mark(character) {
            // Drops a mark that NFKC could not join to its letter.
        } else if is_joint(character) && !self.atoms.is_empty() && next.is_alphanumeric() {
            self.last = None;
        } else {
            self.end_word();
            self.end_japanese();
            if !character.is_whitespace() && self.parts.last() != Some(&Part::Gap) {
                self.parts.push(Part::Gap);
            }
        }
    }

    fn end_word(&mut self) {
        self.atoms.retain(|atom| !atom.is_empty());
        if !self.atoms.is_empty() {
            self.parts.push(Part::Word(std::mem::take(&mut self.atoms)));
        }
        self.last = None;
    }

    fn end_japanese(&mut self) {
        if !self.japanese.is_empty() {
            self.parts
                .push(Part::Japanese(std::mem::take(&mut self.japanese)));
            self.last = None;
        }
    }

    fn finish(mut self) -> Vec<Part> {
        self.end_word();
        self.end_japanese();
        self.parts
    }
}

/// The folded text without separators.
pub(crate) fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            Part::Japanese(stretch) => folded.push_str(&fold(&stretch)),
            Part::Word(atoms) => folded.push_str(&atoms.concat()),
            Part::Gap => {}
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_spellings_are_folded() {
        for spelling in [
            "ヴァイオリン・ケース",
            "ばいおりんけーす",
            "ﾊﾞｲｵﾘﾝｹｰｽ",
            "ヴァイオリンケース",
            "バイオリン－ケ－ス",
        ] {
            let [Part::Japanese(stretch)] = &parts(spelling)[..] else {
                panic!("{spelling}: {:?}", parts(spelling));
            };
            assert_eq!(fold(stretch), "バイオリンケス", "{spelling}");
        }
        assert_eq!(fold("キャノン"), fold("キヤノン"));
        assert_eq!(fold("ヘッドフォン"), fold("ヘッドホン"));
    }

    #[test]
    fn text_is_split_into_stretches_words_and_gaps() {
        let word = |atoms: &[&str]| Part::Word(atoms.iter().map(ToString::to_string).collect());
        let japanese = |stretch: &str| Part::Japanese(stretch.to_owned());
        assert_eq!(
            parts("Ｔシャツ（綿）Café WH-1000XM5、2枚"),
            [
                word(&["t"]),
                japanese("シャツ"),
                Part::Gap,
                japanese("綿"),
                Part::Gap,
                word(&["cafe"]),
                word(&["wh", "1000", "xm", "5"]),
                Part::Gap,
                word(&["2"]),
                japanese("枚"),
            ]
        );
    }
}
