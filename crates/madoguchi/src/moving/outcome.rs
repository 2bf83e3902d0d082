//! What was moved.

/// For the person, and for programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct MovedData {
    /// Where it is now, without a password.
    pub to: String,
    pub tables: usize,
    pub rows: u64,
    pub audit_records: u64,
    pub rooms: usize,
    pub messages: usize,
}
