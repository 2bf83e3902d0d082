//! What a tool answers with.

use serde::Serialize;
use serde_json::Value;

use crate::{
    context::ClientRequest,
    error::{Error, Result},
};

#[derive(Debug, Clone)]
pub enum Reply {
    /// `structuredContent`, as JSON text. It is serialised once; the same text
    /// stands in `content[0]`.
    Structured(String),
    /// Content blocks in the protocol's own shape, without structured content.
    Content(Vec<Value>),
    /// The tool needs something from the client before it can go on. Only for
    /// clients of the stateless era; [`crate::context::Client::request`] asks the others.
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
