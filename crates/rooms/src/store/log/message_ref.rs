//! A message that an agent has reached, or a page has ended with.

/// A message's id, and its number in the index when that was of this generation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageRef {
    pub id: String,
    pub number: usize,
    pub generation: Option<u64>,
}

impl MessageRef {
    /// As an opaque cursor for callers.
    pub fn to_cursor(&self) -> String {
        format!("{}~{}", self.id, self.number)
    }

    /// Reads a cursor; an id by itself is one too.
    pub fn from_cursor(cursor: &str) -> Self {
        let parts = cursor.rsplit_once('~');
        let parts = parts.and_then(|(id, number)| Some((id, number.parse().ok()?)));
        let (id, number) = parts.unwrap_or((cursor, usize::MAX));
        Self {
            id: id.to_owned(),
            number,
            generation: None,
        }
    }
}
