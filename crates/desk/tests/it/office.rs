//! A desk in this process, with a clock that the test sets, and the people who call it.

use std::sync::Arc;

use desk::{
    DESK, Desk, ServedCounter, Settings,
    approvals::{Approval, Decision, Status},
    audit::{self, AuditLocation, Filter},
    key_change,
    keys::{self, NewKey},
    methods::TOOLS_CALL,
    pipeline::{Admitted, Answer, Refusal, ToolCall},
    state::{DeskState, OpenState, Secret},
    stations::identify::Credentials,
    tables::TABLES,
};
use jiff::Timestamp;
use kit::{
    Caller, Error, Reply, Sql, Store,
    context::{Client, NoClient},
    sql::Budget,
    time::Clock,
};
use serde_json::Value;
use store::testing::{self, Scratch};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::counter::{self, NAME, Work};

pub const NOW: i64 = 1_800_000_000_000;
pub const TEN_MINUTES: i64 = 600_000;
pub const DAY: i64 = 86_400_000;

pub struct Office {
    pub desk: Arc<Desk>,
    pub work: Arc<Work>,
    pub store: Arc<dyn Store>,
    scratch: Scratch,
    _directory: TempDir,
}

impl Office {
    pub async fn open(change: impl FnOnce(&mut Settings)) -> Self {
        Self::on(testing::sqlite().await, change).await
    }

    /// A desk on a database of either engine. Nobody waits for an approval, unless the
    /// settings say so.
    pub async fn on(scratch: Scratch, change: impl FnOnce(&mut Settings)) -> Self {
        let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
        for migrations in TABLES.into_iter().chain([counter::MIGRATIONS]) {
            store.migrate(migrations).await.unwrap();
        }
        let directory = tempfile::tempdir().unwrap();
        let secret = Secret::random();
        let rows = Arc::clone(&store);
        let state = DeskState::new(move || {
            let state = OpenState::new(Arc::clone(&rows), secret.clone());
            Box::pin(std::future::ready(Ok(state)))
        });
        let is_embedded = store.engine() == "sqlite";
        let state = Arc::new(match is_embedded {
            true => state.with_limits_in(directory.path().join("limits")),
            false => state,
        });
        let trail = match is_embedded {
            true => AuditLocation::Directory(directory.path().join("audit")),
            false => AuditLocation::Table(Arc::clone(&state)),
        };
        let mut settings = Settings::default();
        settings.approval.hold_seconds = 0;
        change(&mut settings);
        let work = Arc::new(Work::default());
        let counters = vec![counter::counter(&work, &store)];
        let clock = Clock::fixed(Timestamp::from_millisecond(NOW).unwrap());
        let desk = Desk::new(counters, settings, clock, state).unwrap();
        // From the start, as in the program.
        desk.state.get().await.unwrap();
        Self {
            desk: Arc::new(desk.audited(&trail).unwrap()),
            work,
            store,
            scratch,
            _directory: directory,
        }
    }

    pub fn served(&self) -> &Arc<ServedCounter> {
        self.desk.counter(NAME).unwrap()
    }

    pub fn now(&self) -> i64 {
        self.desk.clock.now().as_millisecond()
    }

    /// Sets the clock forward.
    pub fn pass(&self, ms: i64) {
        let later = Timestamp::from_millisecond(self.now() + ms).unwrap();
        self.desk.clock.set(later);
    }

    /// A caller without a key.
    pub fn anonymous(&self) -> Visitor<'_> {
        self.visitor(Credentials::Nothing {
            key_required: false,
        })
    }

    /// The user who started the process.
    pub fn local_user(&self) -> Visitor<'_> {
        self.visitor(Credentials::LocalUser)
    }

    /// The user at the console.
    pub fn console(&self) -> Visitor<'_> {
        self.visitor(Credentials::Console)
    }

    /// Somebody with a new key.
    pub async fn with_key(&self, wanted: NewKey) -> Visitor<'_> {
        let (_, key) = self.create_key(wanted).await;
        self.visitor(Credentials::Key(key))
    }

    pub async fn create_key(&self, wanted: NewKey) -> (keys::StoredKey, String) {
        let created = key_change::create(&self.desk, Caller::local_user(), wanted);
        created.await.unwrap()
    }

    pub fn visitor(&self, credentials: Credentials) -> Visitor<'_> {
        Visitor {
            office: self,
            credentials,
            client: Arc::new(NoClient),
            cancel: CancellationToken::new(),
        }
    }

    /// The questions that wait for the user.
    pub async fn waiting(&self) -> Vec<Approval> {
        let waiting = self.desk.approvals.list(Some(Status::Pending), 100).await;
        waiting.unwrap()
    }

    /// Decides the one question that waits.
    pub async fn decide(&self, decision: Decision) -> Approval {
        let waiting = self.waiting().await;
        let [question] = waiting.as_slice() else {
            panic!("{waiting:?}");
        };
        let decided = self.desk.approvals.decide(&question.id, decision, "a test");
        decided.await.unwrap()
    }

    pub async fn approve(&self) -> Approval {
        self.decide(Decision::Once).await
    }

    /// The first column of the rows that a query finds.
    pub async fn texts(&self, query: &'static str) -> Vec<String> {
        let read = move |sql: &mut dyn Sql| {
            let rows = sql.query(query, &[])?;
            rows.iter().map(|row| row.text(0)).collect()
        };
        self.store.query(Budget::default(), read).await.unwrap()
    }

    pub async fn notes(&self) -> Vec<String> {
        self.texts("SELECT text FROM office_notes ORDER BY id")
            .await
    }

    /// The records of the trail about callers of the counter. The desk stops for it.
    pub async fn records(self) -> Vec<Value> {
        let mut all = self.all_records().await;
        all.retain(|record| record["counter"] != DESK);
        all
    }

    /// All records, without those that begin and end segments.
    pub async fn all_records(self) -> Vec<Value> {
        self.desk.finish().await;
        self.desk.audit.close().await;
        let trail = Arc::clone(self.desk.audit.trail.as_ref().unwrap());
        let find = move |store: &dyn audit::AuditStore, _: &tokio::runtime::Handle| {
            let filter = Filter {
                personal: true,
                ..Filter::default()
            };
            audit::find(store, &filter, None, audit::UNWATCHED)
        };
        let store = Arc::clone(&trail.store);
        let found = audit::blocking(&store, find).await.unwrap();
        found.into_iter().map(|record| record.json).collect()
    }

    pub async fn close(self) {
        self.desk.finish().await;
        self.desk.audit.close().await;
        drop(self.desk);
        self.scratch.database.close().await.unwrap();
    }
}

/// Somebody who calls the desk.
pub struct Visitor<'a> {
    office: &'a Office,
    pub credentials: Credentials,
    pub client: Arc<dyn Client>,
    pub cancel: CancellationToken,
}

impl Visitor<'_> {
    pub fn with_client(self, client: &Arc<impl Client + 'static>) -> Self {
        let client: Arc<dyn Client> = client.clone();
        Self { client, ..self }
    }

    pub async fn admitted(&self) -> Result<Admitted, Refusal> {
        let (office, method) = (self.office, TOOLS_CALL.name);
        let served = office.served();
        office.desk.admit(served, &self.credentials, method).await
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Answer, Refusal> {
        let call = ToolCall {
            admitted: self.admitted().await?,
            name: tool.into(),
            arguments: arguments.as_object().unwrap().clone(),
            client: Arc::clone(&self.client),
            cancel: self.cancel.clone(),
            language: None,
        };
        self.office.desk.call(self.office.served(), call).await
    }

    pub async fn reply(&self, tool: &str, arguments: Value) -> Result<Reply, Error> {
        self.call(tool, arguments).await.unwrap().result
    }

    pub async fn ok(&self, tool: &str, arguments: Value) -> Value {
        match self.reply(tool, arguments).await {
            Ok(reply) => reply.json().unwrap().parse().unwrap(),
            Err(error) => panic!("{tool}: {error} {:?}", error.cause),
        }
    }

    pub async fn refused(&self, tool: &str, arguments: Value) -> Error {
        match self.reply(tool, arguments).await {
            Ok(reply) => panic!("{tool} was not refused: {reply:?}"),
            Err(error) => error,
        }
    }

    /// Makes a call that has to wait for the user.
    pub async fn asks(&self, tool: &str, arguments: Value) {
        assert_eq!(self.code(tool, arguments).await, "APPROVAL_REQUIRED");
    }

    pub async fn code(&self, tool: &str, arguments: Value) -> String {
        self.refused(tool, arguments).await.code.into_owned()
    }
}
