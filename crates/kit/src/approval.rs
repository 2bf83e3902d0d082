//! How a tool describes a call to the person who is asked to approve it.

use std::sync::Arc;

use serde_json::Value;

pub use crate::card::{Card, Line, state_changed};
use crate::{context::Context, error::Result, sql::Sql};

/// Reads what it needs from the counter's store, in the language of the context.
pub type Describe = Arc<dyn Fn(&Context, &mut dyn Sql, &Value) -> Result<Card> + Send + Sync>;
