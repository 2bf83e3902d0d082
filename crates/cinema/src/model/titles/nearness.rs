//! How similar a text is to a name or to a part of it.

use kit::text::similarity;

/// How similar a folded text is to a name or to a part of it, 0 to 1. What can't be as
/// similar as `least` is not compared: that is nearly everything.
pub fn nearness(folded: &str, name: &str, least: f64) -> f64 {
    let least = least - f64::EPSILON;
    let text: Vec<char> = folded.chars().collect();
    let whole = name;
    let name: Vec<char> = name.chars().collect();
    let mut shared = SharedLetters::new(&text);
    name.iter().for_each(|letter| shared.add(*letter));
    let mut best = match shared.most_similar(text.len(), name.len()) > least {
        true => similarity(folded, whole),
        false => 0.0,
    };
    // Two letters with one wrong could be anything.
    if text.len() < 3 || text.len() >= name.len() {
        return best;
    }
    if shared.most_similar(text.len(), text.len() - 1) <= least {
        return best;
    }
    for size in text.len() - 1..=text.len() + 1 {
        let mut shared = SharedLetters::new(&text);
        for (at, letter) in name.iter().enumerate() {
            shared.add(*letter);
            if let Some(left) = at.checked_sub(size).and_then(|before| name.get(before)) {
                shared.remove(*left);
            }
            let Some(stretch) = (at + 1)
                .checked_sub(size)
                .and_then(|from| name.get(from..=at))
            else {
                continue;
            };
            if shared.most_similar(text.len(), size) > best.max(least) {
                best = best.max(similarity(folded, &stretch.iter().collect::<String>()));
            }
        }
    }
    best
}

/// How many letters a text and a stretch of a name have in common, in any order.
struct SharedLetters {
    /// The text's letters, each with how often it has it more than the stretch.
    missing: Vec<(char, i32)>,
    count: u32,
}

impl SharedLetters {
    fn new(text: &[char]) -> Self {
        let mut missing: Vec<(char, i32)> = Vec::new();
        for letter in text {
            match missing.iter_mut().find(|(known, _)| known == letter) {
                Some((_, times)) => *times += 1,
                None => missing.push((*letter, 1)),
            }
        }
        Self { missing, count: 0 }
    }

    fn add(&mut self, letter: char) {
        if let Some((_, times)) = self.missing.iter_mut().find(|(it, _)| *it == letter) {
            self.count += u32::from(*times > 0);
            *times -= 1;
        }
    }

    fn remove(&mut self, letter: char) {
        if let Some((_, times)) = self.missing.iter_mut().find(|(it, _)| *it == letter) {
            *times += 1;
            self.count -= u32::from(*times > 0);
        }
    }

    /// No text of `size` letters that has these in common is more similar: every other
    /// letter is an edit, and pairs of letters are fewer than the letters.
    #[expect(clippy::cast_precision_loss, reason = "texts are short")]
    fn most_similar(&self, length: usize, size: usize) -> f64 {
        let count = f64::from(self.count);
        let edits = count / length.max(size) as f64;
        let pairs = 2.0 * (count - 1.0).max(0.0) / (length + size).saturating_sub(2).max(1) as f64;
        edits.max(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same without skipping anything.
    fn slow(folded: &str, name: &str) -> f64 {
        let (length, letters) = (folded.chars().count(), name.chars().collect::<Vec<_>>());
        let whole = similarity(folded, name);
        if length < 3 || length >= letters.len() {
            return whole;
        }
        (length - 1..=length + 1)
            .flat_map(|size| letters.windows(size))
            .map(|stretch| similarity(folded, &stretch.iter().collect::<String>()))
            .fold(whole, f64::max)
    }

    #[test]
    fn skipping_changes_nothing() {
        let names = [
            "ギンガテツドウノヨル",
            "nightonthegalacticrailroad",
            "霧",
            "mississippi",
        ];
        let texts = [
            "ギンガテツノ",
            "galaxyrail",
            "霧ノ埠頭",
            "issip",
            "sippimiss",
            "aaa",
            "ab",
        ];
        for name in names {
            for text in texts {
                let expected = slow(text, name);
                assert_eq!(nearness(text, name, 0.0), expected, "{text} {name}");
                if expected >= 0.65 {
                    assert_eq!(nearness(text, name, 0.65), expected, "{text} {name}");
                }
            }
        }
    }

    #[test]
    fn a_letter_is_shared_as_often_as_both_have_it() {
        let mut shared = SharedLetters::new(&['a', 'a', 'b']);
        "aaac".chars().for_each(|letter| shared.add(letter));
        assert_eq!(shared.count, 2);
        for left in [2, 1, 0] {
            shared.remove('a');
            assert_eq!(shared.count, left);
        }
    }
}
