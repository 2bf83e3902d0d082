//! Prompts: texts a person picks to set an agent to work.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{BoxFuture, Context, Error, Result, context::ClientRequest, error::INVALID_ARGUMENT};

pub struct Prompt {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub arguments: Vec<Argument>,
    /// The tools that the prompt is about. A caller needs the right to all of
    /// them; at least one.
    pub tools: &'static [&'static str],
    pub render: Render,
}

impl Prompt {
    pub fn check_arguments(&self, arguments: &Map<String, Value>) -> Result<()> {
        let mut required = self.arguments.iter().filter(|argument| argument.required);
        match required.find(|argument| !arguments.contains_key(argument.name)) {
            None => Ok(()),
            Some(missing) => Err(Error::new(
                INVALID_ARGUMENT,
                format!("The argument `{}` is missing.", missing.name),
            )
            .next("prompts/list names the arguments.")),
        }
    }
}

type Render =
    Arc<dyn Fn(Context, Map<String, Value>) -> BoxFuture<'static, Result<Rendered>> + Send + Sync>;

#[derive(Debug, Clone)]
pub enum Rendered {
    Messages(Vec<Message>),
    /// As [`crate::Reply::InputRequired`], for prompts.
    InputRequired {
        requests: Vec<(String, ClientRequest)>,
        state: Option<String>,
    },
}

#[derive(Debug, Clone)]
pub struct Argument {
    pub name: &'static str,
    pub description: &'static str,
    pub required: bool,
}

/// One message of a rendered prompt; `content` is a content block.
#[derive(Debug, Clone)]
pub struct Message {
    pub role: Role,
    pub content: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
}

impl Message {
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            content: serde_json::json!({ "type": "text", "text": text.into() }),
        }
    }
}
