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

    pub fn text(text: impl Into<String>) -> Self {
        Self::Content(vec![
            serde_json::json!({ "type": "text", "text": text.into() }),
        ])
    }
}
