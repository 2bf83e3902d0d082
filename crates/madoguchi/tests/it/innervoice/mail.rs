//! Mail through a real server that refuses, delays and hangs up.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use kit::{Sql, Store, sql::Budget};
use serde_json::{Value, json};
use store::{Database, Options, testing::Postgres, url::DatabaseUrl};

use super::{ALLOWS, FLAG, key};
use crate::harness::{Desk, MailServer, Output, Place, Socket, plain, result};

pub fn config(server: &MailServer, undo_seconds: u32) -> String {
    format!(
        "{ALLOWS}\n[innervoice]\nundo_seconds = {undo_seconds}\n\
         smtp_url = \"{}\"\nsmtp_from = \"Me <me@example.com>\"\n",
        server.url()
    )
}

async fn start(server: &MailServer, undo_seconds: u32) -> Desk {
    let config = config(server, undo_seconds);
    Desk::setup().config(&config).own_port(FLAG).start().await
}

async fn restart(server: &MailServer, place: &Place) -> Desk {
    let config = config(server, 0);
    let setup = Desk::setup().place(place).config(&config);
    setup.own_port(FLAG).start().await
}

pub struct Caller(pub Socket);

impl Caller {
    pub async fn new(desk: &Desk) -> Self {
        Self(Socket::own_port(desk, &key(&desk.place)).await)
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.0.request(&plain(1, "tools/call", params)).await;
        result(&answer).clone()
    }

    pub async fn send(&mut self, text: &str) -> Value {
        let arguments = json!({ "to": "taro@example.com", "text": text });
        let sent = self.call("message.send", arguments).await;
        assert_eq!(sent["status"], "ok", "{sent}");
        sent
    }

    /// Waits until the newest message has this status.
    pub async fn becomes(&mut self, status: &str) -> Value {
        for _ in 0..80 {
            let list = self.call("message.list", json!({})).await;
            let newest = list["messages"][0].clone();
            if newest["status"] == status {
                return newest;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        panic!("it never was {status}");
    }
}

pub fn ids(received: &[Value]) -> BTreeSet<&str> {
    received
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect()
}

/// Changes rows while no desk is open.
pub async fn in_the_rows(place: &Place, statements: &'static [&'static str]) {
    let file = place.data().join("madoguchi.db");
    let url = DatabaseUrl::parse(&format!("sqlite:///{}", file.display())).unwrap();
    let database = Database::open(&url, Options::default()).await.unwrap();
    let rows: Arc<dyn Store> = Arc::new(database.clone());
    let run = move |sql: &mut dyn Sql| {
        for statement in statements {
            assert_eq!(sql.execute(statement, &[])?, 1, "{statement}");
        }
        Ok(())
    };
    rows.transaction(Budget::default(), run).await.unwrap();
    database.close().await.unwrap();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn doctor_checks_the_mail_server() {
    let server = MailServer::start(&["accept"]).await;
    let place = Place::new();
    let doctor = |config: &str| {
        let file = place.file("doctor.toml", &format!("[http]\nport = 0\n{config}"));
        let file = file.to_str().unwrap().to_owned();
        let report = place.run(&["doctor", "--json", "--config", &file]).json();
        let findings = report["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|one| one["what"] == "smtp")
    };
    let none = doctor("").unwrap();
    let said = none["message"].as_str().unwrap();
    assert!(said.contains("MADOGUCHI_INNERVOICE__SMTP_URL"), "{said}");
    let there = config(&server, 0);
    assert_eq!(doctor(&there).unwrap()["ok"], true);
    let away = there.replace(&server.url(), "smtp://127.0.0.1:1");
    assert_eq!(doctor(&away).unwrap()["ok"], false);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_message_arrives_as_it_was_said() {
    let server = MailServer::start(&["accept"]).await;
    let desk = start(&server, 0).await;
    let mut caller = Caller::new(&desk).await;
    let text = "今から帰ります。\n夕食は 7 時で。";
    let sent = caller.send(text).await;
    assert_eq!(sent["delivery"], "queued");
    let received = server.received(1, &["accept"]).await;
    let message = &received[0];
    let lines: Vec<&str> = message["text"].as_str().unwrap().trim().lines().collect();
    assert_eq!(lines.join("\n"), text);
    assert_eq!(message["to"], json!(["taro@example.com"]));
    assert_eq!(message["sender"], "me@example.com");
    assert_eq!(message["subject"], "今から帰ります。");
    let id = format!("<{}@example.com>", sent["id"].as_str().unwrap());
    assert_eq!(message["id"], id);
    let listed = caller.becomes("sent").await;
    assert_eq!(listed["attempts"], 1);
    assert_eq!(server.so_far().len(), 1);
}

/// Strange names and texts never change the mail, and never stop later ones.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn each_message_becomes_one_mail_whatever_it_contains() {
    let server = MailServer::start(&["accept"]).await;
    let desk = start(&server, 0).await;
    let cards = [
        ("Evil\\nBcc: victim@example.com", "one@example.com"),
        ("Quote \"x\" <a@b.example>\\, Co.", "two@example.com"),
        ("\u{7}\u{1b}[31m\\r", "three@example.com"),
    ];
    let cards: String = cards
        .iter()
        .map(|(name, email)| {
            format!("BEGIN:VCARD\nVERSION:3.0\nFN:{name}\nEMAIL:{email}\nEND:VCARD\n")
        })
        .collect();
    let file = desk.place.file("contacts.vcf", &cards);
    let file = file.to_str().unwrap();
    desk.place.run(&["import", "innervoice", file]).ok();
    let mut caller = Caller::new(&desk).await;
    let found = caller.call("contacts.search", json!({ "query": "" })).await;
    let found = found["contacts"].as_array().unwrap().clone();
    assert_eq!(found.len(), 3, "{found:?}");
    for contact in &found {
        let message = json!({ "to": contact["contact_id"], "text": "hello" });
        assert_eq!(caller.call("message.send", message).await["status"], "ok");
    }
    let text = "dot\r\n.\r\nMAIL FROM:<x@example.com>\n.\nSubject: other\n..";
    caller.send(text).await;
    let received = server.received(4, &["accept"]).await;
    let mut to: Vec<&str> = received
        .iter()
        .map(|one| {
            assert_eq!(one["to"].as_array().unwrap().len(), 1, "{one}");
            let header = one["header_to"].as_str().unwrap();
            assert!(!header.chars().any(char::is_control), "{header}");
            one["to"][0].as_str().unwrap()
        })
        .collect();
    to.sort_unstable();
    let meant = [
        "one@example.com",
        "taro@example.com",
        "three@example.com",
        "two@example.com",
    ];
    assert_eq!(to, meant);
    let odd = received.iter().find(|one| one["subject"] == "dot").unwrap();
    let lines: Vec<&str> = odd["text"].as_str().unwrap().trim_end().lines().collect();
    assert_eq!(lines, text.lines().collect::<Vec<_>>());
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_temporary_refusal_is_retried_with_the_same_message() {
    let server = MailServer::start(&["later", "drop", "accept"]).await;
    let desk = start(&server, 0).await;
    let mut caller = Caller::new(&desk).await;
    caller.send("hello").await;
    let received = server.received(3, &["later", "drop", "accept"]).await;
    assert_eq!(ids(&received).len(), 1, "{received:?}");
    let dates: BTreeSet<&str> = received
        .iter()
        .map(|one| one["date"].as_str().unwrap())
        .collect();
    assert_eq!(dates.len(), 1);
    let listed = caller.becomes("sent").await;
    assert_eq!(listed["attempts"], 3);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_permanent_refusal_is_not_retried() {
    let server = MailServer::start(&["never"]).await;
    let desk = start(&server, 0).await;
    let mut caller = Caller::new(&desk).await;
    caller.send("hello").await;
    let listed = caller.becomes("failed").await;
    assert_eq!(listed["last_error"], "The mail server answered 550.");
    assert_eq!(server.so_far().len(), 1);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_message_cancelled_in_time_is_never_sent() {
    let server = MailServer::start(&["accept"]).await;
    let desk = start(&server, 600).await;
    let mut caller = Caller::new(&desk).await;
    let sent = caller.send("hello").await;
    let cancelled = caller.call("message.cancel", json!({})).await;
    assert_eq!(cancelled["id"], sent["id"]);
    drop(caller);
    drop(desk);
    assert_eq!(server.so_far().len(), 0);
}

/// Reminders are mailed too; those that came due while no desk was running are late.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_reminder_arrives_and_a_missed_one_comes_late() {
    let server = MailServer::start(&["accept"]).await;
    let config = format!(
        "{}reminder_email = \"me@example.com\"\n",
        config(&server, 0)
    );
    let setup = || Desk::setup().config(&config).own_port(FLAG);
    let mut desk = setup().start().await;
    let mut caller = Caller::new(&desk).await;
    let now = jiff::Timestamp::now();
    let soon = json!({ "time": now.to_string(), "note": "薬を飲む" });
    caller.call("reminder.create", soon).await;
    let received = server.received(1, &["accept"]).await;
    assert_eq!(received[0]["subject"], "薬を飲む");
    assert_eq!(received[0]["to"], json!(["me@example.com"]));
    let later = now + jiff::SignedDuration::from_hours(1);
    let later = json!({ "time": later.to_string(), "note": "later", "repeat": "daily" });
    assert_eq!(caller.call("reminder.create", later).await["status"], "ok");
    let place = desk.place.clone();
    // What it has sent is on record when it stops, and is not sent again.
    desk.signal("TERM");
    desk.ended().await;
    // As if two hours had passed.
    const MOVED: &str = "UPDATE innervoice_reminders SET next_fire_at = next_fire_at - 7200000, \
        starts_at = starts_at - 7200000 WHERE note = 'later'";
    in_the_rows(&place, &[MOVED]).await;
    let desk = setup().place(&place).start().await;
    let received = server.received(2, &["accept"]).await;
    let text = received[1]["text"].as_str().unwrap().trim();
    assert!(
        text.starts_with("later") && text.ends_with("late"),
        "{text}"
    );
    let mut caller = Caller::new(&desk).await;
    let list = caller.call("reminder.list", json!({})).await;
    assert_eq!(list["reminders"][0]["last_fired"]["outcome"], "late");
    assert_eq!(server.so_far().len(), 2);
}

/// Two desks on the same data send each message once between them.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn two_desks_send_each_message_once() {
    let server = MailServer::start(&["accept"]).await;
    let one = start(&server, 1).await;
    let _two = restart(&server, &one.place).await;
    let mut caller = Caller::new(&one).await;
    for count in 0..10 {
        caller.send(&format!("message {count}")).await;
    }
    let received = server.received(10, &["accept"]).await;
    assert_eq!(ids(&received).len(), 10);
    caller.becomes("sent").await;
    // Long enough for a duplicate to be sent.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(server.so_far().len(), 10);
}

/// Two desks on one PostgreSQL, killed and started again while they send: every
/// message arrives, under one id, and every reminder fires once.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn desks_that_come_and_go_send_everything_once() {
    const EACH: usize = 12;
    let server = MailServer::start(&["accept"]).await;
    let url = Postgres::shared().create_database();
    let config = format!(
        "{}reminder_email = \"me@example.com\"\n",
        config(&server, 0)
    );
    let start = async || {
        let setup = Desk::setup().config(&config).own_port(FLAG);
        setup.database(&url).start().await
    };
    let mut desks = [start().await, start().await];
    let mut command = desks[0].place.command();
    command
        .args(["keys", "create", "phone", "--json"])
        .env("MADOGUCHI_DATABASE__URL", &url);
    let made = Output::of(&mut command, "").ok().json();
    let key = made["key"].as_str().unwrap();
    for number in 0..EACH {
        let at = number % 2;
        let mut caller = Caller(Socket::own_port(&desks[at], key).await);
        caller.send(&format!("message {number}")).await;
        let time = jiff::Timestamp::now() + jiff::SignedDuration::from_millis(1500);
        let reminder = json!({ "time": time.to_string(), "note": format!("note {number}") });
        let set = caller.call("reminder.create", reminder).await;
        assert_eq!(set["status"], "ok", "{set}");
        // In turns, each time a little later.
        if number % 3 == 2 {
            let pause = Duration::from_millis(150 * number as u64);
            tokio::time::sleep(pause).await;
            let dies = (number / 3) % 2;
            desks[dies].signal("KILL");
            desks[dies] = start().await;
        }
    }
    let url = DatabaseUrl::parse(&url).unwrap();
    let database = Database::open(&url, Options::default()).await.unwrap();
    let rows: Arc<dyn Store> = Arc::new(database.clone());
    for round in 0.. {
        let received = server.so_far();
        if ids(&received).len() == 2 * EACH {
            break;
        }
        assert!(round < 90, "{} arrived", ids(&received).len());
        tokio::time::sleep(Duration::from_secs(1)).await;
        // A mail whose desk died is taken over when its claim expires: let it expire.
        let pass = |sql: &mut dyn Sql| {
            let dead = "UPDATE innervoice_outbox SET claimed_until = 1 WHERE status = 'sending'";
            sql.execute(dead, &[])
        };
        if round % 15 == 14 {
            rows.transaction(Budget::default(), pass).await.unwrap();
        }
    }
    let count = |sql: &mut dyn Sql| {
        let text = "SELECT COUNT(*), COUNT(DISTINCT reminder_id) FROM innervoice_firings";
        let row = sql.query_one(text, &[])?.unwrap();
        Ok((row.int(0)?, row.int(1)?))
    };
    let fired = rows.query(Budget::default(), count).await.unwrap();
    assert_eq!(fired, (EACH as i64, EACH as i64));
    database.close().await.unwrap();
}
