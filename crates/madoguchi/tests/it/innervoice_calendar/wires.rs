//! CalDAV servers behind HTTPS, and such that refuse, redirect, hang and hang up.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    ALLOWED,
    caldav::{Server, plan, stands},
    call,
};
use crate::harness::{
    Desk, Peer, Place, mentions,
    tls::{AUTHORITY, Authority, EncryptingPort},
};

const SERVER: &str = "http_server.py";

fn config(url: &str) -> String {
    format!(
        "{ALLOWED}\n[innervoice]\ncaldav_url = \"{url}\"\nlanguage = \"en\"\n\
         caldav_user = \"me\"\ncaldav_password = \"secret\"\n"
    )
}

fn is_put(one: &Value) -> bool {
    one["method"] == "PUT"
}

/// Why events are not on the server yet.
fn notes(desk: &Desk) -> Vec<String> {
    let range = json!({ "from": "2030-09-01", "to": "2030-09-30" });
    let list = call(desk, "calendar.list", &range);
    let events = list["events"].as_array().unwrap().iter();
    let notes = events.filter_map(|event| event["sync_note"].as_str());
    notes.map(str::to_owned).collect()
}

/// Waits until an attempt has failed.
async fn first_note(desk: &Desk) -> String {
    let began = Instant::now();
    loop {
        if let Some(note) = notes(desk).pop() {
            return note;
        }
        assert!(began.elapsed() < Duration::from_secs(40));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_server_behind_https_is_used_when_its_authority_is_known() {
    let server = Server::start().await;
    let place = Place::new();
    let authority = Authority::of(&place);
    let port = EncryptingPort::start(&authority.issue(), server.port).await;
    let plain = format!("http://127.0.0.1:{}", server.port);
    let config = server.config();
    let config = config.replace(&plain, &format!("https://127.0.0.1:{}", port.port));
    let desk = Desk::setup().place(&place).config(&config).start().await;
    let id = plan(&desk, "朝ラン");
    let note = first_note(&desk).await;
    mentions(&note, &["certificate", "not trusted", "retried"]);
    drop(desk);
    let trusted = place.path().join(AUTHORITY);
    let desk = Desk::setup()
        .place(&place)
        .config(&config)
        .env("SSL_CERT_FILE", trusted.to_str().unwrap())
        .start()
        .await;
    server.has(&id, |answer| answer.status == 200).await;
    stands(&desk, &id, "done").await;
}

/// Each attempt is reported and repeated, under the same address and the same condition.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn what_a_server_refuses_is_reported_and_repeated() {
    let elsewhere = Peer::start(SERVER, &["201"]).await;
    let redirect = format!("302:http://127.0.0.1:{}/me/", elsewhere.port);
    let server = Peer::start(SERVER, &["401", "503", &redirect, "cut", "201"]).await;
    let config = config(&format!("http://127.0.0.1:{}/me/work", server.port));
    // All four are due when the desk that knows the server starts.
    let desk = Desk::setup().config(ALLOWED).start().await;
    let ids: Vec<String> = (0..4).map(|n| plan(&desk, &format!("Run {n}"))).collect();
    let place = desk.place.clone();
    drop(desk);
    let desk = Desk::setup().place(&place).config(&config).start().await;
    for id in &ids {
        stands(&desk, id, "done").await;
    }
    mentions(
        &desk.log(),
        &[
            "The CalDAV server answered 401.",
            "The CalDAV server answered 503.",
            "The CalDAV server answered 302.",
            "could not be reached, or did not answer",
        ],
    );
    let puts = server.so_far(is_put);
    assert_eq!(puts.len(), 8, "{puts:?}");
    for id in &ids {
        let path = format!("/me/work/{id}.ics");
        let own: Vec<_> = puts.iter().filter(|put| put["path"] == path).collect();
        assert_eq!(own.len(), 2, "{id}");
        for put in &own {
            assert_eq!(put["headers"]["if-none-match"], "*", "{put}");
            assert_eq!(put["body"], own[0]["body"]);
        }
    }
    // It was not asked to go there by the operator.
    assert_eq!(elsewhere.so_far(is_put).len(), 0);
}

/// A server that takes a request and never answers holds up nobody else, and is asked
/// again.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_server_that_hangs_holds_up_nobody() {
    let server = Peer::start(SERVER, &["hold", "201"]).await;
    let config = config(&format!("http://127.0.0.1:{}/me/work", server.port));
    let desk = Desk::setup().config(&config).start().await;
    let id = plan(&desk, "Run");
    server.said(1, is_put).await;
    let began = Instant::now();
    plan(&desk, "Walk");
    stands(&desk, &id, "waiting").await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(18), "{took:?}");
    // It gives up after twenty seconds.
    desk.logs("that it gave up", |entry| {
        let message = entry["message"].as_str().unwrap_or_default();
        message.contains("did not answer") && message.contains("It is retried")
    })
    .await;
    stands(&desk, &id, "done").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn doctor_says_why_a_calendar_server_cannot_be_used() {
    let server = Peer::start(SERVER, &["207", "401", "503", "302:/", "cut"]).await;
    let place = Place::new();
    let config = config(&format!("http://127.0.0.1:{}/me/work", server.port));
    let file = place.file("doctor.toml", &format!("[http]\nport = 0\n{config}"));
    for said in [
        "",
        "answers 401",
        "answers 503",
        "answers 302",
        "does not answer",
    ] {
        let report = place.run(&["doctor", "--json", "--config", file.to_str().unwrap()]);
        let report = report.json();
        let mut findings = report["findings"].as_array().unwrap().iter();
        let found = findings.find(|one| one["what"] == "caldav").unwrap();
        assert_eq!(found["ok"], said.is_empty(), "{found}");
        if !said.is_empty() {
            mentions(
                &found.to_string(),
                &["CALDAV_UNUSABLE", said, "caldav_password"],
            );
        }
    }
}
