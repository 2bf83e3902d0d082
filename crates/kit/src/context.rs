//! What a handler gets besides its arguments: the caller, the language, the clock,
//! and the connection to the client while the call runs. Cheap to clone.

use std::{
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Instant,
};

use futures::future::BoxFuture;
use jiff::{Timestamp, civil::Date, tz::TimeZone};
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
    /// The counter's time zone, which decides what "tomorrow" is.
    pub zone: TimeZone,
    /// The card of a call that was approved or found exempt. `None` if the policy
    /// needs no approval.
    pub card: Option<Arc<Card>>,
    /// Cancelled when the client cancels or disconnects.
    pub cancel: CancellationToken,
    /// When the call's time limit ends.
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

    /// The time limit and the cancellation of this call.
    pub fn budget(&self) -> Budget {
        Budget {
            deadline: self.deadline,
            cancel: self.cancel.clone(),
        }
    }

    /// An error if the call was approved for another recipient or version. Work that
    /// has one checks it in its transaction, since both can change after the approval.
    pub fn check_card(&self, recipient: Option<&str>, state: Option<&str>) -> Result<()> {
        match &self.card {
            Some(card) => card.check(recipient, state),
            None => Ok(()),
        }
    }

    /// When words such as "tomorrow" in the arguments were said: when the user was
    /// asked about them, else now. So the call does what the card showed.
    pub fn asked_at(&self) -> Timestamp {
        let asked_at = self.card.as_ref().and_then(|card| card.asked_at);
        asked_at
            .and_then(|at| Timestamp::from_millisecond(at).ok())
            .unwrap_or_else(|| self.clock.now())
    }

    /// For work of the program itself, without a client.
    pub fn of_the_desk(clock: Clock) -> Self {
        Self::new(Caller::desk(), clock, Arc::new(NoClient))
    }

    /// Today in the counter's time zone.
    pub fn today(&self) -> Date {
        self.clock.now_in(&self.zone).date()
    }

    /// Reports a change. The desk tells subscribers once the work is committed, and
    /// not at all if it fails.
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

    /// An error once the call is cancelled; for handlers that loop.
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
    /// Something that no resource shows, but the counter's page in the console does.
    Page,
}

/// Prefix of the ids of callers with a key.
const KEY_PREFIX: &str = "key:";

/// Who makes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Stable: limits, audit and idempotency keys are per id.
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

    /// A caller with a key. The id stays the same when the key is rotated.
    pub fn with_key(id: &str, name: &str) -> Self {
        Self::new(&format!("{KEY_PREFIX}{id}"), name)
    }

    /// The id of the caller's key.
    pub fn key(&self) -> Option<&str> {
        self.id.strip_prefix(KEY_PREFIX)
    }

    /// The user who started this process.
    pub fn local_user() -> Self {
        static CALLER: LazyLock<Caller> = LazyLock::new(|| Caller::new("local", "local user"));
        CALLER.clone()
    }

    /// A caller without a key, on a listener that needs none.
    pub fn anonymous() -> Self {
        static CALLER: LazyLock<Caller> = LazyLock::new(|| Caller::new("anonymous", "anonymous"));
        CALLER.clone()
    }

    /// A person at the console.
    pub fn console() -> Self {
        static CALLER: LazyLock<Caller> = LazyLock::new(|| Caller::new("console", "console"));
        CALLER.clone()
    }

    /// The program itself.
    pub fn desk() -> Self {
        Self::new("desk", "the desk")
    }
}

/// A request from server to client, such as `elicitation/create`, as the protocol
/// spells it.
#[derive(Debug, Clone)]
pub struct ClientRequest {
    pub method: String,
    pub params: Value,
}

/// The connection to the client while a call runs. The default methods behave as if
/// there were no client.
pub trait Client: Send + Sync {
    /// Reports progress, if the client asked for it. Never fails: a disconnected
    /// client is detected elsewhere.
    fn progress<'a>(
        &'a self,
        _done: f64,
        _total: Option<f64>,
        _message: Option<String>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Sends a log line to a client of the handshake era.
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

    /// `true` for a client of the stateless era. It is asked by
    /// [`crate::Reply::InputRequired`], and answers in a repeated call.
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

/// No client: for background work and tests.
pub struct NoClient;

impl Client for NoClient {}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        Context::of_the_desk(Clock::fixed(Timestamp::UNIX_EPOCH))
    }

    #[test]
    fn without_a_client_nobody_is_asked_in_a_repeated_call() {
        assert!(!NoClient.is_stateless());
    }

    #[test]
    fn words_count_from_when_the_user_was_asked() {
        let mut context = context();
        assert_eq!(context.asked_at(), Timestamp::UNIX_EPOCH);
        context.card = Some(Arc::new(Card {
            asked_at: Some(5),
            ..Card::default()
        }));
        assert_eq!(context.asked_at().as_millisecond(), 5);
    }

    #[test]
    fn a_call_without_a_card_needs_no_check_of_it() {
        let mut context = context();
        assert!(context.check_card(Some("ann"), None).is_ok());
        context.card = Some(Arc::default());
        assert!(context.check_card(None, None).is_ok());
        assert!(context.check_card(Some("ann"), None).is_err());
    }

    #[test]
    fn changes_are_taken_once_and_a_cancelled_call_ends() {
        let context = context();
        context.changed(Change::Page);
        assert_eq!(context.changes(), [Change::Page]);
        assert_eq!(context.take_changes(), [Change::Page]);
        assert!(context.changes().is_empty());
        assert!(context.check_cancelled().is_ok());
        assert!(!context.budget().cancel.is_cancelled());
        context.cancel.cancel();
        assert!(context.check_cancelled().is_err());
        assert!(context.budget().cancel.is_cancelled());
    }

    #[test]
    fn today_is_the_day_at_the_counter() {
        let mut context = context();
        assert_eq!(context.today().to_string(), "1970-01-01");
        context.zone = TimeZone::get("America/New_York").unwrap();
        assert_eq!(context.today().to_string(), "1969-12-31");
        let today = crate::Today::of(&context).sentence();
        assert_eq!(today, "1969-12-31 (America/New_York)");
    }

    #[test]
    fn the_callers_key_is_in_the_id() {
        assert_eq!(Caller::with_key("k1", "phone").key(), Some("k1"));
        assert_eq!(Caller::console().key(), None);
    }
}
