//! Lists of things, each with what a person should know about it.

use super::{link::Query, tag::Tag};

#[derive(Debug, Clone, Default)]
pub struct ListItem {
    pub label: String,
    /// Where the label leads.
    pub query: Option<Query>,
    /// Whether it is what the page shows now.
    pub is_current: bool,
    pub tags: Vec<Tag>,
    /// Below the label.
    pub note: String,
    /// When it last changed.
    pub at_ms: Option<i64>,
    /// Links to what can be done with it.
    pub more: Vec<(String, Query)>,
}
