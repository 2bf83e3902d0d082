//! Forms that call a tool.

use serde_json::Value;

use super::{
    number_input::NumberInput,
    plan::Plan,
    text_input::{Choice, TextInput},
};

#[derive(Debug, Clone)]
pub struct Action {
    /// The name of a tool of the counter.
    pub tool: &'static str,
    /// On the button.
    pub label: String,
    /// Arguments that the person does not choose.
    pub fixed: Vec<(&'static str, Value)>,
    pub inputs: Vec<Input>,
}

/// What the person chooses: one argument of the tool.
#[derive(Debug, Clone)]
pub enum Input {
    /// Some places on a plan. The argument is a list.
    Plan(Plan),
    /// A line of text.
    Line {
        argument: &'static str,
        label: String,
    },
    Text(TextInput),
    Choice(Choice),
    Number(NumberInput),
}
