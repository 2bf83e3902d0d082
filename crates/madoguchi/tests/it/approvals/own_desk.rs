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
    pipeline::{Answer, ToolCall},
    settings::Policy,
    state::{DeskState, OpenState, Secret},
    stations::identify::Credentials,
    tables::TABLES,
};
use kit::{
    About, Context, Conventions, Counter, Definition, Effect, Error, Handler, Hints, Store, Tool,
    context::NoClient, sql::Budget, time::Clock, tool::InnerCall,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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
    /// `policies` by the tools' names: `act`, `look`, `bundle` and `combined`. With `url`
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
        for migrations in TABLES {
            rows.migrate(migrations).await.unwrap();
        }
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
        let served = self.desk.counter("own").unwrap();
        let credentials = Credentials::Nothing {
            key_required: false,
        };
        let method = desk::methods::TOOLS_CALL.name;
        let admitted = self.desk.admit(served, &credentials, method).await.unwrap();
        let call = ToolCall {
            admitted,
            name: tool.into(),
            arguments: arguments.as_object().unwrap().clone(),
            client: Arc::new(NoClient),
            cancel: cancel.clone(),
            language: None,
        };
        self.desk.call(served, call).await.unwrap()
    }

    pub async fn result(&self, tool: &str, arguments: Value) -> Result<Value, Error> {
        let answer = self.call(tool, arguments, &CancellationToken::new()).await;
        answer.result.map(|reply| match reply.json() {
            Some(json) => json.parse().unwrap(),
            None => panic!("{reply:?}"),
        })
    }

    /// The code of a refusal.
    pub async fn refused(&self, tool: &str, arguments: Value) -> String {
        let error = self.result(tool, arguments).await.unwrap_err();
        error.code.into_owned()
    }

    /// Decides the one question that waits.
    pub async fn decide(&self, decision: Decision) {
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
            japanese_title: "Own",
            summary: "Tools of a test.",
            japanese_summary: "",
            description: "Tools of a test.",
            instructions: "",
            lists_change: false,
            conventions: Conventions::USUAL,
        },
        time_zone: jiff::tz::TimeZone::UTC,
        tools: vec![
            Arc::new(act(acts)),
            Arc::new(look()),
            Arc::new(bundle()),
            Arc::new(combined()),
            Arc::new(fails(acts)),
        ],
        prompts: Vec::new(),
        resources: None,
        views: &[],
        files: None,
        store: None,
        demo: None,
        import: None,
        export: None,
        page: None,
        background: None,
    }
}

fn definition(name: &'static str, hints: Hints, effect: Effect) -> Definition {
    Definition {
        name,
        title: "A tool of a test",
        description: "A tool of a test.",
        hints,
        effect,
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Number {
    n: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Done {
    #[serde(skip_serializing_if = "Option::is_none")]
    act: Option<usize>,
    arguments: Number,
}

impl Acts {
    /// Begins an act, waits until it may end, and returns its number.
    async fn one(&self) -> usize {
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        self.may_end.acquire().await.unwrap().forget();
        self.ended.fetch_add(1, Ordering::SeqCst);
        number
    }
}

/// Counts how often it is begun and ended, and looks at nothing in between.
fn act(acts: &Arc<Acts>) -> Tool {
    let handler = Handler::waiting(acts, |acts, _, arguments: Number| async move {
        let act = Some(acts.one().await);
        Ok(Done { act, arguments })
    });
    Tool::new(definition("act", Hints::ADDS, Effect::Write), handler).aliases(&["act-too"])
}

/// The same, but refuses in the end.
fn fails(acts: &Arc<Acts>) -> Tool {
    let handler = Handler::waiting(acts, |acts, _, _: Number| async move {
        let number = acts.one().await;
        Err::<Done, _>(
            Error::new("NOT_TODAY", "Not today.")
                .next("Try tomorrow.")
                .details(json!({ "act": number })),
        )
    });
    Tool::new(definition("fails", Hints::ADDS, Effect::Write), handler)
}

fn look() -> Tool {
    let handler = Handler::stateless(|_, arguments: Number| async move {
        let act = None;
        Ok(Done { act, arguments })
    });
    Tool::new(definition("look", Hints::READS, Effect::Read), handler)
}

/// Does what `act` does too, if `n` is above zero.
fn combined() -> Tool {
    let handler = Handler::stateless(|_, arguments: Number| async move {
        let act = None;
        Ok(Done { act, arguments })
    });
    let tool = Tool::new(definition("combined", Hints::ADDS, Effect::Write), handler);
    tool.implied_tools(|arguments| match arguments["n"].as_i64() {
        Some(..=0) => &[],
        _ => &["act"],
    })
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Bundle {
    calls: Vec<Call>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Call {
    tool: String,
    arguments: Map<String, Value>,
}

/// Answers what it would run.
fn bundle() -> Tool {
    let handler = Handler::stateless(|_, bundle: Bundle| async move { Ok(bundle) });
    Tool::new(definition("bundle", Hints::ADDS, Effect::Write), handler).inner_calls(inner_calls)
}

fn inner_calls<'a>(_: &Context, arguments: &'a mut Map<String, Value>) -> Vec<InnerCall<'a>> {
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
