//! Work between calls, which the store does: it notices what other processes do and who
//! is idle, and takes agents offline when this process ends.

use std::sync::Arc;

use kit::{
    BoxFuture,
    counter::{Announce, Background},
};

use crate::state::CounterState;

pub struct Caretaker {
    state: Arc<CounterState>,
}

impl Caretaker {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
        }
    }
}

impl Background for Caretaker {
    fn start(&self, announce: Announce) {
        self.state.store.start(announce);
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.state.store.stop()
    }
}
