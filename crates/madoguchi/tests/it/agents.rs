//! What a task costs an agent that makes no mistake: calls, and characters that it
//! writes and reads. `docs/agents.md` lists the figures, so that a change which makes
//! a task dearer shows up in a review. `UPDATE_DOCS=1 cargo test --test it agents`
//! writes them anew.

mod cinema;
mod innervoice;
mod merchant;
mod rooms;
mod todo;

use std::{fmt::Write, fs, path::Path, thread, time::Duration};

use jiff::{ToSpan, Zoned};
use serde_json::{Value, json};

use crate::harness::{Pipe, Place, call, modern, result, structured};

/// The figures may differ by this much without being written anew: names of days and
/// free seats differ from day to day.
const TOLERANCE: f64 = 0.05;

/// What a counter's list of tools may weigh.
const LONGEST_LIST: usize = 14_000;

/// Something that a person asks for in one sentence.
pub struct Task {
    /// The sentence.
    asked: &'static str,
    /// Makes the data that the task is about. Not counted.
    given: Vec<Call>,
    calls: Vec<Call>,
    /// Texts that the last answer must contain.
    shows: Vec<&'static str>,
    /// The share by which the characters may differ.
    tolerance: f64,
}

struct Call {
    tool: &'static str,
    arguments: Value,
    /// The code with which the call is refused, where that is a part of the task.
    refused: Option<&'static str>,
}

impl Call {
    fn new(tool: &'static str, arguments: Value) -> Self {
        Self {
            tool,
            arguments,
            refused: None,
        }
    }
}

impl Task {
    pub fn new(asked: &'static str) -> Self {
        Self {
            asked,
            given: Vec::new(),
            calls: Vec::new(),
            shows: Vec::new(),
            tolerance: TOLERANCE,
        }
    }

    /// A call that prepares the data. Its answer is `$g1`, `$g2`, … of later arguments.
    pub fn given(mut self, tool: &'static str, arguments: Value) -> Self {
        self.given.push(Call::new(tool, arguments));
        self
    }

    /// A call of the agent. In its arguments a text `$2/films/0/id` stands for that
    /// field of the second call's answer, and `$today`, `$today+3` or `$today+3%6` for a
    /// date: see [`day`].
    pub fn call(mut self, tool: &'static str, arguments: Value) -> Self {
        self.calls.push(Call::new(tool, arguments));
        self
    }

    /// The last call is refused, and the agent goes on by what the refusal says.
    pub fn refused(mut self, code: &'static str) -> Self {
        self.calls.last_mut().unwrap().refused = Some(code);
        self
    }

    /// The length of the answers depends on the day.
    pub fn varies(mut self) -> Self {
        self.tolerance = 0.25;
        self
    }

    /// The last answer contains this.
    pub fn shows(mut self, text: &'static str) -> Self {
        self.shows.push(text);
        self
    }
}

/// A counter and its tasks.
struct Subject {
    counter: &'static str,
    /// The configuration of the program.
    config: &'static str,
    /// Whether the task begins with the demo data.
    has_demo: bool,
    tasks: Vec<Task>,
}

struct Cost {
    calls: usize,
    characters: usize,
}

#[test]
fn the_costs_of_tasks_are_those_of_the_document() {
    let subjects = [
        cinema::subject(),
        merchant::subject(),
        todo::subject(),
        innervoice::subject(),
        rooms::subject(),
    ];
    let measured: Vec<(usize, Vec<Cost>)> = thread::scope(|scope| {
        let running: Vec<_> = subjects
            .iter()
            .map(|subject| scope.spawn(|| (listed(subject), costs(subject))))
            .collect();
        let done = running.into_iter().map(|it| it.join().unwrap());
        done.collect()
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let mut text = String::from(INTRODUCTION);
    let mut changed = Vec::new();
    for (subject, (list, costs)) in subjects.iter().zip(&measured) {
        assert!(*list <= LONGEST_LIST, "{}: {list}", subject.counter);
        write!(
            text,
            "\n## {}\n\nThe list of tools: {list} characters.\n\n| asked | calls | characters |\n|---|---:|---:|\n",
            subject.counter
        )
        .unwrap();
        for (task, cost) in subject.tasks.iter().zip(costs) {
            let row =
                |characters: usize| format!("| {} | {} | {characters} |\n", task.asked, cost.calls);
            let before = committed_characters(&committed, task.asked, cost.calls);
            let characters = match before {
                Some(before) if is_near(before, cost.characters, task.tolerance) => before,
                _ => {
                    changed.push(row(cost.characters));
                    cost.characters
                }
            };
            text.push_str(&row(characters));
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &text).unwrap();
    } else {
        assert!(
            changed.is_empty() && committed == text,
            "docs/agents.md is not what was measured; see the head of agents.rs. Different: {changed:?}"
        );
    }
}

const INTRODUCTION: &str = "# What a task costs an agent

Generated by a test, which does each task against the program with the demo data.
*Calls* is the least number of tool calls, *characters* what the agent writes as
arguments and reads as text in the answers. The list of tools is read once.
";

fn is_near(before: usize, now: usize, tolerance: f64) -> bool {
    let (before, now) = (before as f64, now as f64);
    (before - now).abs() <= before * tolerance + 20.0
}

/// The characters in a row of the document, if it has the same number of calls.
fn committed_characters(committed: &str, asked: &str, calls: usize) -> Option<usize> {
    let start = format!("| {asked} | {calls} | ");
    let row = committed.lines().find(|line| line.starts_with(&start))?;
    row[start.len()..].trim_end_matches(" |").parse().ok()
}

/// The program at an empty place, or at one with the demo data.
fn open(subject: &Subject) -> (Place, Pipe) {
    let place = Place::new();
    if subject.has_demo {
        place.load_demo_of(subject.counter, &[]);
    }
    let config = place.file("madoguchi.toml", subject.config);
    let mut command = place.command();
    command
        .args(["stdio", subject.counter, "--config"])
        .arg(config);
    let mut pipe = Pipe::start(&mut command);
    if subject.counter == "merchant" {
        while is_indexing(&mut pipe) {
            thread::sleep(Duration::from_millis(50));
        }
    }
    (place, pipe)
}

/// Whether the search index is still being built. Tasks are those of a shop that has
/// opened.
fn is_indexing(pipe: &mut Pipe) -> bool {
    let search = call(1, "search_products", json!({ "keywords": ["カレンダー"] }));
    let answer = pipe.request(&search);
    structured(result(&answer))["fallback"] == true
}

fn listed(subject: &Subject) -> usize {
    let (_place, mut pipe) = open(subject);
    let answer = pipe.request(&modern(1, "tools/list", json!({})));
    let length = result(&answer)["tools"].to_string().chars().count();
    pipe.finish();
    length
}

fn costs(subject: &Subject) -> Vec<Cost> {
    let cost = |task: &Task| {
        let (_place, mut pipe) = open(subject);
        let mut answers = Vec::new();
        for (index, call) in task.given.iter().enumerate() {
            let answer = run(&mut pipe, task, call, &answers);
            answers.push((format!("$g{}", index + 1), answer));
        }
        let mut characters = 0;
        for (index, call) in task.calls.iter().enumerate() {
            let arguments = filled_in(&call.arguments, &answers);
            let answer = run(&mut pipe, task, call, &answers);
            characters += arguments.to_string().chars().count();
            let content = answer["content"].as_array().unwrap();
            let texts = content.iter().filter_map(|block| block["text"].as_str());
            characters += texts.map(|text| text.chars().count()).sum::<usize>();
            answers.push((format!("${}", index + 1), answer));
        }
        let (_, last) = answers.last().unwrap();
        for text in &task.shows {
            let shown = last["structuredContent"].to_string();
            assert!(shown.contains(text), "{}: {text} in {shown}", task.asked);
        }
        pipe.finish();
        Cost {
            calls: task.calls.len(),
            characters,
        }
    };
    subject.tasks.iter().map(cost).collect()
}

fn run(pipe: &mut Pipe, task: &Task, call: &Call, answers: &[(String, Value)]) -> Value {
    let arguments = filled_in(&call.arguments, answers);
    let params = json!({ "name": call.tool, "arguments": arguments });
    let answer = pipe.request(&modern(1, "tools/call", params));
    let answer = result(&answer).clone();
    let content = &answer["structuredContent"];
    let code = content["error"]["code"]
        .as_str()
        .or(match answer["isError"] == true {
            true => content["code"].as_str(),
            false => None,
        });
    let (asked, tool) = (task.asked, call.tool);
    assert_eq!(code, call.refused, "{asked}: {tool} {arguments}: {answer}");
    answer
}

/// The arguments with what the earlier answers hold.
fn filled_in(arguments: &Value, answers: &[(String, Value)]) -> Value {
    match arguments {
        Value::String(text) if text.starts_with("$today") => json!(day(text)),
        Value::String(text) if text.starts_with('$') => {
            let (name, path) = text.split_once('/').unwrap_or((text, ""));
            let (_, answer) = answers.iter().find(|(it, _)| it == name).unwrap();
            let path = format!("/structuredContent/{path}");
            let found = answer.pointer(&path);
            found
                .unwrap_or_else(|| panic!("{text} in {answer}"))
                .clone()
        }
        Value::Array(items) => items.iter().map(|item| filled_in(item, answers)).collect(),
        Value::Object(fields) => {
            let filled = fields.iter();
            let filled = filled.map(|(name, value)| (name.clone(), filled_in(value, answers)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}

/// `$today+3` is in three days. `$today+3%6` is the first day from then on that is a
/// multiple of six days after the beginning of 2026, for data that repeats so.
fn day(text: &str) -> String {
    let days = text.trim_start_matches("$today").trim_start_matches('+');
    let (days, cycle) = days.split_once('%').unwrap_or((days, "1"));
    let days: i32 = days.parse().unwrap_or(0);
    let cycle: i32 = cycle.parse().unwrap();
    let tokyo = jiff::tz::TimeZone::get("Asia/Tokyo").unwrap();
    let day = Zoned::now().with_time_zone(tokyo).date() + days.days();
    let number = (day - jiff::civil::date(2026, 1, 1)).get_days();
    (day + (-number).rem_euclid(cycle).days()).to_string()
}
