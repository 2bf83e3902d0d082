//! A client that answers questions, as the test says.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use kit::{
    BoxFuture, Error, Result,
    context::{Client, ClientRequest},
};
use serde_json::{Value, json};

#[derive(Default)]
pub struct Asked {
    /// The answer to `elicitation/create`; `None`: it never comes.
    pub answer: Option<Value>,
    /// Whether it answers with an error.
    pub fails: bool,
    pub is_stateless: bool,
    /// Whether it can't ask its user.
    pub is_mute: bool,
    /// What a stateless client sends with its next call.
    pub inputs: Mutex<Vec<(String, Value)>>,
    pub state: Mutex<Option<String>>,
    /// What it was asked, and how often it was told about progress.
    pub requests: Mutex<Vec<ClientRequest>>,
    pub progress: AtomicUsize,
}

impl Client for Asked {
    fn progress<'a>(
        &'a self,
        done: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> BoxFuture<'a, ()> {
        assert!(done <= total.unwrap_or(0.0), "{done} of {total:?}");
        assert!(message.unwrap().contains("/console/approvals#ap_"));
        self.progress.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }

    fn request<'a>(&'a self, request: ClientRequest) -> BoxFuture<'a, Result<Value>> {
        self.requests.lock().unwrap().push(request);
        Box::pin(async {
            match &self.answer {
                _ if self.fails => Err(Error::new("BROKEN", "The prompt is broken.")),
                Some(answer) => Ok(answer.clone()),
                None => std::future::pending().await,
            }
        })
    }

    fn is_stateless(&self) -> bool {
        self.is_stateless
    }

    fn capabilities(&self) -> Value {
        match self.is_mute {
            true => json!({}),
            false => json!({ "elicitation": {} }),
        }
    }

    fn input(&self, name: &str) -> Option<Value> {
        let inputs = self.inputs.lock().unwrap();
        let found = inputs.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.clone())
    }

    fn state(&self) -> Option<String> {
        self.state.lock().unwrap().clone()
    }
}
