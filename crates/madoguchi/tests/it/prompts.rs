//! Prompts of the counters, and methods that a counter does not have.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Desk, LEGACY, Pipe, Session, Socket, configured_keys, modern, plain, result};

/// Each with an argument in a person's own words.
const PROMPTS: [(&str, &str, &str); 5] = [
    ("cinema", "box_office_clerk", ""),
    ("innervoice", "secretary", "request"),
    ("merchant", "shop_assistant", "wish"),
    ("todo", "project_planner", "goal"),
    ("rooms", "room_guest", "agentName"),
];

fn at(desk: &Desk, counter: &str) -> Pipe {
    Pipe::start(desk.place.command().args(["stdio", counter]))
}

fn text_of(pipe: &mut Pipe, prompt: &str, arguments: Value) -> String {
    let params = json!({ "name": prompt, "arguments": arguments });
    let got = pipe.request(&modern(3, "prompts/get", params));
    let messages = result(&got)["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 1);
    messages[0]["content"]["text"].as_str().unwrap().to_owned()
}

/// Under the names that texts use.
fn tools_of(pipe: &mut Pipe) -> BTreeSet<String> {
    let tools = pipe.request(&modern(2, "tools/list", json!({})));
    let tools = result(&tools)["tools"].as_array().unwrap();
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
    names
        .map(|name| name.trim_start_matches("agent_communication_").to_owned())
        .collect()
}

/// The tools that a text names, in the order in which it does so first.
fn named<'a>(text: &str, tools: &'a BTreeSet<String>) -> Vec<&'a str> {
    let mut found: Vec<(usize, &str)> = tools
        .iter()
        .filter_map(|tool| Some((first_use(text, tool)?, tool.as_str())))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, tool)| tool).collect()
}

/// As a word of its own: `list_rooms` is not in `my_list_rooms`.
fn first_use(text: &str, tool: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut uses = text.match_indices(tool).map(|(at, _)| at);
    uses.find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + tool.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[tokio::test]
async fn each_counter_has_a_prompt_that_names_its_tools_in_both_languages() {
    let desk = Desk::start().await;
    for (counter, prompt, own_words) in PROMPTS {
        let mut pipe = at(&desk, counter);
        let about = pipe.request(&modern(1, "server/discover", json!({})));
        assert!(result(&about)["capabilities"]["prompts"].is_object());
        let listed = pipe.request(&modern(1, "prompts/list", json!({})));
        let listed = result(&listed)["prompts"].as_array().unwrap();
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert_eq!(listed[0]["name"], prompt);
        let tools = tools_of(&mut pipe);
        let english = text_of(&mut pipe, prompt, json!({ "language": "en" }));
        let japanese = text_of(&mut pipe, prompt, json!({ "language": "ja" }));
        let forbids = ["ever ", "say nothing"];
        assert!(forbids.iter().any(|it| english.contains(it)), "{english}");
        assert!(japanese.contains("ないでください"), "{japanese}");
        let order = named(&english, &tools);
        assert!(order.len() >= 4, "{counter}: {order:?}");
        assert_eq!(order, named(&japanese, &tools), "{counter}");

        for (typed, values) in [("", json!(["ja", "en"])), ("E", json!(["en"]))] {
            let question = json!({
                "ref": { "type": "ref/prompt", "name": prompt },
                "argument": { "name": "language", "value": typed },
            });
            let answer = pipe.request(&modern(4, "completion/complete", question));
            assert_eq!(result(&answer)["completion"]["values"], values, "{counter}");
        }
        let wrong = json!({ "name": prompt, "arguments": { "language": "fr" } });
        let wrong = pipe.request(&modern(5, "prompts/get", wrong));
        assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
        if own_words.is_empty() {
            continue;
        }
        let told = text_of(&mut pipe, prompt, json!({ own_words: "ひよこ" }));
        assert!(told.contains("ひよこ"), "{told}");
        let long = json!({ "name": prompt, "arguments": { own_words: "x".repeat(501) } });
        let long = pipe.request(&modern(6, "prompts/get", long));
        assert_eq!(long["error"]["code"], -32602, "{long}");
    }
}

/// Whoever is told to use a tool may use it: a key for all tools of the text sees
/// the prompt, and one that lacks any of them does not.
#[tokio::test]
async fn a_prompt_is_for_whoever_may_use_every_tool_that_it_names() {
    let first = Desk::start().await;
    let mut keys = Vec::new();
    for (counter, prompt, _) in PROMPTS {
        let mut pipe = at(&first, counter);
        let tools = tools_of(&mut pipe);
        let text = text_of(&mut pipe, prompt, json!({}));
        let named = named(&text, &tools);
        keys.push((counter, named.join(" "), 1));
        for missing in &named {
            let others = named.iter().filter(|tool| *tool != missing);
            let others: Vec<&str> = others.copied().collect();
            keys.push((counter, others.join(" "), 0));
        }
    }
    let config: String = keys
        .iter()
        .enumerate()
        .map(|(number, (counter, tools, _))| {
            let key = configured_keys(&[(&format!("key-{number}"), tools)]);
            let tools: Vec<&str> = tools.split(' ').collect();
            format!("{key}counters = [\"{counter}\"]\ntools = {tools:?}\n")
        })
        .collect();
    let desk = Desk::with_config(&config).await;
    for (counter, tools, seen) in keys {
        let mut socket = Socket::with_bearer(&desk, counter, &tools).await;
        let listed = socket.request(&modern(1, "prompts/list", json!({}))).await;
        let listed = result(&listed)["prompts"].as_array().unwrap();
        assert_eq!(listed.len(), seen, "{counter}: {tools}");
    }
}

/// The shop declares no resources, so it has no methods for them either.
#[tokio::test]
async fn what_a_counter_does_not_declare_it_does_not_answer() {
    let desk = Desk::start().await;
    let uri = "http://test.org/v1/resources";
    let mut session = Session::open(&desk, "merchant", LEGACY).await;
    assert_eq!(session.server["capabilities"].get("resources"), None);
    let mut socket = Socket::open(&desk, "merchant").await;
    let mut pipe = at(&desk, "merchant");
    for method in [
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
    ] {
        let params = json!({ "uri": uri });
        for answer in [
            desk.rpc("merchant", method, params.clone()).await,
            session.request(method, params.clone()).await,
            socket.request(&plain(3, method, params.clone())).await,
            socket.request(&modern(4, method, params.clone())).await,
            pipe.request(&plain(5, method, params.clone())),
        ] {
            assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
            let said = answer["error"]["message"].as_str().unwrap();
            assert!(said.contains("has no resources"), "{said}");
        }
    }
    let listen = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    for answer in [
        desk.rpc("merchant", "subscriptions/listen", listen.clone())
            .await,
        socket
            .request(&modern(6, "subscriptions/listen", listen))
            .await,
    ] {
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

/// An unknown method is answered with what to send instead, and never with as
/// much text as the caller sent, or with text that can't be seen.
#[tokio::test]
async fn an_unknown_method_is_explained() {
    let desk = Desk::start().await;
    let mut session = Session::open(&desk, "cinema", LEGACY).await;
    let mut socket = Socket::open(&desk, "cinema").await;
    let mut pipe = at(&desk, "cinema");
    let long = "x".repeat(5_000);
    let hidden = "tools/\u{202e}\u{200b}\n## list";
    for (method, wanted) in [
        ("tools/lst", "Did you mean tools/list?"),
        (
            "get_movie_list",
            "get_movie_list is a tool: send tools/call",
        ),
        ("sampling/createMessage", "This counter answers tools/call"),
        ("roots/list", "Method not found: roots/list. This counter"),
        (hidden, "⟨U+202E⟩"),
        (&*long, "xxx…"),
    ] {
        let params = json!({});
        let body = modern(1, method, params.clone()).to_string();
        let headers = [("mcp-protocol-version", "2026-07-28")];
        let over_http = crate::harness::request(desk.port, "POST", "/mcp/cinema", &headers, body);
        for answer in [
            over_http.await.message(),
            session.request(method, params.clone()).await,
            socket.request(&plain(3, method, params.clone())).await,
            pipe.request(&plain(4, method, params.clone())),
        ] {
            assert_eq!(answer["error"]["code"], -32601, "{answer}");
            let said = answer["error"]["message"].as_str().unwrap();
            assert!(said.contains(wanted), "{said}");
            assert!(said.contains("tools/list, "), "{said}");
            assert!(said.chars().count() < 800, "{said}");
            assert!(!said.contains(['\u{202e}', '\u{200b}', '\n']), "{said}");
        }
    }
    // One that another revision has.
    for answer in [
        desk.rpc("cinema", "ping", json!({})).await,
        socket.request(&modern(5, "ping", json!({}))).await,
        pipe.request(&modern(6, "logging/setLevel", json!({ "level": "info" }))),
    ] {
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
        let said = answer["error"]["message"].as_str().unwrap();
        assert!(said.contains("revision of this request"), "{said}");
    }
}
