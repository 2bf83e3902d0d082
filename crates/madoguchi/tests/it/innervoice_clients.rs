//! InnerVoice's first key, and the clients in its specification.

use serde_json::{Value, json};
use store::testing::Postgres;

use crate::harness::{Desk, Output, Place, clients};

const PORT: &str = "--innervoice-port";

fn keys(place: &Place) -> Vec<Value> {
    let listed = place.run(&["keys", "list", "--all", "--json"]).ok().json();
    listed.as_array().unwrap().clone()
}

#[tokio::test]
async fn the_first_start_hands_over_a_key_and_no_later_one_does() {
    let quiet = || Desk::setup().own_port(PORT).env("LOG_LEVEL", "error");
    let mut desk = quiet().start().await;
    let key = desk.first_key().unwrap();
    let kept = keys(&desk.place);
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0]["name"], "innervoice");
    assert_eq!(kept[0]["counters"], json!(["innervoice"]));
    let answer = list_tools(&desk, "innervoice", &key).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let place = desk.place.clone();
    std::fs::remove_file(place.data().join("first-key.txt")).unwrap();
    desk.signal("TERM");
    desk.ended().await;

    let again = quiet().place(&place).start().await;
    assert_eq!(again.first_key(), None);
    let answer = list_tools(&again, "innervoice", &key).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    // Nor once the person has revoked it.
    place.run(&["keys", "revoke", "innervoice"]).ok();
    drop(again);
    let after = quiet().place(&place).start().await;
    assert_eq!(after.first_key(), None);
    assert_eq!(keys(&place).len(), 1);
}

#[tokio::test]
async fn no_key_is_made_where_nobody_needs_it() {
    let without_port = Desk::start().await;
    assert_eq!(keys(&without_port.place), Vec::<Value>::new());

    let place = Place::new();
    place.run(&["keys", "create", "mine"]).ok();
    let with_key = Desk::setup().own_port(PORT).place(&place).start().await;
    assert_eq!(with_key.first_key(), None);
    assert_eq!(keys(&place).len(), 1);

    let configured = format!(
        "[identity]\nkeys = [{{ name = \"phone\", sha256 = \"{}\" }}]\n",
        "0".repeat(64)
    );
    let configured = Desk::setup()
        .own_port(PORT)
        .config(&configured)
        .start()
        .await;
    assert_eq!(configured.first_key(), None);
    assert_eq!(keys(&configured.place), Vec::<Value>::new());

    let place = Place::new();
    let mut command = place.command();
    command.args(["stdio", "innervoice"]);
    crate::harness::Output::of(&mut command, "").ok();
    assert!(!place.data().join("first-key.txt").exists());
    assert_eq!(keys(&place), Vec::<Value>::new());
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn desks_that_start_together_make_one_key() {
    let url = Postgres::shared().create_database();
    let start = || Desk::setup().own_port(PORT).database(&url).start();
    let (one, two, three) = tokio::join!(start(), start(), start());
    let desks = [one, two, three];
    let shown: Vec<String> = desks.iter().filter_map(Desk::first_key).collect();
    assert_eq!(shown.len(), 1, "{shown:?}");
    for desk in &desks {
        let answer = list_tools(desk, "innervoice", &shown[0]).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

async fn list_tools(desk: &Desk, counter: &str, key: &str) -> crate::harness::Answer {
    let headers = crate::harness::modern_headers("tools/list", &json!({}));
    let bearer = format!("Bearer {key}");
    let mut headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
    headers.push(("authorization", &bearer));
    let list = crate::harness::modern(1, "tools/list", json!({})).to_string();
    let path = format!("/mcp/{counter}");
    crate::harness::request(desk.port, "POST", &path, &headers, list).await
}

/// Needs no approval, in the spelling of the specification.
const ALLOWS: &str = "[approval]\ntools = { \"innervoice.calendar.create\" = \"allow\", \
    \"innervoice.calendar.update\" = \"allow\", \
    \"innervoice.message.send\" = \"allow\", \"innervoice.reminder.create\" = \"allow\" }\n";

fn key(place: &Place) -> String {
    let name = kit::ids::random("phone-", 8);
    let made = place.run(&["keys", "create", &name, "--json"]).ok().json();
    made["key"].as_str().unwrap().to_owned()
}

#[track_caller]
fn went_well(mode: &str, output: &Output) {
    assert_eq!(output.code, Some(0), "{mode}\n{}", output.stderr);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn python_over_http() {
    let desk = Desk::setup().config(ALLOWS).start().await;
    for mode in ["auto", "legacy", "2026-07-28"] {
        let arguments = [&desk.url(""), mode, &key(&desk.place)];
        let output = clients::python(&desk.place, "innervoice.py", &arguments).await;
        went_well(mode, &output);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn typescript_over_http() {
    let desk = Desk::setup().config(ALLOWS).start().await;
    for era in ["auto", "legacy", "pin"] {
        let arguments = [&desk.url(""), era, &key(&desk.place)];
        let output = clients::node(&desk.place, "innervoice.mjs", &arguments).await;
        went_well(era, &output);
    }
}

/// The arguments of the WebSocket scripts.
fn on_its_port(desk: &Desk) -> [String; 3] {
    let url = format!("ws://127.0.0.1:{}", desk.own_port);
    [url, key(&desk.place), key(&desk.place)]
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn python_on_its_own_port() {
    let desk = Desk::setup().config(ALLOWS).own_port(PORT).start().await;
    let arguments = on_its_port(&desk);
    let arguments = arguments.each_ref().map(String::as_str);
    let output = clients::python(&desk.place, "innervoice_socket.py", &arguments).await;
    went_well("websockets", &output);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn javascript_on_its_own_port() {
    let desk = Desk::setup().config(ALLOWS).own_port(PORT).start().await;
    let arguments = on_its_port(&desk);
    let arguments = arguments.each_ref().map(String::as_str);
    let output = clients::node(&desk.place, "innervoice_socket.mjs", &arguments).await;
    went_well("ws", &output);
}
