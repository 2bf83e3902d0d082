//! The counter that the model test calls. Every execution of a tool is kept: in a
//! row of the tool's own transaction, or in a list for work without one. So the
//! test counts what was really done, and not what an answer says.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use kit::{
    About, Context, Conventions, Counter, Definition, Effect, Error, Handler, Hints, Reply, Result,
    Run, Sql, Store, Tool,
    approval::Card,
    arguments,
    counter::Migrations,
    sql::{Budget, Migration},
    tool::InnerCall,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::watch;

/// Both counters have the same tools: a right at one is no right at the other.
pub const COUNTERS: [&str; 2] = ["first", "second"];

/// What a tool answers when it is called with `n` = [`FAILS`].
pub const TOOL_FAILED: &str = "TOOL_FAILED";
pub const FAILS: i64 = 2;

pub const BATCH: &str = "batch";

/// How often work without a transaction waits in the middle.
const WAITS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Query,
    Transaction,
    Task,
    /// Runs the calls that its arguments hold.
    Batch,
}

/// What is declared about a tool: the counter is built from it, and the model
/// knows no more.
#[derive(Debug)]
pub struct Kind {
    pub name: &'static str,
    pub alias: &'static str,
    pub effect: Effect,
    pub work: Work,
    /// Takes an idempotency key, `request_id`.
    pub keyed: bool,
    /// Has a recipient, `to`.
    pub recipient: bool,
}

const fn kind(name: &'static str, alias: &'static str, effect: Effect, work: Work) -> Kind {
    Kind {
        name,
        alias,
        effect,
        work,
        keyed: false,
        recipient: false,
    }
}

pub const TOOLS: [Kind; 8] = [
    kind("look", "look_up", Effect::Read, Work::Query),
    kind("note.add", "note_add", Effect::Write, Work::Transaction),
    Kind {
        keyed: true,
        ..kind("note.keyed", "note_keyed", Effect::Write, Work::Transaction)
    },
    kind("act.row", "act_row", Effect::Outside, Work::Transaction),
    kind("act.task", "act_task", Effect::Outside, Work::Task),
    Kind {
        keyed: true,
        recipient: true,
        ..kind("send.to", "send_to", Effect::Outside, Work::Transaction)
    },
    kind("purge", "purge_all", Effect::Manage, Work::Transaction),
    kind(BATCH, "batch_of", Effect::Write, Work::Batch),
];

/// The tool of a name or an alias.
pub fn named(name: &str) -> Option<&'static Kind> {
    let is_named = |kind: &&Kind| kind.name == name || kind.alias == name;
    TOOLS.iter().find(is_named)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    pub call: String,
    pub counter: String,
    pub tool: String,
    pub caller: String,
    pub arguments: Value,
}

/// Executions without a transaction.
#[derive(Default)]
pub struct Log {
    begun: Mutex<Vec<Execution>>,
    ended: Mutex<BTreeSet<String>>,
    /// How many were begun, for whoever waits for the next.
    count: watch::Sender<usize>,
}

impl Log {
    fn begin(&self, execution: Execution) {
        self.begun.lock().unwrap().push(execution);
        self.count.send_modify(|count| *count += 1);
    }

    fn end(&self, call: String) {
        self.ended.lock().unwrap().insert(call);
    }

    pub fn begun(&self) -> Vec<Execution> {
        self.begun.lock().unwrap().clone()
    }

    pub fn has_ended(&self, call: &str) -> bool {
        self.ended.lock().unwrap().contains(call)
    }

    pub fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }
}

pub const MIGRATIONS: Migrations = Migrations {
    owner: "model_test",
    steps: &[Migration {
        version: 1,
        name: "executions",
        sql: "CREATE TABLE model_executions (
            call_id TEXT NOT NULL,
            counter TEXT NOT NULL,
            tool TEXT NOT NULL,
            caller TEXT NOT NULL,
            arguments TEXT NOT NULL
        )",
    }],
};

/// The executions that were committed.
pub async fn committed(store: &Arc<dyn Store>) -> Vec<Execution> {
    let read = |sql: &mut dyn Sql| {
        let rows = sql.query(
            "SELECT call_id, counter, tool, caller, arguments FROM model_executions",
            &[],
        )?;
        let execution = |row: &kit::Row| {
            Ok(Execution {
                call: row.text(0)?,
                counter: row.text(1)?,
                tool: row.text(2)?,
                caller: row.text(3)?,
                arguments: row.text(4)?.parse().map_err(Error::internal)?,
            })
        };
        rows.iter().map(execution).collect::<Result<Vec<_>>>()
    };
    store.query(Budget::default(), read).await.unwrap()
}

pub fn counter(name: &'static str, store: &Arc<dyn Store>, log: &Arc<Log>) -> Counter {
    let tools = TOOLS.iter().map(|kind| Arc::new(tool(name, kind, log)));
    Counter {
        about: About {
            name,
            server_name: name,
            version: "1",
            title: "Model",
            japanese_title: "Model",
            summary: "Tools that count their executions.",
            japanese_summary: "",
            description: "Tools of a test.",
            instructions: "",
            lists_change: false,
            conventions: Conventions::USUAL,
        },
        time_zone: jiff::tz::TimeZone::UTC,
        tools: tools.collect(),
        prompts: super::reads::prompts(),
        resources: Some(Arc::new(super::reads::Shown)),
        views: &[],
        files: None,
        store: Some(Arc::clone(store)),
        demo: None,
        import: None,
        export: None,
        page: None,
        background: None,
    }
}

fn tool(counter: &'static str, kind: &'static Kind, log: &Arc<Log>) -> Tool {
    let run = run(counter, kind, log);
    let tool = match (kind.work, kind.keyed, kind.recipient) {
        (Work::Batch, ..) => declared::<Batch>(kind, run).inner_calls(inner_calls),
        (_, _, true) => declared::<Letter>(kind, run).card(Arc::new(card)),
        (_, true, false) => declared::<KeyedNumber>(kind, run),
        (_, false, false) => declared::<Number>(kind, run),
    };
    match kind.keyed {
        true => tool.idempotency_key("request_id"),
        false => tool,
    }
}

/// The handlers keep the arguments as they came, so only the schema is typed.
fn declared<I: JsonSchema>(kind: &'static Kind, run: Run) -> Tool {
    let is_read = kind.effect == Effect::Read;
    Tool::new(
        Definition {
            name: kind.name,
            title: "A tool of a test",
            description: "Counts its executions.",
            hints: Hints {
                read_only: is_read,
                destructive: !is_read,
                idempotent: false,
                open_world: kind.effect == Effect::Outside,
            },
            effect: kind.effect,
        },
        Handler::<I, Done>::from_run(run),
    )
    .aliases(std::slice::from_ref(&kind.alias))
    .normalise(|_, arguments| arguments::integer(arguments, "n"))
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct Number {
    n: i64,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct KeyedNumber {
    n: i64,
    request_id: Option<String>,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct Letter {
    n: i64,
    to: String,
    request_id: Option<String>,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct Batch {
    calls: Vec<Call>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Call {
    tool: String,
    arguments: Map<String, Value>,
}

/// Names the call, so that the answer of another one is recognised.
#[derive(Serialize, JsonSchema)]
struct Done {
    call: String,
}

fn inner_calls<'a>(_: &Context, arguments: &'a mut Map<String, Value>) -> Vec<InnerCall<'a>> {
    let calls = arguments["calls"].as_array_mut().unwrap().iter_mut();
    let calls = calls.map(|call| {
        let mut fields = call.as_object_mut().unwrap().iter_mut();
        // The test writes them in this order.
        match (fields.next(), fields.next()) {
            (Some((_, Value::String(tool))), Some((_, Value::Object(arguments)))) => InnerCall {
                tool,
                arguments,
                filled_in_later: Vec::new(),
            },
            other => panic!("{other:?}"),
        }
    });
    calls.collect()
}

fn card(_: &Context, _: &mut dyn Sql, arguments: &Value) -> Result<Card> {
    Ok(Card {
        summary: "Send".into(),
        recipient: arguments["to"].as_str().map(str::to_owned),
        ..Card::default()
    })
}

fn run(counter: &'static str, kind: &'static Kind, log: &Arc<Log>) -> Run {
    let log = Arc::clone(log);
    let execution = move |context: &Context, arguments: &Value| Execution {
        call: context.call.to_string(),
        counter: counter.to_owned(),
        tool: kind.name.to_owned(),
        caller: context.caller.id.to_string(),
        arguments: arguments.clone(),
    };
    match kind.work {
        Work::Query => Run::Query(Arc::new(move |context, _, arguments| {
            log.begin(execution(context, &arguments));
            reply(context, &arguments)
        })),
        Work::Transaction => Run::Transaction(Arc::new(move |context, sql, arguments| {
            let done = execution(context, &arguments);
            sql.execute(
                "INSERT INTO model_executions (call_id, counter, tool, caller, arguments)
                 VALUES ($1, $2, $3, $4, $5)",
                &[
                    (&done.call).into(),
                    (&done.counter).into(),
                    (&done.tool).into(),
                    (&done.caller).into(),
                    (&done.arguments.to_string()).into(),
                ],
            )?;
            reply(context, &arguments)
        })),
        Work::Task | Work::Batch => Run::Async(Arc::new(move |context, arguments| {
            let log = Arc::clone(&log);
            Box::pin(async move {
                log.begin(execution(&context, &arguments));
                for _ in 0..WAITS {
                    tokio::task::yield_now().await;
                }
                log.end(context.call.to_string());
                reply(&context, &arguments)
            })
        })),
    }
}

fn reply(context: &Context, arguments: &Value) -> Result<Reply> {
    if arguments["n"] == FAILS {
        return Err(Error::new(TOOL_FAILED, "The tool fails for this number."));
    }
    let call = context.call.to_string();
    Reply::structured(&Done { call })
}
