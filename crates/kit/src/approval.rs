//! How a tool describes a call to the person who is asked to approve it.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use crate::card::{Card, CardLine, state_changed};
use crate::{context::Context, error::Result, handler::typed, sql::Sql};

/// Describes a call in the language of the context. It may read the counter's store.
pub type Describe = Arc<dyn Fn(&Context, &mut dyn Sql, &Value) -> Result<Card> + Send + Sync>;

/// A [`Describe`] from a typed function, like a tool's handler.
pub fn describe<S, I>(
    state: &Arc<S>,
    card: fn(&S, &Context, &mut dyn Sql, I) -> Result<Card>,
) -> Describe
where
    S: Send + Sync + 'static,
    I: DeserializeOwned + 'static,
{
    let state = Arc::clone(state);
    Arc::new(move |context, sql, arguments| card(&state, context, sql, typed(arguments.clone())?))
}
