//! Changes of resources, on their way to subscribers.

use kit::context::Change;

use crate::desk::Window;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event(pub Change);

impl Window {
    /// Tells subscribers. Called once the change is committed.
    pub fn publish(&self, changes: impl IntoIterator<Item = Change>) {
        for change in changes {
            // An error only means that nobody listens.
            let _ = self.events.send(Event(change));
        }
    }
}
