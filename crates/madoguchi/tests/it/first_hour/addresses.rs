//! Commands find the desks that run on the same data.

use std::time::Duration;

use serde_json::{Value, json};
use store::testing::Postgres;

use crate::harness::{Desk, Output, Pipe, Place, call, mentions};

const NONE_RUNS: &str = "No desk runs on this data now.";

/// `approvals open` as the person at this desk would call it.
fn open(desk: &Desk, database: Option<&str>, arguments: &[&str]) -> Output {
    let arguments = [&["approvals", "open"], arguments].concat();
    let database = database.map(|url| ("MADOGUCHI_DATABASE__URL", url));
    desk.place.run_with(&arguments, database.as_slice()).ok()
}

#[tokio::test]
async fn the_link_leads_to_the_desk_that_runs_on_this_data() {
    let mut desk = Desk::start().await;
    let opened = open(&desk, None, &[]);
    let expected = desk.url("/console/open?token=");
    assert!(opened.stdout.starts_with(&expected), "{opened:?}");
    assert_eq!((opened.stdout.lines().count(), &*opened.stderr), (1, ""));
    let as_json = open(&desk, None, &["--json"]).json();
    assert!(as_json["url"].as_str().unwrap().starts_with(&expected));
    assert!(as_json["expires_at"].is_string());
    let found = &as_json["desks"][0];
    assert_eq!(found["pid"], desk.pid());
    assert_eq!(found["console"], desk.url(""));
    let cinema = json!(desk.url("/mcp/cinema"));
    assert!(
        found["addresses"].as_array().unwrap().contains(&cinema),
        "{found}"
    );
    // The link opens the console.
    let path = opened.stdout.trim().replace(&desk.url(""), "");
    assert_eq!(desk.get(&path).await.status, 200);

    desk.signal("TERM");
    assert!(desk.ended().await.success());
    let none = open(&desk, None, &[]);
    mentions(&none.stderr, &[NONE_RUNS, "madoguchi serve --data "]);
    assert!(
        none.stdout.starts_with("http://127.0.0.1:8010/"),
        "{none:?}"
    );
}

#[tokio::test]
async fn a_desk_that_was_killed_is_not_taken_for_running() {
    let mut desk = Desk::start().await;
    desk.signal("KILL");
    desk.ended().await;
    let announced = desk.place.data().join("madoguchi.db-desks");
    assert_eq!(announced.read_dir().unwrap().count(), 1);
    mentions(&open(&desk, None, &[]).stderr, &[NONE_RUNS]);
    assert_eq!(announced.read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn several_desks_on_one_data_are_listed() {
    let postgres = Postgres::shared().create_database();
    for database in [None, Some(postgres.as_str())] {
        let place = Place::new();
        let start = || {
            let setup = Desk::setup().place(&place);
            match database {
                Some(url) => setup.database(url).start(),
                None => setup.start(),
            }
        };
        let first = start().await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        let mut second = start().await;
        let opened = open(&first, database, &[]);
        let links: Vec<&str> = opened.stdout.lines().collect();
        // The newest first.
        assert!(links[0].starts_with(&second.url("/")), "{opened:?}");
        assert!(links[1].starts_with(&first.url("/")), "{opened:?}");
        let pid = format!("(process {})", first.pid());
        mentions(&opened.stderr, &["2 desks run on this data", &pid]);
        second.signal("TERM");
        assert!(second.ended().await.success());
        let opened = open(&first, database, &[]);
        assert!(opened.stdout.starts_with(&first.url("/")), "{opened:?}");
        assert_eq!(opened.stdout.lines().count(), 1);
    }
}

#[tokio::test]
async fn other_commands_name_the_desk_that_runs() {
    let desk = Desk::start().await;
    let report = desk.place.run(&["doctor", "--json"]).json();
    let findings = report["findings"].as_array().unwrap();
    let found: Vec<&Value> = findings.iter().filter(|it| it["what"] == "desks").collect();
    let running = format!("running: {} (process {})", desk.url(""), desk.pid());
    assert_eq!(
        found,
        [&json!({ "what": "desks", "ok": true, "message": running })]
    );

    // The address of a question, and of a file.
    desk.place
        .file("madoguchi.toml", "[approval]\nhold_seconds = 0\n");
    let mut pipe = Pipe::start(desk.place.command().args(["stdio", "innervoice"]));
    let event = json!({ "title": "Lunch", "start": "tomorrow at 12:30", "duration_min": 30 });
    let answer = pipe.request(&call(1, "calendar_create", event)).to_string();
    mentions(&answer, &[&desk.url("/console/approvals#ap_")]);
    let file = ["calendar", "--file", "innervoice/calendar.ics"];
    let made = desk
        .place
        .run(&[&["keys", "create"][..], &file].concat())
        .ok();
    assert!(made.stdout.starts_with(&desk.url("/")), "{made:?}");

    let wrong = "call cinema get_movie_list --url http://127.0.0.1:1";
    let hint = format!("--url {}\n", desk.url(""));
    let said = desk.place.run_line(wrong).failed();
    assert!(said.trim_end().ends_with(hint.trim_end()), "{said}");

    let port = desk.port.to_string();
    let said = desk.place.run(&["serve", "--port", &port]).failed();
    mentions(
        &said,
        &["PORT_TAKEN", "A desk already runs there", &desk.url("")],
    );
    let data = desk.place.data();
    let open = format!("madoguchi approvals open --data {}", data.display());
    assert!(said.trim_end().ends_with(&open), "{said}");
}
