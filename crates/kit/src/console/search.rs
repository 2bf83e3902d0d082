//! A field for a search, which leads to the same page with another query.

use super::link::Query;

#[derive(Debug, Clone)]
pub struct Search {
    /// The parameter of the query that gets the text.
    pub parameter: &'static str,
    pub label: String,
    /// The text that was searched for.
    pub value: String,
    /// On the button.
    pub button: String,
    /// The rest of the query.
    pub kept: Query,
}
