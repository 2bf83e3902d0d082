//! A desk in this process, with tools of the test's own.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use desk::{
    Settings,
    approvals::{Decision, Status},
    ledger,
    pipeline::{Answer, ToolCall},
    settings::Policy,
    state::{DeskState, OpenState, Secret},
    stations::identify::Credentials,
};
use kit::{
    About, Context, Counter, Effect, Error, Hints, Reply, Run, Store, Tool, Ways,
    context::NoClient,
    sql::Budget,
    time::Clock,
    tool::{InnerCall, TIME_LIMIT, as_is},
};
use serde_json::{Map, Value, json};
use store::{Database, Options, url::DatabaseUrl};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// What the tools `act` and `fails` have done.
pub struct Acts {
    pub begun: AtomicUsize,
    pub ended: AtomicUsize,
    /// A call ends when it gets one of these.
    pub may_end: Semaphore,
}

pub struct OwnDesk {
    pub desk: Arc<desk::Desk>,
    pub acts: Arc<Acts>,
    database: Database,
    _directory: tempfile::TempDir,
}

impl OwnDesk {
    /// `policies` by the tools' names: `act`, `look` and `bundle`. With `url`
    /// the rows are there, else in a file.
    pub async fn open(
        url: Option<&str>,
        policies: &[(&str, Policy)],
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("desk.db");
        let own = format!("sqlite:///{}", file.display());
        let url = DatabaseUrl::parse(url.unwrap_or(&own)).unwrap();
        let database = Database::open(&url, Options::default()).await.unwrap();
        let rows: Arc<dyn Store> = Arc::new(database.clone());
        rows.migrate(ledger::MIGRATIONS).await.unwrap();
        rows.migrate(kit::usage::MIGRATIONS).await.unwrap();
        let mut settings = Settings::default();
        settings.approval.hold_seconds = 0;
        let policies = policies
            .iter()
            .map(|(tool, policy)| (format!("own.{tool}"), *policy));
        settings.approval.tools = BTreeMap::from_iter(policies);
        change(&mut settings);
        let acts = Arc::new(Acts {
            begun: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            may_end: Semaphore::new(0),
        });
        let secret = Secret::random();
        let state = DeskState::new(move || {
            let state = OpenState::new(Arc::clone(&rows), secret.clone());
            Box::pin(std::future::ready(Ok(state)))
        });
        let counters = vec![counter(&acts)];
        let desk = desk::Desk::new(counters, settings, Clock::system(), Arc::new(state)).unwrap();
        Self {
            desk: Arc::new(desk),
            acts,
            database,
            _directory: directory,
        }
    }

    pub fn begun(&self) -> usize {
        self.acts.begun.load(Ordering::SeqCst)
    }

    pub async fn call(&self, tool: &str, arguments: Value, cancel: &CancellationToken) -> Answer {
        let window = self.desk.window("own").unwrap();
        let credentials = Credentials::Nothing {
            key_required: false,
        };
        let method = desk::methods::TOOLS_CALL.name;
        let admitted = self.desk.admit(window, &credentials, method).await.unwrap();
        let call = ToolCall {
            admitted,
            name: tool.into(),
            arguments: arguments.as_object().unwrap().clone(),
            client: Arc::new(NoClient),
            cancel: cancel.clone(),
            language: None,
        };
        self.desk.call(window, call).await.unwrap()
    }

    pub async fn result(&self, tool: &str, arguments: Value) -> Result<Value, Error> {
        let answer = self.call(tool, arguments, &CancellationToken::new()).await;
        answer.result.map(|reply| match reply {
            Reply::Structured(json) => json.parse().unwrap(),
            other => panic!("{other:?}"),
        })
    }

    /// The code of a refusal.
    pub async fn refused(&self, tool: &str, arguments: Value) -> String {
        let error = self.result(tool, arguments).await.unwrap_err();
        error.code.into_owned()
    }

    /// Decides the one question that waits.
    async fn decide(&self, decision: Decision) {
        let approvals = &self.desk.approvals;
        let pending = approvals.list(Some(Status::Pending), 10).await.unwrap();
        let [question] = pending.as_slice() else {
            panic!("{pending:?}");
        };
        let decided = approvals.decide(&question.id, decision, "a test");
        decided.await.unwrap();
    }

    pub async fn approve(&self) {
        self.decide(Decision::Once).await;
    }

    pub async fn deny(&self) {
        let reason = String::new();
        self.decide(Decision::Deny { reason }).await;
    }

    pub async fn sql(&self, text: &'static str) {
        let run = move |sql: &mut dyn kit::Sql| sql.execute(text, &[]);
        let store: &dyn Store = &self.database;
        store.transaction(Budget::default(), run).await.unwrap();
    }

    pub async fn close(self) {
        self.desk.finish().await;
        drop(self.desk);
        self.database.close().await.unwrap();
    }
}

fn counter(acts: &Arc<Acts>) -> Counter {
    Counter {
        about: About {
            name: "own",
            server_name: "own",
            version: "1",
            title: "Own",
            summary: "Tools of a test.",
            description: "Tools of a test.",
            instructions: "",
            lists_change: false,
            ways: Ways::USUAL,
        },
        time_zone: jiff::tz::TimeZone::UTC,
        tools: vec![
            Arc::new(act(acts)),
            Arc::new(look()),
            Arc::new(bundle()),
            Arc::new(fails(acts)),
        ],
        prompts: Vec::new(),
        resources: None,
        files: None,
        store: None,
        demo: None,
        import: None,
        background: None,
    }
}

fn tool(name: &'static str, aliases: &'static [&'static str], input: Value, run: Run) -> Tool {
    Tool {
        name,
        aliases,
        title: "A tool of a test",
        description: "A tool of a test.",
        input,
        output: Some(json!({ "type": "object" })),
        hints: Hints {
            read_only: false,
            destructive: false,
            idempotent: false,
            open_world: false,
        },
        effect: Effect::Write,
        time_limit: TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: as_is,
        meta: None,
        personal: &[],
        card: None,
        inner_calls: None,
        run,
    }
}

fn number() -> Value {
    json!({
        "type": "object",
        "properties": { "n": { "type": "integer" }, "text": { "type": "string" } },
        "required": ["n"]
    })
}

/// Counts how often it is begun and ended, and looks at nothing in between.
fn act(acts: &Arc<Acts>) -> Tool {
    let run = counted(acts, |number, arguments| {
        Reply::structured(&json!({ "act": number, "arguments": arguments }))
    });
    tool("act", &["act-too"], number(), run)
}

/// The same, but refuses in the end.
fn fails(acts: &Arc<Acts>) -> Tool {
    let run = counted(acts, |number, _| {
        Err(Error::new("NOT_TODAY", "Not today.")
            .next("Try tomorrow.")
            .details(json!({ "act": number })))
    });
    tool("fails", &[], number(), run)
}

fn counted(acts: &Arc<Acts>, end: fn(usize, Value) -> kit::Result<Reply>) -> Run {
    let acts = Arc::clone(acts);
    Run::Async(Arc::new(move |_: Context, arguments: Value| {
        let acts = Arc::clone(&acts);
        Box::pin(async move {
            let number = acts.begun.fetch_add(1, Ordering::SeqCst) + 1;
            acts.may_end.acquire().await.unwrap().forget();
            acts.ended.fetch_add(1, Ordering::SeqCst);
            end(number, arguments)
        })
    }))
}

fn look() -> Tool {
    let run = Run::Async(Arc::new(|_: Context, arguments: Value| {
        Box::pin(async move { Reply::structured(&json!({ "arguments": arguments })) })
    }));
    Tool {
        effect: Effect::Read,
        ..tool("look", &[], number(), run)
    }
}

/// Answers what it would run.
fn bundle() -> Tool {
    let run = Run::Async(Arc::new(|_: Context, arguments: Value| {
        Box::pin(async move { Reply::structured(&arguments) })
    }));
    let call = json!({
        "type": "object",
        "properties": { "tool": { "type": "string" }, "arguments": { "type": "object" } },
        "required": ["tool", "arguments"]
    });
    let input = json!({
        "type": "object",
        "properties": { "calls": { "type": "array", "items": call } },
        "required": ["calls"]
    });
    Tool {
        inner_calls: Some(inner_calls),
        ..tool("bundle", &[], input, run)
    }
}

fn inner_calls(arguments: &mut Map<String, Value>) -> Vec<InnerCall<'_>> {
    let calls = arguments["calls"].as_array_mut().unwrap().iter_mut();
    let calls = calls.map(|call| {
        let mut fields = call.as_object_mut().unwrap().iter_mut();
        let (Some((_, tool)), Some((_, arguments))) = (fields.next(), fields.next()) else {
            panic!("a call is {{tool, arguments}}");
        };
        let Value::String(tool) = tool else {
            panic!("{tool}");
        };
        InnerCall {
            tool,
            arguments: arguments.as_object_mut().unwrap(),
            filled_in_later: Vec::new(),
        }
    });
    calls.collect()
}
