//! Links to other views of the page.

/// The query of an address of the page.
pub type Query = Vec<(&'static str, String)>;

/// A link to the same page with another query.
#[derive(Debug, Clone)]
pub struct PageLink {
    pub label: String,
    /// Beside the link.
    pub note: String,
    pub query: Query,
    /// Whether it is what the page shows now.
    pub is_current: bool,
}

impl PageLink {
    pub fn new(label: impl Into<String>, query: Query) -> Self {
        Self {
            label: label.into(),
            note: String::new(),
            query,
            is_current: false,
        }
    }
}
