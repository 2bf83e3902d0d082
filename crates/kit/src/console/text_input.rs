//! Texts that a person enters.

#[derive(Debug, Clone, Default)]
pub struct TextInput {
    pub argument: &'static str,
    pub label: String,
    /// Below the field.
    pub hint: String,
    /// What is in the field at first.
    pub value: String,
    pub is_required: bool,
    pub kind: TextKind,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextKind {
    #[default]
    Line,
    Date,
    /// Several lines.
    Lines,
    /// Several lines of Markdown. They can be seen as a reader would see them before they
    /// are sent.
    Markdown,
}

/// One of several values.
#[derive(Debug, Clone)]
pub struct Choice {
    pub argument: &'static str,
    pub label: String,
    /// What the argument gets, and what the person reads.
    pub options: Vec<(String, String)>,
    pub chosen: String,
}
