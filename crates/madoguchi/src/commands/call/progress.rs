//! Tells the person at the command line why a call takes long.

use std::sync::{Mutex, PoisonError};

use kit::{BoxFuture, context::Client};

use crate::output::tell;

/// What the desk last reported. Each message is shown once, however often it is repeated.
#[derive(Default)]
pub struct Progress(Mutex<String>);

impl Progress {
    pub fn show(&self, message: &str) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != message {
            message.clone_into(&mut last);
            tell(message);
        }
    }
}

impl Client for Progress {
    fn progress<'a>(
        &'a self,
        _: f64,
        _: Option<f64>,
        message: Option<String>,
    ) -> BoxFuture<'a, ()> {
        if let Some(message) = message {
            self.show(&message);
        }
        Box::pin(std::future::ready(()))
    }

    fn is_stateless(&self) -> bool {
        true
    }

    fn capabilities(&self) -> serde_json::Value {
        serde_json::json!({})
    }
}
