//! The answer of a tool.

use std::sync::Arc;

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
    /// The same, of a read whose answer is given more than once.
    Kept(Arc<KeptReply>),
    /// The same as `Structured`, followed by blocks such as an image.
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

/// A structured answer that is kept, ready to be written.
#[derive(Debug)]
pub struct KeptReply {
    pub json: String,
    /// The JSON as a JSON string, with its quotes.
    pub quoted: String,
}

impl KeptReply {
    pub fn new(json: String) -> Result<Self> {
        let quoted = serde_json::to_string(&json).map_err(Error::internal)?;
        Ok(Self { json, quoted })
    }
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
            Self::Kept(kept) => Some(&kept.json),
            Self::Content(_) | Self::InputRequired { .. } => None,
        }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::Content(vec![
            serde_json::json!({ "type": "text", "text": text.into() }),
        ])
    }
}
