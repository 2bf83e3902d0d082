//! What commands print. Parts of it come from agents, other servers and files, so
//! nothing in it may move the cursor, change colours or the reading direction, or be
//! invisible.

mod styled;
mod table;

use std::{
    fmt::Write as _,
    io::{self, Write},
    process::ExitCode,
};

use kit::{
    Error, Result,
    text::{Piece, pieces, visible},
};
use serde::Serialize;

pub use styled::{Look, Styled, report};
pub use table::{Cell, aligned, table};

/// Prints a command's answer to stdout.
pub fn print(text: &str) -> Result<ExitCode> {
    let text = shown(text);
    let mut out = io::stdout().lock();
    ended(out.write_all(text.as_bytes()).and_then(|()| {
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    }))
}

/// The end of a command that printed its answer. A closed pipe is no error.
fn ended(written: io::Result<()>) -> Result<ExitCode> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::internal(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Prints a remark to stderr.
pub fn tell(text: &str) {
    eprintln!("{}", shown(text));
}

/// JSON on several lines, for people and programs.
pub fn pretty(value: &impl Serialize) -> String {
    escaped(&serde_json::to_string_pretty(value).unwrap_or_default())
}

/// JSON on one line.
pub fn compact(value: &impl Serialize) -> String {
    escaped(&serde_json::to_string(value).unwrap_or_default())
}

/// Makes hidden characters visible, as `kit::text::visible` does. Spaces, tabs and
/// line breaks stay, since the command itself writes them.
fn shown(text: &str) -> String {
    let is_own = |character: char| matches!(character, ' ' | '\n' | '\t');
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive(is_own) {
        let word = part.trim_end_matches(is_own);
        shown.push_str(&visible(word));
        shown.push_str(part.get(word.len()..).unwrap_or_default());
    }
    shown
}

/// The same JSON with invisible characters escaped. They only occur in strings.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        let alone = pieces(character.encode_utf8(&mut [0; 4])).next();
        match alone {
            Some(Piece::Hidden(_)) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    // Writing to a string does not fail.
                    let _ = write!(escaped, "\\u{unit:04x}");
                }
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_or_hides_is_marked() {
        assert_eq!(
            shown("a\u{1b}[2Kb\n\u{9b}\r \u{202e}x\t葛\u{e0100}城"),
            "a⟨U+001B⟩[2Kb\n⟨U+009B⟩⟨U+000D⟩ ⟨U+202E⟩x\t葛\u{e0100}城"
        );
        let wide = format!("a{}b\n\n\n\n\nc", " ".repeat(100));
        assert_eq!(shown(&wide), wide, "columns stay columns");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({ "a\u{9b}": "\u{1b}\u{7f}\u{202e}\u{e0041}\n" });
        for text in [pretty(&value), compact(&value)] {
            assert!(
                text.chars().all(|it| it == '\n' || !it.is_control()),
                "{text}"
            );
            assert!(text.is_ascii(), "{text}");
            let read: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(read, value);
        }
    }
}
