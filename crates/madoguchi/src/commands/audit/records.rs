//! Records of the trail as `audit tail` shows them.

use desk::audit::FoundRecord;
use kit::Result;
use serde_json::Value;

use crate::{
    locale,
    output::{Cell, Look, aligned, compact, print},
};

pub fn show(found: &[FoundRecord], as_json: bool) -> Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    if as_json {
        let lines: Vec<String> = found.iter().map(|it| compact(&it.json)).collect();
        return print(&lines.join("\n")).map(drop);
    }
    let rows: Vec<Vec<Cell>> = found.iter().map(|it| row(it.at, &it.json)).collect();
    aligned(&rows).print().map(drop)
}

/// One record as a line for people.
fn row(at: i64, record: &Value) -> Vec<Cell> {
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    let who = match text("caller_name") {
        "" => text("caller"),
        name => name,
    };
    let time = Cell::new(Look::Dim, locale::written_to_the_second(at));
    let count = &record["count"];
    let sentence = match text("kind") {
        "call" => return call(time, who, record),
        "refused_count" => {
            let why = match text("code") {
                "" => String::new(),
                code => format!(": {code}"),
            };
            format!("{who}  {}  {count} requests refused{why}", text("counter"))
        }
        "read_count" => {
            let tool = format!("{}.{}", text("counter"), text("tool"));
            format!("{who}  {tool}  {count} reads")
        }
        "erased" => format!("arguments of {count} records erased: {}", text("what")),
        "lost" => format!("{count} records were lost"),
        kind => kind.to_owned(),
    };
    vec![time, sentence.into()]
}

fn call(time: Cell, who: &str, record: &Value) -> Vec<Cell> {
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    let look = match text("outcome") {
        "done" => Look::Good,
        "refused" | "failed" => Look::Bad,
        _ => Look::Plain,
    };
    let outcome = match text("code") {
        "" => text("outcome").to_owned(),
        code => format!("{} {code}", text("outcome")),
    };
    let took = record["ms"].as_f64().map(|ms| format!("{ms:.1} ms"));
    let mut rest = Vec::new();
    if record["recovered"] == true {
        rest.push("(recovered)".to_owned());
    }
    for name in ["arguments", "personal"] {
        if !record[name].is_null() {
            rest.push(record[name].to_string());
        }
    }
    if record["erased"] == true {
        rest.push("(arguments erased)".into());
    }
    vec![
        time,
        Cell::new(Look::Dim, text("call")),
        who.into(),
        format!("{}.{}", text("counter"), text("tool")).into(),
        Cell::new(look, outcome),
        took.unwrap_or_default().into(),
        rest.join("  ").into(),
    ]
}
