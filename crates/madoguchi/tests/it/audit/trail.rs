//! What stands in the trail, and what is noticed when it is touched.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use store::{Database, Options, testing::Postgres, url::DatabaseUrl};

use super::{Trail, lines};
use crate::harness::{Desk, Pipe, Place, Socket, call, configured_keys, mentions, modern, refused};

const KEY: &str = "correct horse battery staple";

/// A desk on each engine, and its trail.
pub async fn on_both(config: &str) -> Vec<(Desk, Trail)> {
    let embedded = Desk::with_config(config).await;
    let url = Postgres::shared().create_database();
    let server = Desk::setup().config(config).database(&url).start().await;
    let mut both = Vec::new();
    for (desk, url) in [(embedded, None), (server, Some(url))] {
        let place = desk.place.clone();
        both.push((desk, Trail { place, url }));
    }
    both
}

/// Reads are recorded a moment after they are answered.
pub async fn eventually(
    trail: &Trail,
    what: &str,
    wanted: impl Fn(&[Value]) -> bool,
) -> Vec<Value> {
    for _ in 0..300 {
        let records = trail.records();
        if wanted(&records) {
            return records;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("never recorded: {what}\n{:#?}", trail.records());
}

pub fn count(records: &[Value], tool: &str, outcome: &str) -> usize {
    let is = |record: &&Value| {
        let ended = record["outcome"] == outcome || record["code"] == outcome;
        record["tool"] == tool && ended
    };
    records.iter().filter(is).count()
}

/// Whatever counter an agent calls, it is found in the trail under its key.
#[tokio::test]
async fn calls_of_every_counter_are_recorded() {
    let desk = Desk::start().await;
    let key = desk.place.create_key(&["agent"]);
    let cart = json!({ "items": [{ "product_id": 1, "quantity": 1 }] });
    let calls = [
        ("cinema", "get_movie_list", json!({}), "done"),
        ("innervoice", "calendar_list", json!({}), "done"),
        (
            "merchant",
            "build_cart_mandates",
            json!({ "cart_plan": cart, "products": [] }),
            "done",
        ),
        (
            "merchant",
            "get_product",
            json!({ "product_id": 999 }),
            "PRODUCT_NOT_FOUND",
        ),
        ("rooms", "create_room", json!({ "roomName": "a" }), "done"),
        (
            "rooms",
            "get_messages",
            json!({ "roomName": "b" }),
            "ROOM_NOT_FOUND",
        ),
        ("todo", "create_task", json!({ "title": "Write" }), "done"),
        (
            "todo",
            "get_task",
            json!({ "task_id": "T999" }),
            "TASK_NOT_FOUND",
        ),
    ];
    for (counter, tool, arguments, _) in &calls {
        desk.call_as(&key, counter, tool, arguments.clone()).await;
    }
    let trail = Trail::of(&desk.place);
    let all = |records: &[Value]| records.iter().filter(|it| it["kind"] == "call").count() == 8;
    let records = eventually(&trail, "a call of a counter", all).await;
    for (counter, tool, _, outcome) in &calls {
        let mut own = records.iter().filter(|it| {
            let name = it["tool"].as_str().unwrap_or_default().replace('.', "_");
            it["counter"] == *counter && (name == *tool || name.ends_with(&format!("/{tool}")))
        });
        let one = own.next().unwrap_or_else(|| panic!("{tool}: {records:#?}"));
        assert!(own.next().is_none(), "{tool} is there twice");
        assert_eq!(one["caller_name"], "agent", "{one}");
        assert!(
            one["outcome"] == *outcome || one["code"] == *outcome,
            "{one}"
        );
    }
    trail.verified();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn every_call_on_every_transport_is_recorded_once() {
    for (mut desk, trail) in on_both("").await {
        let sum = json!({ "a": 1, "b": 2 });
        desk.ok("fixture", "fixture_sum", sum.clone()).await;
        let wrong = desk
            .call("fixture", "fixture_sum", json!({ "a": "x" }))
            .await;
        refused(&wrong, "INVALID_ARGUMENT");
        let params = json!({ "name": "fixture_summ", "arguments": {} });
        let unknown = desk.rpc("fixture", "tools/call", params).await;
        assert!(unknown["error"].is_object(), "{unknown}");
        desk.call("fixture", "fixture_panic", json!({})).await;
        desk.ok("fixture", "fixture_write", json!({})).await;

        let mut socket = Socket::open(&desk, "fixture").await;
        socket.request(&call(1, "fixture_sum", sum.clone())).await;
        socket
            .send(&call(2, "fixture_sleep", json!({ "milliseconds": 60_000 })))
            .await;
        socket.request(&call(3, "fixture_sum", sum.clone())).await;
        drop(socket);

        let mut command = desk.place.command();
        command.args(["stdio", "fixture", "--fixture"]);
        command.envs(trail.environment());
        let mut pipe = Pipe::start(&mut command);
        pipe.request(&call(1, "fixture_sum", sum));
        let (_, status, stderr) = pipe.finish();
        assert!(status.success(), "{stderr}");

        desk.logs_giving_up("fixture_sleep").await;
        desk.signal("TERM");
        assert!(desk.ended().await.success());
        let records = trail.records();
        for (tool, outcome, times) in [
            ("fixture_sum", "done", 4),
            ("fixture_sum", "INVALID_ARGUMENT", 1),
            ("unknown", "UNKNOWN_TOOL", 1),
            ("fixture_panic", "failed", 1),
            ("fixture_write", "done", 1),
        ] {
            assert_eq!(count(&records, tool, outcome), times, "{tool} {outcome}");
        }
        let slept = count(&records, "fixture_sleep", "abandoned")
            + count(&records, "fixture_sleep", "CANCELLED");
        assert_eq!(slept, 1, "{records:#?}");
        assert_eq!(records.len(), 9, "{records:#?}");
        let mut ids: Vec<&str> = records
            .iter()
            .map(|it| it["call"].as_str().unwrap())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 9);
        let first = &records[0];
        assert_eq!(first["caller"], "anonymous");
        assert_eq!(first["counter"], "fixture");
        assert_eq!(first["arguments"], json!({ "a": 1, "b": 2 }));
        assert!(first["ms"].as_f64().unwrap() > 0.0);
        assert_eq!(first["arguments_digest"].as_str().unwrap().len(), 64);
        let asked = records.iter().find(|it| it["tool"] == "unknown").unwrap();
        assert_eq!(asked["personal"]["tool"], "fixture_summ");
        let report = trail.verified();
        assert_eq!(report["segments"], 2, "{report}");
        assert_eq!(report["live"], 0);
        assert_eq!(report["unfinished"], json!([]));
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn refusals_before_a_tool_is_known_are_counted_and_keys_are_named() {
    let keys = configured_keys(&[("phone", KEY)]);
    let config = format!("[http]\nrequire_key = true\n{keys}");
    for (desk, trail) in on_both(&config).await {
        let sum = json!({ "a": 1, "b": 2 });
        let send = |key| desk.call_as(key, "fixture", "fixture_sum", sum.clone());
        for _ in 0..5 {
            assert_eq!(send("wrong").await.status, 401);
        }
        assert_eq!(send(KEY).await.status, 200);
        let refused = |records: &[Value]| {
            let counts = records.iter().filter(|it| it["kind"] == "refused_count");
            counts.map(|it| it["count"].as_u64().unwrap()).sum::<u64>()
        };
        let records = eventually(&trail, "five refusals and a call", |records| {
            refused(records) == 5 && count(records, "fixture_sum", "done") == 1
        })
        .await;
        assert_eq!(refused(&records), 5);
        let done = records.iter().find(|it| it["kind"] == "call").unwrap();
        assert_eq!(done["caller_name"], "phone");
        let only = trail.run(&["tail", "--caller", "phone", "--json"]).ok();
        assert_eq!(lines(&only.stdout).len(), 1);
        let none = trail.run(&["tail", "--caller", "tablet", "--json"]).ok();
        assert_eq!(none.stdout, "");
        assert!(!format!("{records:?}").contains(KEY));
    }
}

#[test]
fn a_process_that_calls_nothing_leaves_no_file() {
    let place = Place::new();
    let mut command = place.command();
    command.args(["stdio", "fixture", "--fixture"]);
    let mut pipe = Pipe::start(&mut command);
    pipe.request(&modern(1, "tools/list", json!({})));
    pipe.finish();
    assert!(!place.data().join("audit").exists());
    assert_eq!(Trail::of(&place).verified()["segments"], 0);
}

#[test]
fn processes_on_one_directory_each_have_a_chain_of_their_own() {
    let place = Place::new();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let place = place.clone();
            std::thread::spawn(move || {
                let mut command = place.command();
                command.args(["stdio", "fixture", "--fixture"]);
                let mut pipe = Pipe::start(&mut command);
                for id in 0..20 {
                    pipe.request(&call(id, "fixture_write", json!({})));
                }
                pipe.finish();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let trail = Trail::of(&place);
    let report = trail.verified();
    assert_eq!(
        (&report["segments"], &report["live"]),
        (&json!(4), &json!(0))
    );
    assert_eq!(trail.calls().len(), 80);
}

/// A desk that made some calls and stopped, and another after it.
async fn two_runs() -> Trail {
    let place = Place::new();
    for _ in 0..2 {
        let mut desk = Desk::setup().place(&place).start().await;
        for _ in 0..3 {
            desk.ok("fixture", "fixture_write", json!({})).await;
        }
        desk.signal("TERM");
        assert!(desk.ended().await.success());
        // Names say when a segment began, to the second.
        tokio::time::sleep(Duration::from_millis(1100)).await;
    }
    Trail::of(&place)
}

#[tokio::test]
async fn verify_names_every_kind_of_damage() {
    let trail = two_runs().await;
    trail.verified();
    let segments = trail.segments();
    let [first, second] = &segments[..] else {
        panic!("{segments:?}");
    };
    let name = |path: &std::path::Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let good = fs::read(first).unwrap();
    let text = String::from_utf8(good.clone()).unwrap();

    let mut changed = good.clone();
    let third_line = text.match_indices('\n').nth(1).unwrap().0 + 20;
    changed[third_line] ^= 1;
    fs::write(first, &changed).unwrap();
    let said = trail.broken();
    assert!(said.contains(&format!("{} line 3", name(first))), "{said}");

    let without: String = text
        .split_inclusive('\n')
        .enumerate()
        .filter(|(at, _)| *at != 2)
        .map(|(_, line)| line)
        .collect();
    fs::write(first, without).unwrap();
    let said = trail.broken();
    mentions(&said, &[&format!("{} line 3: record 4", name(first))]);

    fs::write(first, &good[..good.len() - 30]).unwrap();
    mentions(&trail.broken(), &[&name(first), "sealed"]);

    fs::remove_file(first).unwrap();
    mentions(&trail.broken(), &[&name(first), "missing"]);
    fs::write(first, &good).unwrap();
    trail.verified();

    // The newest one, after which nobody came.
    let newest = fs::read(second).unwrap();
    fs::remove_file(second).unwrap();
    assert!(trail.broken().contains(&name(second)));
    fs::write(second, newest).unwrap();

    let checkpoints = trail.directory().join("checkpoints.jsonl");
    let sealed = fs::read_to_string(&checkpoints).unwrap();
    fs::write(&checkpoints, sealed.replace("stopped", "crashed")).unwrap();
    assert!(trail.broken().contains("checkpoints line 1"));
    fs::write(&checkpoints, "").unwrap();
    assert!(trail.broken().contains("saw a checkpoint 1"));
    fs::write(&checkpoints, sealed).unwrap();
    trail.verified();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_changed_row_is_found_and_named() {
    let url = Postgres::shared().create_database();
    let mut desk = Desk::setup().database(&url).start().await;
    for _ in 0..3 {
        desk.ok("fixture", "fixture_write", json!({})).await;
    }
    desk.signal("TERM");
    assert!(desk.ended().await.success());
    let trail = Trail {
        place: desk.place.clone(),
        url: Some(url.clone()),
    };
    trail.verified();
    let store = store_of(&url).await;
    for (statement, said) in [
        (
            "UPDATE desk_audit SET record = replace(record, 'fixture_write', 'fixture_wrote') WHERE seq = 3",
            "line 3: its content does not match its hash",
        ),
        (
            "DELETE FROM desk_audit WHERE seq = 3 AND segment <> 'checkpoints'",
            "line 3: record 4",
        ),
        (
            "DELETE FROM desk_audit WHERE seq > 2",
            "sealed with 5 records",
        ),
        (
            "DELETE FROM desk_audit WHERE segment <> 'checkpoints'",
            "missing",
        ),
    ] {
        change(&store, statement).await;
        let broken = trail.broken();
        assert!(broken.contains(said), "{broken}");
    }
}

async fn change(store: &Arc<dyn kit::Store>, statement: &'static str) {
    let work = store.transaction(Default::default(), move |sql| sql.execute(statement, &[]));
    assert!(work.await.unwrap() > 0, "{statement}");
}

pub async fn store_of(url: &str) -> Arc<dyn kit::Store> {
    let url = DatabaseUrl::parse(url).unwrap();
    Arc::new(Database::open(&url, Options::default()).await.unwrap())
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_export_is_in_the_order_of_time_across_processes() {
    for (desk, trail) in on_both("").await {
        for _ in 0..5 {
            desk.ok("fixture", "fixture_write", json!({})).await;
            let call = ["call", "fixture", "fixture_write", "--fixture"];
            desk.place.run_with(&call, &trail.environment()).ok();
        }
        let file = desk.place.path().join("trail.jsonl");
        let path = file.to_str().unwrap();
        trail.run(&["export", "--output", path]).ok();
        let exported = lines(&fs::read_to_string(file).unwrap());
        let calls: Vec<&Value> = exported.iter().filter(|it| it["kind"] == "call").collect();
        assert_eq!(calls.len(), 10);
        let callers: Vec<&str> = calls
            .iter()
            .map(|it| it["caller"].as_str().unwrap())
            .collect();
        let turns = ["anonymous", "local"].repeat(5);
        assert_eq!(callers, turns);
        let later = trail.run(&["export", "--since", calls[5]["at"].as_str().unwrap()]);
        let later = lines(&later.ok().stdout);
        assert!(later.len() < exported.len());
        assert!(later.iter().any(|it| it["call"] == calls[5]["call"]));
        let wrong = trail.run(&["export", "--since", "yesterday"]);
        wrong.fails_with("INVALID_TIME");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn tail_follow_shows_new_records() {
    for (desk, trail) in on_both("").await {
        desk.ok("fixture", "fixture_write", json!({})).await;
        let mut command = desk.place.command();
        command.args(["audit", "tail", "--follow", "--json"]);
        command.args(["--tool", "fixture_write"]);
        command.envs(trail.environment());
        let mut follower = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut shown = BufReader::new(follower.stdout.take().unwrap()).lines();
        let first = shown.next().unwrap().unwrap();
        desk.ok("fixture", "fixture_sum", json!({ "a": 1, "b": 2 }))
            .await;
        desk.ok("fixture", "fixture_write", json!({})).await;
        let second = shown.next().unwrap().unwrap();
        let _ = follower.kill();
        let _ = follower.wait();
        let [first, second] = [first, second].map(|line| lines(&line).remove(0));
        assert_eq!(first["tool"], "fixture_write");
        assert_eq!(second["tool"], "fixture_write");
        assert_ne!(first["call"], second["call"]);
    }
}
