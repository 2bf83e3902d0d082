//! Makes text that an agent wrote safe to show to the person who decides.
//!
//! Nothing in it may be invisible, move the cursor, reverse the reading direction or
//! look like a line of the surrounding page. Every channel (console, command line,
//! the client's prompt) shows such text through this module.

use std::{fmt::Write, iter::Peekable, str::Chars};

use unicode_normalization::char::is_combining_mark;

/// A longer run of blanks could push what follows out of sight.
const MOST_BLANKS: usize = 40;
const MOST_LINE_BREAKS: usize = 3;
/// Real scripts stack up to four marks on a letter; more cover other lines.
const MOST_MARKS: usize = 4;

/// A part of a text, as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    Plain(char),
    /// Invisible, or changes how the surrounding text looks.
    Hidden(char),
    /// A long run of white space, left out.
    Blanks(usize),
}

/// The text piece by piece. Line breaks and tabs are plain.
pub fn pieces(text: &str) -> Pieces<'_> {
    Pieces {
        rest: text.chars().peekable(),
        before: ' ',
        marks: 0,
        blank: 0,
    }
}

pub struct Pieces<'a> {
    rest: Peekable<Chars<'a>>,
    before: char,
    marks: usize,
    /// How many blanks of the present run are still to come as they are.
    blank: usize,
}

impl Pieces<'_> {
    /// The length of the run of white space that begins here, and whether it is
    /// shown as it is.
    fn run(&self) -> (usize, bool) {
        let run = self.rest.clone().take_while(|c| c.is_whitespace());
        let (mut length, mut breaks) = (0, 0);
        for character in run {
            length += 1;
            breaks += usize::from(character == '\n');
        }
        (length, length <= MOST_BLANKS && breaks <= MOST_LINE_BREAKS)
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let next = *self.rest.peek()?;
        if next.is_whitespace() && self.blank == 0 {
            let (length, as_it_is) = self.run();
            if !as_it_is {
                self.rest.by_ref().take(length).for_each(drop);
                self.before = ' ';
                return Some(Piece::Blanks(length));
            }
            self.blank = length;
        }
        self.blank = self.blank.saturating_sub(1);
        self.rest.next();
        self.marks = match is_combining_mark(next) {
            true => self.marks + 1,
            false => 0,
        };
        let hides = self.marks > MOST_MARKS || (is_hidden(next) && !belongs(self.before, next));
        self.before = next;
        Some(match hides {
            true => Piece::Hidden(next),
            false => Piece::Plain(next),
        })
    }
}

/// On one line: also line breaks and tabs are written out, as `⟨U+000A⟩`.
pub fn visible(text: &str) -> String {
    written_out(text, |shown, character| match character {
        '\n' | '\t' => code(shown, character),
        other => shown.push(other),
    })
}

/// On several lines. Each but the first begins with `mark`, so that it can't be
/// taken for a line of what stands around it.
pub fn visible_lines(text: &str, mark: &str) -> String {
    written_out(text, |shown, character| {
        shown.push(character);
        if character == '\n' {
            shown.push_str(mark);
        }
    })
}

/// At most `most` characters of a text, and how many are left out.
pub fn cut(text: &str, most: usize) -> (&str, usize) {
    match text.char_indices().nth(most) {
        None => (text, 0),
        Some((end, _)) => {
            let (kept, rest) = text.split_at(end);
            (kept, rest.chars().count())
        }
    }
}

fn written_out(text: &str, mut plain: impl FnMut(&mut String, char)) -> String {
    let mut shown = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Plain(character) => plain(&mut shown, character),
            Piece::Hidden(character) => code(&mut shown, character),
            // Writing to a string does not fail.
            Piece::Blanks(count) => drop(write!(shown, "⟨{count} blanks⟩")),
        }
    }
    shown
}

fn code(shown: &mut String, character: char) {
    // Writing to a string does not fail.
    let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(character));
}

/// Controls, marks of direction, and whatever takes part in a text without
/// being seen.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' => true,
        '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

/// Characters that are at home after some others: the parts of a joined emoji,
/// the variant of a kanji in somebody's name.
fn belongs(before: char, character: char) -> bool {
    let is_symbol = matches!(before, '\u{203c}'..='\u{27ff}' | '\u{2900}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}');
    let is_kanji = matches!(before, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    match character {
        '\u{fe0f}' => is_symbol || matches!(before, '0'..='9' | '#' | '*'),
        '\u{200d}' => {
            before == '\u{fe0f}'
                || matches!(before, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}')
        }
        '\u{fe00}'..='\u{fe0e}' | '\u{e0100}'..='\u{e01ef}' => is_kanji,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_written_out() {
        for (character, code) in [
            ('\u{202e}', "202E"),
            ('\u{2066}', "2066"),
            ('\u{200b}', "200B"),
            ('\u{0}', "0000"),
            ('\u{1b}', "001B"),
            ('\r', "000D"),
            ('\u{85}', "0085"),
            ('\u{2028}', "2028"),
            ('\u{feff}', "FEFF"),
            ('\u{200d}', "200D"),
            ('\u{fe0f}', "FE0F"),
            ('\u{2800}', "2800"),
            ('\u{3164}', "3164"),
            ('\u{115f}', "115F"),
            ('\u{ffa0}', "FFA0"),
            ('\u{e0041}', "E0041"),
        ] {
            assert_eq!(visible(&format!("a{character}b")), format!("a⟨U+{code}⟩b"));
            assert_eq!(
                visible_lines(&format!("a{character}b"), "> "),
                format!("a⟨U+{code}⟩b")
            );
        }
        assert_eq!(visible("a\tb\nc"), "a⟨U+0009⟩b⟨U+000A⟩c");
    }

    #[test]
    fn a_line_of_the_text_cannot_pass_for_a_line_of_the_page() {
        assert_eq!(visible_lines("one\n\ntwo", "| "), "one\n| \n| two");
    }

    #[test]
    fn white_space_and_stacked_marks_push_nothing_out_of_sight() {
        let far = format!("a{}b", " ".repeat(5_000));
        assert_eq!(visible(&far), "a⟨5000 blanks⟩b");
        let below = format!("a{}b", " \n\u{3000}".repeat(50));
        assert_eq!(visible_lines(&below, "| "), "a⟨150 blanks⟩b");
        let indented = format!("a\n{}b", " ".repeat(30));
        assert_eq!(visible_lines(&indented, ""), indented);
        let stacked = format!("a{}", "\u{301}".repeat(6));
        assert_eq!(
            visible(&stacked),
            "a\u{301}\u{301}\u{301}\u{301}⟨U+0301⟩⟨U+0301⟩"
        );
    }

    #[test]
    fn names_and_emoji_stay_whole() {
        for text in [
            "葛\u{e0100}城",
            "👨\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "日本語\u{3000}テスト",
            "שלום",
        ] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn a_cut_says_how_much_is_left_out() {
        assert_eq!(cut("窓口です", 2), ("窓口", 2));
        assert_eq!(cut("窓口", 2), ("窓口", 0));
    }
}
