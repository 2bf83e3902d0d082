//! Shows the matching part of a text.

use super::{fold::fold, rank::Query};

/// About one line on a screen.
const LENGTH: usize = 120;

/// The line that has most of the words, cut around the first of them.
pub fn excerpt(text: &str, query: &Query) -> String {
    excerpt_at(text, query).1
}

/// The same with the number of the line, from 0.
pub fn excerpt_at(text: &str, query: &Query) -> (usize, String) {
    let mut best = (0, "", 0);
    for (number, line) in text.lines().enumerate() {
        let folded = fold(line);
        let count = query.words().filter(|word| folded.contains(*word)).count();
        if count > best.2 {
            best = (number, line, count);
        }
        if best.2 > 0 && !query.has_several_words() {
            break;
        }
    }
    if best.2 == 0 {
        // The match spans two lines.
        let mut lines = text.lines().enumerate();
        let first = lines.find(|(_, line)| !line.trim().is_empty());
        let (number, line) = first.unwrap_or_default();
        best = (number, line, 0);
    }
    (best.0, cut(best.1.trim(), query))
}

fn cut(line: &str, query: &Query) -> String {
    let length = line.chars().count();
    if length <= LENGTH {
        return line.to_owned();
    }
    let at = place(line, query).unwrap_or(0);
    let start = at.saturating_sub(LENGTH / 3).min(length - LENGTH);
    let middle: String = line.chars().skip(start).take(LENGTH).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if start + LENGTH < length { "…" } else { "" };
    format!("{before}{}{after}", middle.trim())
}

/// The character of the line at which the first word begins.
fn place(line: &str, query: &Query) -> Option<usize> {
    let mut folded = String::with_capacity(line.len());
    let mut ends = Vec::new();
    for character in line.chars() {
        folded.push_str(&fold(character.encode_utf8(&mut [0; 4])));
        ends.push(folded.len());
    }
    let at = query.words().filter_map(|word| folded.find(word)).min()?;
    ends.iter().position(|end| *end > at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_shows_the_line_and_cuts_around_the_match() {
        let query = Query::new("れーと 制限");
        assert_eq!(
            excerpt("# a\n\n制限なし\n- レート制限を設計\n", &query),
            "- レート制限を設計"
        );
        let long = format!("{}レート制限{}", "あ".repeat(300), "い".repeat(300));
        let cut = excerpt(&long, &query);
        assert!(cut.contains("レート制限") && cut.starts_with('…') && cut.ends_with('…'));
        assert!(cut.chars().count() <= LENGTH + 2);
    }
}
