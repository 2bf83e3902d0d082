//! Who asks something of the store, and for how long.

use jiff::Timestamp;
use kit::{Context, sql::Budget, time::Clock};

use crate::model::owners::Actor;

#[derive(Clone)]
pub struct Call {
    pub actor: Actor,
    /// Whether the scope of the caller's key names the tool that is called.
    pub key_names_tool: bool,
    pub clock: Clock,
    pub budget: Budget,
}

impl Call {
    pub fn of(context: &Context) -> Self {
        Self {
            actor: Actor::of(context),
            key_names_tool: context.key_names_tool,
            clock: context.clock.clone(),
            budget: context.budget(),
        }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
