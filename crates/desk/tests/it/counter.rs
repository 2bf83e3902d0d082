//! A counter with one tool for each way in which the desk treats tools.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use kit::{
    About, Context, Conventions, Counter, Definition, Effect, Error, Handler, Hints, Migration,
    Migrations, Reply, Result, Rule, Run, Sql, Store, Tool,
    approval::{Card, CardLine, describe},
    context::{Change, ClientRequest},
    prompt::{self, Prompt},
    tool::{InnerCall, UNKNOWN},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use crate::shelves::Shelves;

pub const NAME: &str = "office";

pub const MIGRATIONS: Migrations = Migrations {
    owner: NAME,
    steps: &[Migration {
        version: 1,
        name: "notes",
        sql: "CREATE TABLE office_notes (id BIGINT PRIMARY KEY, text TEXT NOT NULL);",
    }],
};

/// What the tools share with the test.
pub struct Work {
    /// The address of each recipient.
    pub addresses: Mutex<BTreeMap<String, String>>,
    /// The version of what `send` changes, if it changes something.
    pub version: Mutex<Option<String>>,
    /// How often `act` was begun.
    pub begun: AtomicI64,
    /// A call of `act` ends when it gets one of these.
    pub may_end: Semaphore,
}

impl Default for Work {
    fn default() -> Self {
        let ann = ("Ann".to_owned(), "ann@example.org".to_owned());
        Self {
            addresses: Mutex::new(BTreeMap::from([ann])),
            version: Mutex::default(),
            begun: AtomicI64::new(0),
            may_end: Semaphore::new(0),
        }
    }
}

pub fn counter(work: &Arc<Work>, store: &Arc<dyn Store>) -> Counter {
    let tools = [
        look(work),
        add(work),
        plan(work),
        send(work),
        act(work),
        asks_back(),
        manage(work),
        slow("slow", Hints::READS, Effect::Read),
        slow("slow_write", Hints::ADDS, Effect::Write),
        breaks(),
        misleads(),
        batch(),
        combined(),
    ];
    Counter {
        about: About {
            name: NAME,
            server_name: NAME,
            version: "1",
            title: "Office",
            japanese_title: "Office",
            summary: "Tools of a test.",
            japanese_summary: "Tools of a test.",
            description: "Tools of a test.",
            instructions: "",
            lists_change: false,
            conventions: Conventions::USUAL,
        },
        time_zone: jiff::tz::TimeZone::UTC,
        tools: tools.into_iter().map(Arc::new).collect(),
        prompts: vec![greeting()],
        resources: Some(Arc::new(Shelves)),
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

fn definition(name: &'static str, hints: Hints, effect: Effect) -> Definition {
    Definition {
        name,
        title: "A tool of a test",
        description: "A tool of a test.",
        hints,
        effect,
    }
}

fn greeting() -> Arc<Prompt> {
    Arc::new(Prompt {
        name: "greeting",
        title: "Greeting",
        description: "A prompt of a test.",
        arguments: Vec::new(),
        tools: &["look", "send"],
        render: prompt::text(|_, _| Ok("Good morning.".into())),
    })
}

#[derive(Deserialize, JsonSchema)]
struct Look {
    #[schemars(length(max = 20))]
    word: Option<String>,
    #[expect(dead_code, reason = "only its schema is used")]
    filters: Option<Vec<FieldFilter>>,
}

#[derive(Deserialize, JsonSchema)]
struct FieldFilter {
    #[expect(dead_code, reason = "only its schema is used")]
    field: String,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    notes: Vec<String>,
    caller: String,
    /// Whether the caller's key names this tool.
    named: bool,
}

fn look(work: &Arc<Work>) -> Tool {
    let handler = Handler::query(work, |_, context, sql, look: Look| {
        let notes = sql.query("SELECT text FROM office_notes ORDER BY id", &[])?;
        let mut notes: Vec<String> = notes.iter().map(|row| row.text(0)).collect::<Result<_>>()?;
        notes.retain(|note| look.word.as_ref().is_none_or(|word| note.contains(word)));
        Ok(Found {
            notes,
            caller: context.caller.name.to_string(),
            named: context.key_names_tool,
        })
    });
    Tool::new(definition("look", Hints::READS, Effect::Read), handler)
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    #[schemars(length(max = 20))]
    text: String,
    #[expect(dead_code, reason = "the desk reads it")]
    key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Added {
    id: i64,
    text: String,
}

fn insert(sql: &mut dyn Sql, text: &str) -> Result<Added> {
    let last = sql.query_one("SELECT COALESCE(MAX(id), 0) FROM office_notes", &[])?;
    let id = last.map_or(Ok(0), |row| row.int(0))? + 1;
    sql.execute(
        "INSERT INTO office_notes (id, text) VALUES ($1, $2)",
        &[id.into(), text.into()],
    )?;
    let text = text.to_owned();
    Ok(Added { id, text })
}

const TOO_LONG: Rule = Rule {
    field: "text",
    keyword: "maxLength",
    code: "TEXT_TOO_LONG",
    message: "A note has at most 20 characters.",
};

const NO_COLOUR: Rule = Rule {
    field: "colour",
    keyword: UNKNOWN,
    code: "UNKNOWN_ARGUMENT",
    message: "A note has no colour.",
};

/// Its own name is not one that clients accept.
fn add(work: &Arc<Work>) -> Tool {
    let handler = Handler::transaction(work, |_, context, sql, add: Add| {
        if add.text == "impossible" {
            context.changed(Change::ResourceList);
            return Err(Error::new("IMPOSSIBLE", "This can't be written."));
        }
        context.changed(Change::Resource("office://notes".into()));
        insert(sql, &add.text)
    });
    Tool::new(definition("notes.add", Hints::ADDS, Effect::Write), handler)
        .aliases(&["notes_add"])
        .idempotency_key("key")
        .rules(&[TOO_LONG, NO_COLOUR])
        .personal(&["text"])
        .normalise(|_, arguments| {
            if let Some(text) = arguments.remove("note") {
                arguments.insert("text".into(), text);
            }
        })
}

/// Reads before its transaction begins.
fn plan(work: &Arc<Work>) -> Tool {
    let handler = Handler::prepared(
        work,
        |_, _, sql, add: Add| {
            let row = sql.query_one("SELECT COUNT(*) FROM office_notes", &[])?;
            let before = row.map_or(Ok(0), |row| row.int(0))?;
            match before {
                0..3 => Ok(format!("{} after {before}", add.text)),
                _ => Err(Error::new("FULL", "There is no more room.")),
            }
        },
        |_, _, sql, text| insert(sql, text),
    );
    let definition = definition("plan", Hints::ADDS, Effect::Write);
    Tool::new(definition, handler).idempotency_key("key")
}

#[derive(Deserialize, JsonSchema)]
struct Send {
    to: String,
    text: String,
    #[expect(dead_code, reason = "the desk reads it")]
    key: Option<String>,
}

/// Acts on the outside world in a transaction, with a card of its own.
fn send(work: &Arc<Work>) -> Tool {
    let handler = Handler::transaction(work, |work: &Work, context, sql, send: Send| {
        let card = card_of(work, &send);
        context.check_card(card.recipient.as_deref(), card.state.as_deref())?;
        insert(sql, &format!("{}: {}", send.to, send.text))
    });
    let card = describe(work, |work: &Work, _, _, send: Send| {
        Ok(card_of(work, &send))
    });
    let tool = Tool::new(definition("send", Hints::ADDS, Effect::Outside), handler);
    tool.card(card).idempotency_key("key")
}

fn card_of(work: &Work, send: &Send) -> Card {
    Card {
        summary: format!("Send a message to {}", send.to),
        recipient: work.addresses.lock().unwrap().get(&send.to).cloned(),
        lines: vec![CardLine::new("Text", send.text.clone())],
        state: work.version.lock().unwrap().clone(),
        exempt: send.text == "nothing",
        ..Card::default()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Number {
    n: i64,
}

#[derive(Serialize, JsonSchema)]
struct Acted {
    act: i64,
}

/// Acts on the outside world, and waits. An odd act is refused by somebody outside.
fn act(work: &Arc<Work>) -> Tool {
    let handler = Handler::waiting(work, |work: Arc<Work>, _, number: Number| async move {
        let act = work.begun.fetch_add(1, Ordering::SeqCst) + 1;
        work.may_end.acquire().await.unwrap().forget();
        match number.n % 2 {
            0 => Ok(Acted { act }),
            _ => Err(Error::new("NOT_TODAY", "Not today.").next("Try tomorrow.")),
        }
    });
    Tool::new(definition("act", Hints::ADDS, Effect::Outside), handler)
}

/// Acts once its client has told it more.
fn asks_back() -> Tool {
    let handler = Handler::replying(|context: Context, _: Number| async move {
        Ok(match context.client.input("more") {
            Some(more) => Reply::text(more.to_string()),
            None => Reply::InputRequired {
                requests: vec![(
                    "more".into(),
                    ClientRequest {
                        method: "elicitation/create".into(),
                        params: json!({}),
                    },
                )],
                state: None,
            },
        })
    });
    let definition = definition("asks_back", Hints::ADDS, Effect::Outside);
    Tool::without_output_schema(definition, handler)
}

fn manage(work: &Arc<Work>) -> Tool {
    let handler = Handler::transaction(work, |_, _, sql, _: Number| insert(sql, "managed"));
    Tool::new(definition("manage", Hints::ADDS, Effect::Manage), handler)
}

fn slow(name: &'static str, hints: Hints, effect: Effect) -> Tool {
    let handler = Handler::stateless(|_, _: Number| async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(Acted { act: 1 })
    });
    let tool = Tool::new(definition(name, hints, effect), handler);
    tool.time_limit(Duration::from_millis(50))
}

fn breaks() -> Tool {
    #[expect(clippy::panic, reason = "that is what it is for")]
    let handler = Handler::stateless(|_, number: Number| async move {
        match number.n {
            0 => panic!("it is broken"),
            act => Ok(Acted { act }),
        }
    });
    Tool::new(definition("breaks", Hints::READS, Effect::Read), handler)
}

/// Answers something else than its schema says.
fn misleads() -> Tool {
    let run = Run::Async(Arc::new(|_, _| {
        let reply = Reply::Structured(r#"{"act":"one"}"#.into());
        Box::pin(std::future::ready(Ok(reply)))
    }));
    let handler: Handler<Number, Acted> = Handler::from_run(run);
    Tool::new(definition("misleads", Hints::READS, Effect::Read), handler)
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Batch {
    calls: Vec<Call>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Call {
    tool: String,
    arguments: Map<String, Value>,
}

/// Answers what it would run. `text: "?"` stands for a value that is not known yet.
fn batch() -> Tool {
    let handler = Handler::stateless(|_, batch: Batch| async move { Ok(batch) });
    Tool::new(definition("batch", Hints::ADDS, Effect::Write), handler).inner_calls(inner_calls)
}

fn inner_calls<'a>(_: &Context, arguments: &'a mut Map<String, Value>) -> Vec<InnerCall<'a>> {
    let calls = arguments["calls"].as_array_mut().unwrap().iter_mut();
    let calls = calls.map(|call| {
        let mut fields = call.as_object_mut().unwrap().iter_mut();
        let (Some((_, Value::String(tool))), Some((_, Value::Object(arguments)))) =
            (fields.next(), fields.next())
        else {
            panic!("a call is {{tool, arguments}}");
        };
        let is_later = arguments
            .get("text")
            .is_some_and(|text| *text == json!(["?"]));
        InnerCall {
            tool,
            arguments,
            filled_in_later: if is_later {
                vec!["text".into()]
            } else {
                Vec::new()
            },
        }
    });
    calls.collect()
}

/// Does what `manage` does too, if `n` is above zero, and what `act` does above one.
fn combined() -> Tool {
    let handler =
        Handler::stateless(|_, number: Number| async move { Ok(Acted { act: number.n }) });
    let tool = Tool::new(definition("combined", Hints::ADDS, Effect::Write), handler);
    tool.implied_tools(|arguments| match arguments["n"].as_i64() {
        Some(..=0) | None => &[],
        Some(1) => &["manage"],
        Some(_) => &["act"],
    })
}
