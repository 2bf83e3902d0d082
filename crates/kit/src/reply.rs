//! The answer of a tool.

use serde::Serialize;
use serde_json::Value;

use crate::{
    context::ClientRequest,
    error::{Error, Result},
};

#[derive(Debug, Clone)]
pub enum Reply {
    /// `structuredContent` as JSON text. It is serialised once; `content[0]` has the
    /// same text.
    Structured(String),
    /// The same, followed by blocks such as an image.
    Illustrated { json: String, blocks: Vec<Value> },
    /// Content blocks as the protocol spells them, without structured content.
    Content(Vec<Value>),
    /// The tool needs answers from the client before it can continue. Only for clients
    /// of the stateless era; [`crate::context::Client::request`] asks the others.
    InputRequired {
        requests: Vec<(String, ClientRequest)>,
        state: Option<String>,
    },
}

impl Reply {
    pub fn structured(output: &impl Serialize) -> Result<Self> {
        serde_json::to_string(output)
            .map(Self::Structured)
            .map_err(Error::internal)
    }

    /// `structuredContent`, if the reply has any.
    pub fn json(&self) -> Option<&str> {
        match self {
            Self::Structured(json) | Self::Illustrated { json, .. } => Some(json),
            Self::Content(_) | Self::InputRequired { .. } => None,
        }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::Content(vec![
            serde_json::json!({ "type": "text", "text": text.into() }),
        ])
    }
}
