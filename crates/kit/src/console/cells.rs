//! What can be in a cell of a table, or beside a name.

use jiff::Zoned;

use super::{link::Query, tag::Tag};

#[derive(Debug, Clone)]
pub enum Cell {
    /// Cut if it is very long.
    Text(String),
    /// Shown whole, with its line breaks.
    LongText(String),
    /// A link to the same page with another query.
    Link {
        label: String,
        query: Query,
    },
    /// Shown in the reader's zone, with the one here beside it where their clocks differ.
    Time(Zoned),
    Tag(Tag),
    /// The id of a caller. Its name is shown, and leads to what else it did.
    Caller(String),
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}
