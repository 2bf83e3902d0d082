//! What a handler is handed: who calls, in which language, what time it is, and
//! the way back to the client while the call runs. Cheap to clone.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use futures::future::BoxFuture;
use jiff::{civil::Date, tz::TimeZone};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use crate::language::Language;
use crate::{
    card::Card,
    error::{Error, Result},
    ids::CallId,
    sql::Budget,
    time::Clock,
};

#[derive(Clone)]
pub struct Context {
    /// Names this call in the log and to the caller.
    pub call: CallId,
    pub caller: Caller,
    pub language: Language,
    pub clock: Clock,
    /// The counter's own time zone, in which "tomorrow" is meant.
    pub zone: TimeZone,
    /// The card by which the desk let the call pass: what a person approved, or
    /// what was found to need no question. `None` where the policy asks nobody.
    pub card: Option<Arc<Card>>,
    /// Cancelled when the client gives up or goes away.
    pub cancel: CancellationToken,
    /// When the call's time limit runs out.
    pub deadline: Option<Instant>,
    pub client: Arc<dyn Client>,
    /// Whether the scope of the caller's key lists the tool that runs, rather
    /// than allowing it along with all others. Always false without a key.
    pub key_names_tool: bool,
    changes: Arc<Mutex<Vec<Change>>>,
}

impl Context {
    pub fn new(caller: Caller, clock: Clock, client: Arc<dyn Client>) -> Self {
        Self {
            call: CallId::new(),
            caller,
            language: Language::English,
            clock,
            zone: TimeZone::UTC,
            card: None,
            cancel: CancellationToken::new(),
            deadline: None,
            client,
            key_names_tool: false,
            changes: Arc::default(),
        }
    }

    /// What work for this call may take.
    pub fn budget(&self) -> Budget {
        Budget {
            deadline: self.deadline,
            cancel: self.cancel.clone(),
        }
    }

    /// An error when this is not what the call was let pass for. Work that has a
    /// recipient or changes something that exists asks in its transaction, for
    /// both can change after the question.
    pub fn check_card(&self, recipient: Option<&str>, state: Option<&str>) -> Result<()> {
        match &self.card {
            Some(card) => card.check(recipient, state),
            None => Ok(()),
        }
    }

    /// For work the program does on its own account, with no client behind it.
    pub fn of_the_desk(clock: Clock) -> Self {
        Self::new(Caller::desk(), clock, Arc::new(NoClient))
    }

    /// The day it is at the counter.
    pub fn today(&self) -> Date {
        self.clock.now_in(&self.zone).date()
    }

    /// Says that a resource changed. The desk tells subscribers once the work
    /// is committed, and not at all if it fails.
    pub fn changed(&self, change: Change) {
        self.changes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(change);
    }

    pub fn changes(&self) -> Vec<Change> {
        self.changes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub fn take_changes(&self) -> Vec<Change> {
        std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An error once the client has given up; handlers that loop call it.
    pub fn check_cancelled(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Error::cancelled());
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Resource(String),
    ResourceList,
    ToolList,
    PromptList,
}

/// What the id of a caller with a key begins with.
const KEY_PREFIX: &str = "key:";

/// Whom a call is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Stable: limits, audit and idempotency keys are counted per id.
    pub id: Arc<str>,
    /// For people.
    pub name: Arc<str>,
}

impl Caller {
    pub fn new(id: &str, name: &str) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
        }
    }

    /// Somebody who brought a key. The id stays the same when the key is rotated.
    pub fn with_key(id: &str, name: &str) -> Self {
        Self::new(&format!("{KEY_PREFIX}{id}"), name)
    }

    /// The id of the key that the caller brought.
    pub fn key(&self) -> Option<&str> {
        self.id.strip_prefix(KEY_PREFIX)
    }

    /// The user who started this process.
    pub fn local_user() -> Self {
        Self::new("local", "local user")
    }

    /// Somebody on a listener that asks for no key.
    pub fn anonymous() -> Self {
        Self::new("anonymous", "anonymous")
    }

    /// The program itself.
    pub fn desk() -> Self {
        Self::new("desk", "the desk")
    }
}

/// A request from server to client: `elicitation/create` and its kin, in the
/// protocol's own words.
#[derive(Debug, Clone)]
pub struct ClientRequest {
    pub method: String,
    pub params: Value,
}

/// The way back to the client while a call runs. What a client does not say
/// about itself is as if nobody were there.
pub trait Client: Send + Sync {
    /// Progress, if the client asked for it. Never an error: a client that
    /// went away is noticed elsewhere.
    fn progress<'a>(
        &'a self,
        _done: f64,
        _total: Option<f64>,
        _message: Option<String>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// A log line for clients of the handshake era.
    fn log<'a>(&'a self, _level: &'a str, _data: Value) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Asks a client of the handshake era and waits for its answer.
    fn request<'a>(&'a self, _request: ClientRequest) -> BoxFuture<'a, Result<Value>> {
        Box::pin(std::future::ready(Err(Error::new(
            "CLIENT_CANNOT_ANSWER",
            "There is no client to ask.",
        ))))
    }

    /// `true` when the client speaks the stateless era, in which questions are
    /// answered by [`crate::Reply::InputRequired`] and a repeated call.
    fn is_stateless(&self) -> bool {
        false
    }

    /// What the client can do, as it declared it: `{"elicitation": {}, …}`.
    fn capabilities(&self) -> Value {
        Value::Null
    }

    /// Answers to the requests of an earlier `InputRequired`.
    fn input(&self, _name: &str) -> Option<Value> {
        None
    }

    /// The state of an earlier `InputRequired`, checked by the desk.
    fn state(&self) -> Option<String> {
        None
    }
}

/// Nobody is there: background work and tests.
pub struct NoClient;

impl Client for NoClient {}
