//! What a field of a form may hold at first.

use kit::text::{Piece, pieces};

/// A text that can be in a field: the tool accepts it, and it looks like what it is.
/// Other texts of people stay as they are, unless something else is entered.
pub fn editable(text: &str, most: usize) -> String {
    let is_plain = pieces(text).all(|piece| matches!(piece, Piece::Plain(_)));
    let fits = is_plain && text.chars().count() <= most;
    Some(text).filter(|_| fits).unwrap_or_default().to_owned()
}
