//! Good and bad requests to compare the two paths with.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::harness::{modern, plain};

type Headers<'a> = Vec<(&'a str, &'a str)>;

pub struct Case {
    pub name: &'static str,
    pub headers: Headers<'static>,
    pub body: String,
}

/// The requests in `corpus.json`. Each begins with the name of its case.
#[derive(Deserialize)]
struct Corpus<'a> {
    /// A tool and its arguments.
    #[serde(borrow)]
    calls: Vec<(&'a str, &'a str, Value)>,
    /// The parameters of `tools/list`.
    lists: Vec<(&'a str, Value)>,
    /// A call of `fixture_sum` in which the value at this path is replaced.
    set: Vec<(&'a str, Vec<&'a str>, Value)>,
    /// The same in which it is missing.
    removed: Vec<(&'a str, Vec<&'a str>)>,
    /// The same with these headers alone.
    headers: Vec<(&'a str, Headers<'a>)>,
    /// The same with one more header.
    more_headers: Vec<(&'a str, &'a str, &'a str)>,
    /// The same with another body.
    bodies: Vec<(&'a str, String)>,
}

fn headers(method: &'static str, name: Option<&'static str>) -> Headers<'static> {
    let mut headers = vec![
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
    ];
    headers.extend(name.map(|name| ("mcp-name", name)));
    headers
}

fn call(name: &'static str, tool: &'static str, arguments: Value) -> Case {
    let params = json!({ "name": tool, "arguments": arguments });
    Case {
        name,
        headers: headers("tools/call", Some(tool)),
        body: modern(1, "tools/call", params).to_string(),
    }
}

fn sum(name: &'static str) -> Case {
    call(name, "fixture_sum", json!({ "a": 1, "b": 2 }))
}

/// A call of `fixture_sum` whose object at `path` is changed at its last part.
fn changed(
    name: &'static str,
    path: &[&str],
    change: impl FnOnce(&mut serde_json::Map<String, Value>, &str),
) -> Case {
    let mut body: Value = serde_json::from_str(&sum(name).body).unwrap();
    let (last, above) = path.split_last().unwrap();
    let object = above.iter().fold(&mut body, |value, part| &mut value[part]);
    change(object.as_object_mut().unwrap(), last);
    let body = body.to_string();
    Case { body, ..sum(name) }
}

fn list(name: &'static str, mut message: Value) -> Case {
    message["id"] = "x".into();
    Case {
        name,
        headers: headers("tools/list", None),
        body: message.to_string(),
    }
}

pub fn corpus() -> Vec<Case> {
    let corpus: Corpus = serde_json::from_str(include_str!("corpus.json")).unwrap();
    let mut cases = Vec::new();
    for (name, tool, arguments) in corpus.calls {
        cases.push(call(name, tool, arguments));
    }
    for (name, params) in corpus.lists {
        cases.push(list(name, modern(2, "tools/list", params)));
    }
    let bare = plain(2, "tools/list", json!({}));
    cases.push(list("list without metadata", bare));
    for (name, path, value) in corpus.set {
        cases.push(changed(name, &path, |object, part| {
            object.insert(part.to_owned(), value);
        }));
    }
    for (name, path) in corpus.removed {
        cases.push(changed(name, &path, |object, part| {
            object.shift_remove(part).unwrap();
        }));
    }
    for (name, headers) in corpus.headers {
        cases.push(Case {
            headers,
            ..sum(name)
        });
    }
    for (name, header, value) in corpus.more_headers {
        let mut case = sum(name);
        case.headers.push((header, value));
        cases.push(case);
    }
    for (name, body) in corpus.bodies {
        cases.push(Case { body, ..sum(name) });
    }
    let mut escaped = sum("escaped name");
    escaped.body = escaped.body.replace("fixture_sum", "fixture_\\u0073um");
    cases.push(escaped);
    cases
}
