//! The client of a call: what its prompt answers, and when it leaves.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use kit::{BoxFuture, Result, context::ClientRequest};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{
    case::{Decision, Prompt, When},
    counter::Log,
};

/// A client of the handshake era, which can ask its user.
pub struct Client {
    pub prompt: Prompt,
    pub told: Arc<Told>,
}

/// What the desk told a client. It outlives the client, which the test waits for
/// to be dropped.
#[derive(Default)]
pub struct Told {
    /// How often its prompt was asked.
    pub prompts: AtomicUsize,
    /// The call waits for a person: the first progress says so.
    pub held: Notify,
}

impl kit::context::Client for Client {
    fn progress<'a>(&'a self, _: f64, _: Option<f64>, _: Option<String>) -> BoxFuture<'a, ()> {
        self.told.held.notify_one();
        Box::pin(std::future::ready(()))
    }

    fn request<'a>(&'a self, _: ClientRequest) -> BoxFuture<'a, Result<Value>> {
        self.told.prompts.fetch_add(1, Ordering::SeqCst);
        let accept =
            |decision: &str| json!({ "action": "accept", "content": { "decision": decision } });
        let answer = match self.prompt {
            Prompt::Answers(Decision::Once) => accept("once"),
            Prompt::Answers(Decision::Always) => accept("always"),
            Prompt::Answers(Decision::Deny) => json!({ "action": "decline" }),
            Prompt::Closes | Prompt::None => json!({ "action": "cancel" }),
        };
        Box::pin(std::future::ready(Ok(answer)))
    }

    fn capabilities(&self) -> Value {
        match self.prompt {
            Prompt::None => json!({}),
            _ => json!({ "elicitation": {} }),
        }
    }
}

/// Polls a call until its client leaves; `None` when that came first.
pub async fn until<F: Future + ?Sized>(
    mut call: Pin<&mut F>,
    when: When,
    log: &Log,
) -> Option<F::Output> {
    match when {
        When::Polls(most) => polls(call, most, false).await,
        When::Woken(most) => polls(call, most, true).await,
        When::Yields(most) => {
            let yields = async {
                for _ in 0..most {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                biased;
                answer = &mut call => Some(answer),
                () = yields => None,
            }
        }
        When::Begun => {
            let mut count = log.count();
            count.borrow_and_update();
            tokio::select! {
                biased;
                answer = &mut call => Some(answer),
                _ = count.changed() => None,
            }
        }
    }
}

/// `woken`: leaves when the call could go on, instead of as soon as it waits.
async fn polls<F: Future + ?Sized>(
    mut call: Pin<&mut F>,
    most: usize,
    woken: bool,
) -> Option<F::Output> {
    let mut polls = 0;
    poll_fn(|context| {
        if polls == most {
            return Poll::Ready(None);
        }
        polls += 1;
        match call.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending if polls == most && !woken => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
