//! Runs a script of calls and commands.

use std::{collections::BTreeMap, fs, time::Duration};

use jiff::{Timestamp, ToSpan, civil::time, tz::TimeZone};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    audit::{Trail, trail::eventually},
    harness::{self, Desk, FakeClock, Place, free_seats, post, result, seats_of, structured},
};

pub struct Script {
    desk: Desk,
    clock: FakeClock,
    /// From the real time to ten o'clock of tomorrow, in Tokyo.
    start: i64,
    key: String,
    /// A key for tools that only a key may use that names them.
    manager: String,
    names: BTreeMap<String, String>,
    beside: Option<JoinHandle<Value>>,
}

impl Script {
    pub async fn start(config: &str) -> Self {
        let place = Place::new();
        let now = Timestamp::now().to_zoned(TimeZone::get("Asia/Tokyo").unwrap());
        let today = now.date().checked_add(1.day()).unwrap();
        let ten = today.to_datetime(time(10, 0, 0, 0));
        let ten = ten.to_zoned(now.time_zone().clone()).unwrap();
        let start = ten.timestamp().duration_since(now.timestamp()).as_secs();
        let clock = FakeClock::new(&place, "clock", &format!("{start:+}s"));
        let setup = Desk::setup().place(&place).config(config);
        let desk = setup.clock(&clock).start().await;
        let key = place.create_key(&["script"]);
        let tools = "check_ticket,update_inventory";
        let manager = place.create_key(&["manager", "--tools", tools]);
        let mut names = BTreeMap::new();
        for (name, days) in [
            ("yesterday", -1),
            ("today", 0),
            ("tomorrow", 1),
            ("later", 8),
        ] {
            let date = today.checked_add(days.days()).unwrap().to_string();
            names.insert(format!("{name}8"), date.replace('-', ""));
            names.insert(name.into(), date);
        }
        let item = |id| json!({ "product_id": id, "quantity": 1 }).to_string();
        let items: Vec<String> = (101..1_101).map(item).collect();
        names.insert("items".into(), items.join(", "));
        let product = |id| json!({ "id": id, "name": "x", "price_jpy": 1, "inventory_count": 9 });
        let products: Vec<String> = (101..1_101).map(|id| product(id).to_string()).collect();
        names.insert("products".into(), products.join(", "));
        names.insert("long".into(), "あ".repeat(9_000));
        names.insert("port".into(), desk.port.to_string());
        names.insert("config".into(), desk.config().to_str().unwrap().into());
        Self {
            desk,
            clock,
            start,
            key,
            manager,
            names,
            beside: None,
        }
    }

    /// Gives names to a screening of tomorrow, and to its free seats: `s1`, `s2`, …
    pub async fn name_free_seats(&mut self, show: &str, slot: &str, seat: &str) {
        let id = format!("S{}-{slot}", self.names["tomorrow8"]);
        let free = free_seats(&seats_of(&self.desk, &id).await);
        assert!(free.len() > 20, "{free:?}");
        for (number, id) in free.into_iter().enumerate() {
            self.names.insert(format!("{seat}{number}"), id);
        }
        self.names.insert(show.into(), id);
    }

    /// The text with the value of each `$name` in it.
    fn filled_in(&self, text: &str) -> String {
        let mut parts = text.split('$');
        let mut filled = parts.next().unwrap().to_owned();
        for part in parts {
            // The longest that fits: `s10` and not `s1`.
            let fitting = self
                .names
                .iter()
                .filter(|(name, _)| part.starts_with(*name));
            let longest = fitting.max_by_key(|(name, _)| name.len());
            let (name, value) = longest.unwrap_or_else(|| panic!("no ${part}"));
            let rest = &part[name.len()..];
            filled.push_str(value);
            filled.push_str(rest);
        }
        filled
    }

    pub async fn run_file(&mut self, name: &str) {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/codes");
        let text = fs::read_to_string(format!("{folder}/{name}")).unwrap();
        self.run(&text).await;
    }

    pub async fn run(&mut self, script: &str) {
        for line in script.lines() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (first, rest) = line.split_once(' ').unwrap();
            match first {
                "clock" => {
                    let distance = self.start + rest.parse::<i64>().unwrap() * 60;
                    self.clock.set(&format!("{distance:+}s"));
                }
                "forge" => {
                    let (name, ticket) = rest.split_once(' ').unwrap();
                    let (start, signature) = self.names[ticket].rsplit_once('.').unwrap();
                    let other = if signature.starts_with('A') { 'B' } else { 'A' };
                    let forged = format!("{start}.{other}{}", &signature[1..]);
                    self.names.insert(name.into(), forged);
                }
                "file" => {
                    let (name, text) = rest.split_once(' ').unwrap();
                    let path = self.desk.place.path().join(name);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    let text = self.filled_in(text).replace("\\n", "\n");
                    fs::write(path, text).unwrap();
                }
                "$" => {
                    let (command, code) = rest.split_once(" => ").unwrap();
                    self.command(command, code);
                }
                "rpc" => self.read(rest).await,
                "until" => self.repeat(rest).await,
                "&" => self.begin(rest).await,
                "wait" => {
                    let answer = self.beside.take().unwrap().await.unwrap();
                    expect(&answer, rest, line);
                }
                _ => self.call(line).await,
            }
        }
    }

    /// A read that is refused: its code is in the trail.
    async fn read(&self, line: &str) {
        let (read, code) = line.rsplit_once(" => ").unwrap();
        let [counter, method, params] = words(read);
        let params = serde_json::from_str(&self.filled_in(params)).unwrap();
        let answer = self.desk.rpc(counter, method, params).await;
        assert!(answer["jsonrpc"].is_string(), "{line}: {answer}");
        let trail = Trail::of(&self.desk.place);
        eventually(&trail, code, |records| {
            records.iter().any(|record| record["code"] == code)
        })
        .await;
    }

    async fn repeat(&self, line: &str) {
        let (call, code) = line.rsplit_once(" => ").unwrap();
        for _ in 0..500 {
            let answer = self.answer(call).await;
            if codes(&answer).contains(&json!(code)) {
                return;
            }
            structured(&answer);
        }
        panic!("never {code}");
    }

    async fn begin(&mut self, call: &str) {
        let [counter, tool, arguments] = words(call);
        let arguments = serde_json::from_str(&self.filled_in(arguments)).unwrap();
        let message = harness::call(1, tool, arguments);
        let (port, key, counter) = (self.desk.port, self.key.clone(), counter.to_owned());
        self.beside = Some(tokio::spawn(async move {
            let answer = post(port, &counter, Some(key.as_str()), &message)
                .await
                .unwrap();
            result(&answer.message()).clone()
        }));
        tokio::time::sleep(Duration::from_secs(3)).await;
    }

    async fn answer(&self, call: &str) -> Value {
        let [counter, tool, arguments] = words(call);
        let arguments = self.filled_in(arguments);
        let arguments = serde_json::from_str(&arguments);
        let arguments = arguments.unwrap_or_else(|error| panic!("{call}: {error}"));
        let message = harness::call(1, tool, arguments);
        let (counter, key) = match (counter.strip_prefix('-'), counter.strip_prefix('!')) {
            (Some(counter), _) => (counter, None),
            (_, Some(counter)) => (counter, Some(self.manager.as_str())),
            _ => (counter, Some(self.key.as_str())),
        };
        let answer = self.desk.post(counter, key, &message).await;
        result(&answer.message()).clone()
    }

    fn command(&self, command: &str, code: &str) {
        let environment = self.clock.environment();
        let environment = environment
            .each_ref()
            .map(|(name, value)| (*name, &**value));
        let command = self.filled_in(command);
        let words: Vec<&str> = command.split(' ').collect();
        let output = self.desk.place.run_with(&words, &environment);
        match code {
            "ok" => drop(output.ok()),
            code => {
                let said = format!("{}{}", output.stdout, output.stderr);
                assert!(said.contains(code), "{command}: {said}");
            }
        }
    }

    async fn call(&mut self, line: &str) {
        let (call, expected) = line.rsplit_once(" => ").unwrap();
        let answer = self.answer(call).await;
        if let Some((name, pointer)) = expected.split_once('=') {
            let value = structured(&answer).pointer(pointer);
            let value = value.unwrap_or_else(|| panic!("{line}: {answer}"));
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            self.names.insert(name.into(), text);
        } else {
            expect(&answer, expected, line);
        }
    }
}

fn words(line: &str) -> [&str; 3] {
    let words: Vec<&str> = line.splitn(3, ' ').collect();
    words.try_into().unwrap_or_else(|_| panic!("{line}"))
}

#[track_caller]
fn expect(answer: &Value, expected: &str, line: &str) {
    match expected {
        "ok" => assert_ne!(answer["isError"], true, "{line}: {answer}"),
        code => assert!(codes(answer).contains(&json!(code)), "{line}: {answer}"),
    }
}

/// The codes in an answer: of its error, and of its warnings.
fn codes(answer: &Value) -> Vec<Value> {
    let content = &answer["structuredContent"];
    let mut codes = vec![content["code"].clone(), content["error"]["code"].clone()];
    let warnings = content["warnings"].as_array().into_iter().flatten();
    codes.extend(warnings.map(|warning| warning["code"].clone()));
    codes.push(content["error"]["details"]["reason"].clone());
    codes
}
