//! Every method of the protocol and everything that can be read, tried with keys
//! that have no right to it. The methods are those of the program's own table,
//! the resources, templates and prompts those that it lists.

use std::collections::HashMap;

use desk::methods::{Access, METHODS, Method};
use serde_json::{Value, json};

use super::{Client, Way};
use crate::{
    audit::{
        Trail,
        trail::{count, eventually},
    },
    harness::{Desk, structured},
};

/// Nobody is asked and nobody is limited: what is refused is refused for want of
/// a right.
const OPEN: &str = r#"
[limits]
requests_per_minute = { innervoice = 100000 }
[approval.tools]
"innervoice.calendar.create" = "allow"
"innervoice.reminder.create" = "allow"
"#;

/// Tools that show nothing of what the counter's resources show.
const UNRELATED: [(&str, &str); 6] = [
    ("cinema", "find_best_seats"),
    ("innervoice", "message_send"),
    ("merchant", "get_product"),
    ("todo", "reorder_task"),
    ("rooms", "create_room"),
    ("fixture", "fixture_sum"),
];

/// As many resources of a counter are tried; the first of its list are one of
/// each kind.
const RESOURCES: usize = 8;

/// Something that can be read.
#[derive(Debug, Clone)]
enum Item {
    Resource(String),
    Template(String),
    Prompt(String),
    Tool(String),
}

/// What is asked of a method about an item; `None` where the two do not go
/// together. A method that this test does not know has no test yet.
fn question(method: Method, item: &Item) -> Option<Value> {
    match (method.name, item) {
        ("resources/read" | "resources/subscribe", Item::Resource(uri)) => {
            Some(json!({ "uri": uri }))
        }
        ("subscriptions/listen", Item::Resource(uri)) => {
            Some(json!({ "notifications": { "resourceSubscriptions": [uri] } }))
        }
        ("prompts/get", Item::Prompt(name)) => Some(json!({ "name": name })),
        ("completion/complete", Item::Prompt(name)) => Some(json!({
            "ref": { "type": "ref/prompt", "name": name },
            "argument": { "name": "date", "value": "" },
        })),
        ("completion/complete", Item::Template(template)) => Some(json!({
            "ref": { "type": "ref/resource", "uri": template },
            "argument": { "name": "id", "value": "" },
        })),
        ("tools/call", Item::Tool(name)) => Some(json!({ "name": name, "arguments": {} })),
        (
            "resources/read"
            | "resources/subscribe"
            | "subscriptions/listen"
            | "prompts/get"
            | "completion/complete"
            | "tools/call",
            _,
        ) => None,
        (unknown, _) => panic!("say how {unknown} is asked for an item"),
    }
}

/// Under which name a list stands in its result.
fn list_name(method: Method) -> &'static str {
    match method.name {
        "resources/list" => "resources",
        "resources/templates/list" => "resourceTemplates",
        "prompts/list" => "prompts",
        unknown => panic!("say what {unknown} lists"),
    }
}

async fn filled() -> Desk {
    let desk = Desk::setup().config(OPEN).demo().start().await;
    let place = &desk.place;
    let config = desk.config();
    let options = ["--json", "--config", config.to_str().unwrap()];
    let call = |counter: &str, tool: &str, arguments: Value| {
        let call = ["call", counter, tool, &arguments.to_string()];
        let answer = place.run(&[&call[..], &options].concat()).ok().json();
        structured(&answer["result"]);
    };
    let at = "2027-04-01T10:00:00+09:00";
    let event = json!({ "title": "Dentist", "start": at, "duration_min": 30 });
    call("innervoice", "calendar_create", event);
    let reminder = json!({ "note": "Drink", "time": at });
    call("innervoice", "reminder_create", reminder);
    let room = json!({ "roomName": "den", "description": "Quiet" });
    call("rooms", "create_room", room);
    call("todo", "create_task", json!({ "title": "Wash up" }));
    let context = json!({ "task_id": "T001", "content": "Soap" });
    call("todo", "update_context", context);
    let adr = json!({ "title": "Use soap", "context": "c", "decision": "d", "rationale": "e" });
    call("todo", "create_adr", adr);
    desk
}

/// Everything that a counter lets be read, as a key with all rights sees it.
async fn items(desk: &Desk, counter: &str, full: &str) -> Vec<Item> {
    let mut client = Client::open(desk, counter, full, Way::HttpModern).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut items = Vec::new();
    let resources = client.list("resources/list", "resources").await;
    items.extend(
        resources
            .iter()
            .take(RESOURCES)
            .map(|it| Item::Resource(text(&it["uri"]))),
    );
    let templates = client
        .list("resources/templates/list", "resourceTemplates")
        .await;
    items.extend(
        templates
            .iter()
            .map(|it| Item::Template(text(&it["uriTemplate"]))),
    );
    let prompts = client.list("prompts/list", "prompts").await;
    items.extend(prompts.iter().map(|it| Item::Prompt(text(&it["name"]))));
    let tools = client.list("tools/list", "tools").await;
    items.extend(tools.iter().map(|it| Item::Tool(text(&it["name"]))));
    items
}

fn counters() -> impl Iterator<Item = &'static str> {
    UNRELATED.iter().map(|(counter, _)| *counter)
}

#[tokio::test]
async fn a_key_for_another_tool_reads_nothing_and_each_try_is_on_record() {
    let desk = filled().await;
    let full = desk.place.create_key(&["full"]);
    let mut tried: HashMap<(&str, &str), usize> = HashMap::new();
    let mut refused_in_some_era: HashMap<&str, bool> = HashMap::new();
    for (counter, unrelated) in UNRELATED {
        let narrow = desk
            .place
            .create_key(&[counter, "--counters", counter, "--tools", unrelated]);
        let items = items(&desk, counter, &full).await;
        let has_resources = items.iter().any(|item| matches!(item, Item::Resource(_)));
        assert!(
            has_resources || counter == "merchant",
            "{counter} shows nothing"
        );
        for way in Way::ALL {
            let mut client = Client::open(&desk, counter, &narrow, way).await;
            for method in METHODS {
                match method.access {
                    Access::Counter => {}
                    Access::List => {
                        let seen = client.list(method.name, list_name(method)).await;
                        assert!(seen.is_empty(), "{counter} {way:?} {method:?}: {seen:?}");
                    }
                    Access::Call | Access::Data => {
                        for item in &items {
                            let is_own =
                                matches!(item, Item::Tool(name) if name.ends_with(unrelated));
                            let Some(question) = question(method, item).filter(|_| !is_own) else {
                                continue;
                            };
                            let answer = client.ask(method.name, &question).await;
                            let context = format!("{counter} {way:?} {item:?}: {answer}");
                            let is_of_other_era = answer["error"]["code"] == -32601;
                            let seen = refused_in_some_era.entry(method.name).or_default();
                            *seen |= !is_of_other_era;
                            if is_of_other_era {
                                continue;
                            }
                            let said = answer.to_string();
                            assert!(said.contains("FORBIDDEN"), "{context}");
                            if method.access == Access::Data {
                                assert_eq!(answer["error"]["code"], 403, "{context}");
                                *tried.entry((counter, method.name)).or_default() += 1;
                            }
                        }
                    }
                }
            }
            client.close();
        }
    }
    for (method, refused) in refused_in_some_era {
        assert!(refused, "{method} belongs to no era");
    }
    let is_refused = |record: &&Value| record["code"] == "FORBIDDEN";
    let all: usize = tried.values().sum();
    let trail = Trail::of(&desk.place);
    let calls = eventually(&trail, "all refusals", |records| {
        records.iter().filter(is_refused).count() >= all
    })
    .await;
    for ((counter, method), times) in tried {
        let of_method = |record: &&Value| {
            record["counter"] == counter && record["tool"] == method && is_refused(record)
        };
        let recorded = calls.iter().filter(of_method).count();
        assert_eq!(recorded, times, "{counter} {method}");
    }
}

#[tokio::test]
async fn a_key_for_another_counter_is_refused_every_method_and_counted() {
    let desk = Desk::with_config(OPEN).await;
    let elsewhere = desk
        .place
        .create_key(&["elsewhere", "--counters", "merchant"]);
    let mut asked = 0;
    for counter in counters().filter(|counter| *counter != "merchant") {
        for way in [Way::HttpModern, Way::SocketModern] {
            for method in METHODS {
                // A socket is closed after the first refusal.
                let client = Client::open(&desk, counter, &elsewhere, way).await;
                refuses(client, counter, method).await;
                asked += 1;
            }
        }
    }
    for method in METHODS {
        let client = Client::open(&desk, "cinema", &elsewhere, Way::StdioModern).await;
        refuses(client, "cinema", method).await;
        asked += 1;
    }
    // Refusals are written once their second is over.
    let counted = || {
        let records = Trail::of(&desk.place).records();
        // On every transport the key is known, and so is the reason.
        let counts = records.iter().filter(|record| {
            record["kind"] == "refused_count"
                && record["caller_name"] == "elsewhere"
                && record["code"] == "OUT_OF_SCOPE"
        });
        counts
            .filter_map(|record| record["count"].as_u64())
            .sum::<u64>()
    };
    for _ in 0..100 {
        if counted() == asked {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("{asked} requests were refused, {} are on record", counted());
}

async fn refuses(mut client: Client, counter: &str, method: Method) {
    let answer = client.ask(method.name, &json!({})).await;
    let code = &answer["error"]["code"];
    assert_eq!(*code, 403, "{counter} {method:?}: {answer}");
    client.close();
}

#[tokio::test]
async fn an_unknown_method_is_refused_by_the_first_stations() {
    let desk = Desk::start().await;
    let full = desk.place.create_key(&["full"]);
    for way in Way::ALL {
        let mut client = Client::open(&desk, "cinema", &full, way).await;
        for method in ["tasks/get", "sampling/createMessage", "resources/write", ""] {
            let answer = client.ask(method, &json!({})).await;
            assert_eq!(
                answer["error"]["code"], -32601,
                "{way:?} {method}: {answer}"
            );
        }
    }
}

#[tokio::test]
async fn the_right_to_a_tool_opens_its_resources_and_no_others() {
    let desk = filled().await;
    let calendar = desk.place.create_key(&[
        "calendar",
        "--counters",
        "innervoice",
        "--tools",
        "calendar_list",
    ]);
    for way in Way::ALL {
        let mut client = Client::open(&desk, "innervoice", &calendar, way).await;
        let calendar = json!({ "uri": "innervoice://calendar.ics" });
        let read = client.ask("resources/read", &calendar).await;
        assert!(read.to_string().contains("Dentist"), "{way:?}: {read}");
        let reminders = json!({ "uri": "innervoice://reminders" });
        let refused = client.ask("resources/read", &reminders).await;
        assert_eq!(refused["error"]["code"], 403, "{way:?}: {refused}");
        let listed = client.list("resources/list", "resources").await;
        let uris: Vec<&str> = listed.iter().filter_map(|it| it["uri"].as_str()).collect();
        assert_eq!(uris.len(), 2, "the calendar and one event: {uris:?}");
        assert!(!uris.contains(&"innervoice://reminders"));
        client.close();
    }
    let trail = Trail::of(&desk.place);
    let reads = |records: &[Value]| count(records, "resources/read", "done");
    let records = eventually(&trail, "all reads", |records| {
        reads(records) >= Way::ALL.len()
    })
    .await;
    assert_eq!(reads(&records), Way::ALL.len());
}

#[tokio::test]
async fn a_page_of_hidden_resources_gives_no_cursor_away() {
    let desk = Desk::setup().demo().start().await;
    let films = desk
        .place
        .create_key(&["films", "--tools", "get_movie_list"]);
    let mut client = Client::open(&desk, "cinema", &films, Way::HttpModern).await;
    let answer = client.ask("resources/list", &json!({})).await;
    let listed = &answer["result"]["resources"];
    assert_eq!(listed.as_array().unwrap().len(), 1, "the films: {answer}");
    assert_eq!(answer["result"].get("nextCursor"), None, "{answer}");
}

#[tokio::test]
async fn what_the_desk_does_not_offer_or_the_policy_forbids_is_not_read_either() {
    let films = json!({ "uri": "cinema://films" });
    let excluded = Desk::setup()
        .argument("--exclude-tools")
        .argument("get_movie_list");
    let denied = "[approval.tools]\n\"cinema.get_movie_list\" = \"deny\"\n";
    let asked = "[approval.tools]\n\"cinema.get_movie_list\" = \"ask\"\n";
    for (setup, code) in [
        (excluded, "TOOL_NOT_OFFERED"),
        (Desk::setup().config(denied), "DENIED_BY_POLICY"),
        (Desk::setup().config(asked), "FORBIDDEN"),
    ] {
        let desk = setup.demo().start().await;
        let answer = desk.rpc("cinema", "resources/read", films.clone()).await;
        assert_eq!(answer["error"]["code"], 403, "{code}: {answer}");
        let said = &answer["error"]["data"]["error"]["code"];
        assert_eq!(said, code, "{answer}");
        let prompts = desk.rpc("cinema", "prompts/list", json!({})).await;
        let prompts = prompts["result"]["prompts"].as_array().unwrap().len();
        // A prompt shows no data: whoever may be asked may have it.
        assert_eq!(prompts, usize::from(code == "FORBIDDEN"), "{code}");
    }
}

#[tokio::test]
async fn reading_a_file_is_on_record() {
    let desk = Desk::setup().start().await;
    let phone = desk
        .place
        .create_key(&["phone", "--file", "innervoice/calendar.ics"]);
    let path = format!("/files/innervoice/{phone}/calendar.ics");
    assert_eq!(desk.get(&path).await.status, 200);
    // Records of reads are written a moment after the answer.
    let of_file = |record: &Value| record["tool"] == "file";
    let trail = Trail::of(&desk.place);
    let mut found = None;
    for _ in 0..100 {
        found = trail.calls().into_iter().find(of_file);
        if found.is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let record = found.unwrap();
    assert_eq!(record["caller_name"], "phone", "{record}");
    assert_eq!(record["outcome"], "done", "{record}");
}
