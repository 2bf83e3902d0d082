//! A conversation.

use super::link::PageLink;

#[derive(Debug, Clone, Default)]
pub struct Messages {
    /// What the conversation is called.
    pub label: String,
    /// Oldest first.
    pub items: Vec<Message>,
    pub older: Option<PageLink>,
    /// Back to the newest.
    pub newest: Option<PageLink>,
}

#[derive(Debug, Clone, Default)]
pub struct Message {
    pub id: String,
    pub author: String,
    pub at_ms: Option<i64>,
    pub text: String,
    /// Who is mentioned.
    pub mentions: Vec<String>,
    /// The beginning of the message that it answers.
    pub answers: Option<String>,
    /// Whether the person who looks at the page wrote it.
    pub is_own: bool,
}
