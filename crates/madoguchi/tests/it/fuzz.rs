//! Every tool of every counter, called with what nobody would think of.
//!
//! A few thousand calls with a fixed seed are part of the tests. `scripts/fuzz`
//! makes many more, with a new seed each time; a failure names the seed, and
//! `scripts/fuzz CALLS SEED` repeats it. The tools and their schemas come from the
//! running program, so a new tool needs no line here.

mod arguments;
mod random;

use std::{collections::BTreeMap, process::Command, sync::Arc, time::Duration};

use futures::future::join_all;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::testing::Postgres;

use self::arguments::Generator;
use crate::harness::{Desk, Pipe, Socket, modern, modern_headers, plain, request};

const COUNTERS: [&str; 5] = ["cinema", "innervoice", "merchant", "rooms", "todo"];
/// Opens the counter that always wants a key.
const KEY: &str = "fuzz";
/// Official clients refuse a little more than this many bytes.
const MOST_BYTES: usize = 256 * 1024;
/// In bytes. A WebSocket without a key takes messages of 256 KiB.
const LARGEST: usize = 250_000;
/// How a text with the six characters `\ud800` is written in JSON.
const SURROGATE: &str = "\\\\ud800";
/// Of the tests; `MADOGUCHI_FUZZ_CALLS` makes it more.
const CALLS: usize = 1000;
const SEED: u64 = 20_251_115;

#[tokio::test(flavor = "multi_thread", worker_threads = 5)]
async fn every_call_is_answered_on_sqlite_with_all_approved() {
    let policies: String = tools()
        .iter()
        .map(|tool| {
            format!(
                "\"{}.{}\" = \"allow\"\n",
                text(tool, "counter"),
                text(tool, "name")
            )
        })
        .collect();
    let config = config(&format!("[approval.tools]\n{policies}"));
    let desk = Desk::setup().config(&config).argument("--log-level=warn");
    fuzz(desk.start().await, &[], 1).await;
}

/// The other engine, and with approvals that nobody gives: the cards are made.
#[tokio::test(flavor = "multi_thread", worker_threads = 5)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn every_call_is_answered_on_postgres_with_nothing_approved() {
    let url = Postgres::shared().create_database();
    let environment = [("MADOGUCHI_DATABASE__URL".to_owned(), url.clone())];
    let config = config("[approval]\nhold_seconds = 0\n");
    let desk = Desk::setup().config(&config).argument("--log-level=warn");
    let desk = desk.database(&url).demo().start().await;
    desk.place.load_demo_of("merchant", &environment);
    fuzz(desk, &environment, 2).await;
}

fn config(more: &str) -> String {
    let digest = Sha256::digest(KEY.as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "[limits]\nrequests_per_minute = {{ innervoice = 20000 }}\n\
         [identity]\nkeys = [{{ name = \"fuzz\", sha256 = \"{digest}\" }}]\n{more}"
    )
}

/// All tools as the program publishes them.
fn tools() -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_madoguchi"))
        .args(["tools", "--json"])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is no number: {text}")),
    )
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

/// `1/share` of the calls, evenly among the counters, which are called at once.
async fn fuzz(desk: Desk, environment: &[(String, String)], share: usize) {
    let calls = number("MADOGUCHI_FUZZ_CALLS").map_or(CALLS, |calls| calls as usize) / share;
    let seed = number("MADOGUCHI_FUZZ_SEED").unwrap_or(SEED);
    println!("{calls} calls with seed {seed}");
    let tools = tools();
    let desk = Arc::new(desk);
    let counters = COUNTERS.map(|counter| {
        let tools = tools.iter().filter(|tool| tool["counter"] == counter);
        let customer = Customer::new(&desk, environment, counter, tools.cloned().collect());
        tokio::spawn(customer.call_at_random(calls / COUNTERS.len(), seed))
    });
    for finished in join_all(counters).await {
        assert_eq!(finished.unwrap(), calls / COUNTERS.len());
    }

    // It still works, and says nothing of a panic.
    for counter in COUNTERS {
        let mut customer = Customer::new(&desk, environment, counter, Vec::new());
        let listed = customer.over_http("tools/list", json!({})).await;
        let listed = listed["result"]["tools"].as_array().unwrap().len();
        // Tools of the staff are only listed to a key that names them.
        let published = tools.iter().filter(|tool| {
            let is_staff = tool["name"] == "update_inventory" || tool["name"] == "check_ticket";
            tool["counter"] == counter && !is_staff
        });
        assert_eq!(listed, published.count(), "{counter}");
    }
    assert_no_panic(&desk.log());
}

#[track_caller]
fn assert_no_panic(log: &str) {
    let panics: Vec<&str> = log.lines().filter(|line| line.contains("panic")).collect();
    assert!(panics.is_empty(), "{panics:#?}");
}

/// Said when the test fails meanwhile.
struct Told(String);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- {}", self.0);
        }
    }
}

/// Somebody who calls one counter, over each transport by turns.
struct Customer {
    desk: Arc<Desk>,
    counter: &'static str,
    tools: Vec<Value>,
    environment: Vec<(String, String)>,
    socket: Option<Socket>,
    pipe: Option<Pipe>,
    requests: u64,
}

impl Customer {
    fn new(
        desk: &Arc<Desk>,
        environment: &[(String, String)],
        counter: &'static str,
        tools: Vec<Value>,
    ) -> Self {
        Self {
            desk: Arc::clone(desk),
            counter,
            tools,
            environment: environment.to_vec(),
            socket: None,
            pipe: None,
            requests: 0,
        }
    }

    /// Returns how many calls were answered: all of them.
    async fn call_at_random(mut self, calls: usize, seed: u64) -> usize {
        let validators: BTreeMap<String, jsonschema::Validator> = self
            .tools
            .iter()
            .map(|tool| {
                let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
                (text(tool, "name").to_owned(), validator)
            })
            .collect();
        // Each counter has a sequence of its own, so that one does not change another's.
        let own = self.counter.bytes().fold(seed, |mixed, byte| {
            mixed.wrapping_mul(31).wrapping_add(byte.into())
        });
        let mut generator = Generator::new(own);
        for number in 0..calls {
            let (tool, params) = self.next_call(&mut generator);
            let (name, sent) = (text(&tool, "name"), params.to_string());
            let transport = generator.random.below(3);
            let shown: String = sent.chars().take(2000).collect();
            let what = format!(
                "call {number} of {}, transport {transport}, seed {seed}: {shown}",
                self.counter
            );
            let on_panic = Told(what);
            let answer = match transport {
                0 => self.over_http("tools/call", params).await,
                1 => self.over_websocket(params).await,
                _ => self.over_stdio(params),
            };
            let wrong = match transport == 0 && sent.contains(SURROGATE) {
                true => wrong_with_error(&answer),
                false => wrong_with(&answer, &validators[name]),
            };
            if let Some(wrong) = wrong {
                let answer: String = answer.to_string().chars().take(2000).collect();
                panic!("{wrong}; the answer is {answer}");
            }
            drop(on_panic);
            generator.learn(&answer["result"]["structuredContent"]);
        }
        if let Some(pipe) = self.pipe.take() {
            let (_, status, stderr) = pipe.finish();
            assert!(status.success(), "{status} {stderr}");
            assert_no_panic(&stderr);
        }
        calls
    }

    /// A tool, and the parameters to call it with.
    fn next_call(&self, generator: &mut Generator) -> (Value, Value) {
        loop {
            let tool = generator.random.pick(&self.tools).clone();
            let name = text(&tool, "name");
            let mut arguments = generator.arguments(&tool["inputSchema"]);
            if name.contains("wait") {
                // It takes a second each time.
                if !generator.random.chance(10) {
                    continue;
                }
                arguments.insert("timeout".into(), 1.into());
            }
            let params = json!({ "name": name, "arguments": arguments });
            if params.to_string().len() < LARGEST {
                return (tool, params);
            }
        }
    }

    fn key(&self) -> &'static str {
        if self.counter == "innervoice" {
            KEY
        } else {
            ""
        }
    }

    async fn over_http(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let authorization = match self.key() {
            "" => String::new(),
            key => format!("Bearer {key}"),
        };
        let own = modern_headers(method, &params);
        let mut headers: Vec<(&str, &str)> = own.iter().map(|(k, v)| (*k, v.as_str())).collect();
        headers.push(("authorization", &authorization));
        let path = format!("/mcp/{}", self.counter);
        let body = modern(self.requests, method, params).to_string();
        // Half of a pair, which no JSON text may hold.
        let body = body.replace(SURROGATE, "\\ud800");
        let answer = request(self.desk.port, "POST", &path, &headers, body);
        let answer = tokio::time::timeout(Duration::from_secs(60), answer).await;
        answer.expect("no answer over HTTP").message()
    }

    /// Without any handshake.
    async fn over_websocket(&mut self, params: Value) -> Value {
        self.requests += 1;
        if self.socket.is_none() {
            self.socket = Some(match self.key() {
                "" => Socket::open(&self.desk, self.counter).await,
                key => Socket::with_bearer(&self.desk, self.counter, key).await,
            });
        }
        let message = plain(self.requests, "tools/call", params);
        self.socket.as_mut().unwrap().request(&message).await
    }

    /// A process of its own, on the desk's data.
    fn over_stdio(&mut self, params: Value) -> Value {
        self.requests += 1;
        let pipe = self.pipe.get_or_insert_with(|| {
            let mut command = self.desk.place.command();
            command.args(["stdio", self.counter, "--log-level=warn", "--config"]);
            command.arg(self.desk.config());
            Pipe::start(command.envs(self.environment.iter().cloned()))
        });
        let message = modern(self.requests, "tools/call", params);
        tokio::task::block_in_place(|| pipe.request(&message))
    }
}

/// What is wrong with an answer, if anything.
fn wrong_with(answer: &Value, output: &jsonschema::Validator) -> Option<String> {
    let size = answer.to_string().len();
    if size > MOST_BYTES {
        return Some(format!("the answer has {size} bytes"));
    }
    let result = &answer["result"];
    if !result.is_object() {
        return Some("arguments in an object are answered with a result".into());
    }
    let structured = &result["structuredContent"];
    if result["isError"] != true {
        let broken = output.iter_errors(structured).next()?;
        return Some(format!("the answer breaks its output schema: {broken}"));
    }
    // InnerVoice's refusals are flat.
    let code = [&structured["error"]["code"], &structured["code"]];
    let code = code.iter().find_map(|code| code.as_str());
    match code {
        Some("INTERNAL_ERROR" | "TIMEOUT") => Some("the desk failed".into()),
        Some(_) => None,
        None => Some("a refusal without a code".into()),
    }
}

/// What is wrong with the answer to something that is no JSON, if anything.
fn wrong_with_error(answer: &Value) -> Option<String> {
    match answer["error"]["code"].as_i64() {
        Some(-32700 | -32600 | -32602) => None,
        _ => Some("what is no JSON is answered with a protocol error".into()),
    }
}
