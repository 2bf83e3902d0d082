//! The calendar as other programs read it: at a secret address, with an independent
//! parser.

mod caldav;
mod wires;

use serde_json::{Value, json};
use store::testing::Postgres;

use crate::harness::{
    Answer, Desk, Output, Place, clients, modern, modern_headers, request, structured,
};

/// Calls a tool as the local user.
fn call(desk: &Desk, tool: &str, arguments: &Value) -> Value {
    let arguments = arguments.to_string();
    let mut command = desk.place.command();
    command
        .args(["call", "innervoice", tool, &arguments, "--json"])
        .arg("--config")
        .arg(desk.config());
    structured(&Output::of(&mut command, "").ok().json()).clone()
}

/// Creates an address as an operator would, and returns its path.
fn subscribe(desk: &Desk, name: &str) -> String {
    path_of(&keys(
        desk,
        &["create", name, "--file", "innervoice/calendar.ics"],
    ))
}

fn path_of(made: &Value) -> String {
    let url = made["url"].as_str().unwrap();
    let at = url.find("/files/").unwrap();
    url[at..].to_owned()
}

fn keys(desk: &Desk, arguments: &[&str]) -> Value {
    let mut command = desk.place.command();
    command
        .arg("keys")
        .args(arguments)
        .arg("--json")
        .arg("--config")
        .arg(desk.config());
    Output::of(&mut command, "").ok().json()
}

async fn read(desk: &Desk, path: &str, tag: &str) -> Answer {
    request(desk.port, "GET", path, &[("if-none-match", tag)], "").await
}

const ALLOWED: &str = "[approval]\nhold_seconds = 0\n\
    tools = { \"innervoice.calendar.create\" = \"allow\", \
    \"innervoice.calendar.update\" = \"allow\" }\n";

async fn is_subscribed_to(config: &str) {
    let desk = Desk::setup().config(config).start().await;
    let created = call(
        &desk,
        "calendar.create",
        &json!({
            "title": "朝ラン; 公園, 池のまわり",
            "start": "2030-09-19T07:00:00+09:00",
            "duration_min": 30,
            "description": "靴を忘れない\n水も",
            "location": "代々木公園",
        }),
    );
    call(
        &desk,
        "calendar.create",
        &json!({
            "title": "Call with New York",
            "start": "2030-11-03T01:30:00[America/New_York]",
            "duration_min": 90,
        }),
    );
    let path = subscribe(&desk, "phone");

    let answer = read(&desk, &path, "").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        answer.header("content-type"),
        Some("text/calendar; charset=utf-8")
    );
    let tag = answer.header("etag").unwrap().to_owned();
    let events = parsed(&answer.text()).await;
    let event = &events[0];
    assert_eq!(
        event["uid"],
        format!("{}@madoguchi", created["id"].as_str().unwrap())
    );
    assert_eq!(event["summary"], "朝ラン; 公園, 池のまわり");
    assert_eq!(event["description"], "靴を忘れない\n水も");
    assert_eq!(event["location"], "代々木公園");
    assert_eq!(event["start"], "2030-09-19T07:00:00+09:00");
    assert_eq!(event["end"], "2030-09-19T07:30:00+09:00");
    assert_eq!(event["zone"], "Asia/Tokyo");
    assert_eq!(event["status"], "CONFIRMED");
    let event = &events[1];
    assert_eq!(event["zone"], "America/New_York");
    assert_eq!(event["start_utc"], "2030-11-03T05:30:00+00:00");
    assert_eq!(event["defined_offset"], -4 * 3600);

    // First unchanged, then changed.
    let same = read(&desk, &path, &tag).await;
    assert_eq!((same.status, same.body.len()), (304, 0));
    let same = read(&desk, &path, &format!("\"x\", W/{tag}")).await;
    assert_eq!(same.status, 304);
    call(&desk, "calendar.cancel", &json!({ "id": created["id"] }));
    let changed = read(&desk, &path, &tag).await;
    assert_eq!(changed.status, 200);
    assert_eq!(parsed(&changed.text()).await[0]["status"], "CANCELLED");

    // Two addresses: one is revoked, one is rotated.
    let laptop = subscribe(&desk, "laptop");
    keys(&desk, &["revoke", "phone"]);
    gone(&desk, &path).await;
    assert_eq!(read(&desk, &laptop, "").await.status, 200);
    let newer = path_of(&keys(&desk, &["rotate", "laptop"]));
    assert_eq!(read(&desk, &newer, "").await.status, 200);
    gone(&desk, &laptop).await;
}

/// Waits until the address no longer works.
async fn gone(desk: &Desk, path: &str) {
    for _ in 0..200 {
        if read(desk, path, "").await.status == 404 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("it is still there");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_calendar_program_subscribes() {
    is_subscribed_to(ALLOWED).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_calendar_program_subscribes_on_postgres() {
    let url = Postgres::shared().create_database();
    is_subscribed_to(&format!("{ALLOWED}\n[database]\nurl = \"{url}\"\n")).await;
}

/// The calendar as an independent parser reads it.
async fn parsed(text: &str) -> Vec<Value> {
    let output = clients::python_reading(&Place::new(), "calendar_file.py", text.into()).await;
    output.ok().json().as_array().unwrap().clone()
}

#[tokio::test]
async fn the_calendar_file_needs_its_own_key() {
    let desk = Desk::start().await;
    let create = ["create", "phone", "--file", "innervoice/calendar.ics"];
    let made = keys(&desk, &create);
    let path = path_of(&made);
    let key = made["key"].as_str().unwrap();
    assert_eq!(path, format!("/files/innervoice/{key}/calendar.ics"));
    assert_eq!(read(&desk, &path, "").await.status, 200);
    let other = if key.ends_with('0') { "1" } else { "0" };
    let guess = format!("{}{other}", &key[..key.len() - 1]);
    let usual = keys(&desk, &["create", "usual"]);
    let usual = usual["key"].as_str().unwrap();
    let wrong = [
        path.replace(key, &guess),
        path.replace(key, usual),
        path.replace(key, &key.to_uppercase()),
        path.replace("calendar.ics", "reminders"),
        path.replace("/calendar.ics", ""),
        "/files/innervoice/calendar.ics".into(),
        "/files/innervoice//calendar.ics".into(),
        path.replace("innervoice", "cinema"),
        path.replace("innervoice", "nowhere"),
    ];
    for path in &wrong {
        assert_eq!(read(&desk, path, "*").await.status, 404, "{path}");
    }
    // It can only be read, and only under the names of this desk.
    let posted = request(desk.port, "POST", &path, &[], "").await;
    assert_eq!(posted.status, 405);
    let head = request(desk.port, "HEAD", &path, &[], "").await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    let elsewhere = request(desk.port, "GET", &path, &[("host", "evil.example")], "").await;
    assert_eq!(elsewhere.status, 403);

    // Its key opens nothing else; other keys still work.
    for (key, status) in [(key, 401), (usual, 200)] {
        let params = json!({ "name": "calendar_list", "arguments": {} });
        let headers = modern_headers("tools/call", &params);
        let bearer = format!("Bearer {key}");
        let mut headers: Vec<(&str, &str)> =
            headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        headers.push(("authorization", &bearer));
        let body = modern(1, "tools/call", params).to_string();
        let answer = request(desk.port, "POST", "/mcp/innervoice", &headers, body).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }

    let listed = desk.place.run(&["keys", "list"]).ok().stdout;
    assert!(listed.contains("innervoice/calendar.ics"), "{listed}");
    let no = desk
        .place
        .run(&["keys", "create", "x", "--file", "innervoice/calendr.ics"]);
    let no = no.failed();
    assert!(
        no.contains("UNKNOWN_FILE") && no.contains("innervoice/calendar.ics"),
        "{no}"
    );
}
