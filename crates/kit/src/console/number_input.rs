//! Whole numbers that a person enters.

#[derive(Debug, Clone)]
pub struct NumberInput {
    pub argument: &'static str,
    pub label: String,
    /// What is in the field at first.
    pub value: i64,
    pub least: i64,
    pub most: i64,
}
