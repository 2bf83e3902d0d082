//! The desk is killed (SIGKILL) at a critical moment, and another starts on its
//! data: nothing is lost, and nothing is sent twice that must not be.
//!
//! The tests reach these moments from outside: with servers that do not answer, a
//! lock on the database, and by stopping the process.

use std::{
    sync::{Arc, mpsc},
    time::Duration,
};

use kit::{Sql, Store, sql::Budget};
use serde_json::{Value, json};
use store::{Database, Options, testing::Postgres, url::DatabaseUrl};

use super::{
    ALLOWS, ASKS, FLAG, approve, key,
    mail::{Caller, config, ids, in_the_rows},
};
use crate::harness::{Desk, MailServer, Output, Peer, Place, Socket, plain, result};

async fn start(config: &str, place: &Place) -> Desk {
    let setup = Desk::setup().place(place).config(config);
    setup.own_port(FLAG).start().await
}

fn kill(desk: Desk) {
    desk.signal("KILL");
    drop(desk);
}

/// The work of a dead process is taken over at once, however long its claim lasts.
async fn prolong_the_claim(place: &Place) {
    const LONG: &str = "UPDATE innervoice_outbox SET claimed_until = claimed_until + 1800000 \
        WHERE status = 'sending'";
    in_the_rows(place, &[LONG]).await;
}

fn message_id(sent: &Value) -> String {
    format!("<{}@example.com>", sent["id"].as_str().unwrap())
}

/// Before the mail's data and in the middle of it: the server has nothing, and gets
/// the mail from the next desk.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn killed_in_the_middle_of_a_mail() {
    for manner in ["mute", "half"] {
        let server = MailServer::start(&[manner, "accept"]).await;
        let (config, place) = (config(&server, 0), Place::new());
        let desk = start(&config, &place).await;
        let sent = Caller::new(&desk).await.send("one").await;
        server.began(manner).await;
        kill(desk);
        prolong_the_claim(&place).await;
        let desk = start(&config, &place).await;
        let received = server.received(1, &["accept"]).await;
        assert_eq!(received[0]["id"], message_id(&sent), "{manner}");
        let listed = Caller::new(&desk).await.becomes("sent").await;
        assert_eq!(listed["attempts"], 2, "{manner}");
        assert_eq!(server.so_far().len(), 1, "{manner}");
    }
}

/// The server has the mail, but its answer was lost: it gets the mail once more, and
/// recognises it by its id.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn killed_before_the_mail_server_answered() {
    let server = MailServer::start(&["hold", "accept"]).await;
    let (config, place) = (config(&server, 0), Place::new());
    let desk = start(&config, &place).await;
    let sent = Caller::new(&desk).await.send("one").await;
    let held = server.received(1, &["hold"]).await;
    kill(desk);
    prolong_the_claim(&place).await;
    let desk = start(&config, &place).await;
    let received = server.received(1, &["accept"]).await;
    assert_eq!(held[0]["id"], message_id(&sent));
    for same in ["id", "date", "text", "subject", "to"] {
        assert_eq!(received[0][same], held[0][same], "{same}");
    }
    Caller::new(&desk).await.becomes("sent").await;
    assert_eq!(server.so_far().len(), 2);
}

/// On PostgreSQL too, once the claim has expired.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn killed_before_the_mail_server_answered_on_postgres() {
    let server = MailServer::start(&["hold", "accept"]).await;
    let url = Postgres::shared().create_database();
    let config = config(&server, 0);
    let start = async || {
        let setup = Desk::setup().config(&config).own_port(FLAG);
        setup.database(&url).start().await
    };
    let desk = start().await;
    let mut command = desk.place.command();
    command
        .args(["keys", "create", "phone", "--json"])
        .env("MADOGUCHI_DATABASE__URL", &url);
    let key = Output::of(&mut command, "").ok().json()["key"].clone();
    let key = key.as_str().unwrap();
    let sent = Caller(Socket::own_port(&desk, key).await).send("one").await;
    server.received(1, &["hold"]).await;
    kill(desk);
    let desk = start().await;
    let url = DatabaseUrl::parse(&url).unwrap();
    let rows = Database::open(&url, Options::default()).await.unwrap();
    let rows: Arc<dyn Store> = Arc::new(rows);
    let run_out = |sql: &mut dyn Sql| {
        let text = "UPDATE innervoice_outbox SET claimed_until = 1 WHERE status = 'sending'";
        sql.execute(text, &[])
    };
    rows.transaction(Budget::default(), run_out).await.unwrap();
    let received = server.received(1, &["accept"]).await;
    assert_eq!(received[0]["id"], message_id(&sent));
    Caller(Socket::own_port(&desk, key).await)
        .becomes("sent")
        .await;
    assert_eq!(ids(&server.so_far()).len(), 1);
}

/// Keeps every process from writing until it is dropped.
struct WriteLock {
    _release: mpsc::Sender<()>,
    held: tokio::task::JoinHandle<()>,
}

impl WriteLock {
    async fn take(place: &Place) -> Self {
        let url = DatabaseUrl::Sqlite(place.data().join("madoguchi.db"));
        let (release, released) = mpsc::channel::<()>();
        let (took, taken) = tokio::sync::oneshot::channel();
        let held = tokio::spawn(async move {
            let database = Database::open(&url, Options::default()).await.unwrap();
            let rows: Arc<dyn Store> = Arc::new(database.clone());
            let mut took = Some(took);
            let wait = move |sql: &mut dyn Sql| {
                sql.execute("DELETE FROM innervoice_outbox WHERE id = 'none'", &[])?;
                took.take().unwrap().send(()).unwrap();
                let _ = released.recv();
                Ok(())
            };
            rows.transaction(Budget::default(), wait).await.unwrap();
            database.close().await.unwrap();
        });
        taken.await.unwrap();
        Self {
            _release: release,
            held,
        }
    }

    async fn release(self) {
        drop(self._release);
        self.held.await.unwrap();
    }
}

async fn status_in_the_rows(place: &Place) -> Vec<String> {
    let url = DatabaseUrl::Sqlite(place.data().join("madoguchi.db"));
    let database = Database::open(&url, Options::default()).await.unwrap();
    let rows: Arc<dyn Store> = Arc::new(database.clone());
    let read = |sql: &mut dyn Sql| {
        let rows = sql.query("SELECT status FROM innervoice_outbox", &[])?;
        rows.iter().map(|row| row.text(0)).collect()
    };
    let found = rows.query(Budget::default(), read).await.unwrap();
    database.close().await.unwrap();
    found
}

/// Long enough for the desk to get an answer; nothing depends on it.
const MOMENT: Duration = Duration::from_millis(500);

/// The server's answer arrived, but could not be recorded.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn killed_before_it_wrote_down_that_a_mail_was_taken() {
    let mut server = MailServer::start(&["gate", "accept"]).await;
    let (config, place) = (config(&server, 0), Place::new());
    let desk = start(&config, &place).await;
    let sent = Caller::new(&desk).await.send("one").await;
    server.received(1, &["gate"]).await;
    let lock = WriteLock::take(&place).await;
    server.answer().await;
    tokio::time::sleep(MOMENT).await;
    kill(desk);
    lock.release().await;
    assert_eq!(status_in_the_rows(&place).await, ["sending"]);
    let desk = start(&config, &place).await;
    let received = server.received(1, &["accept"]).await;
    assert_eq!(received[0]["id"], message_id(&sent));
    Caller::new(&desk).await.becomes("sent").await;
    assert_eq!(ids(&server.so_far()).len(), 1);
    assert_eq!(server.so_far().len(), 2);
}

/// The server answers while another program keeps the database locked for longer
/// than a write waits: the answer is recorded afterwards, and nothing is sent twice.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_busy_database_causes_no_second_mail() {
    let mut server = MailServer::start(&["gate", "accept"]).await;
    let (config, place) = (config(&server, 0), Place::new());
    let desk = start(&config, &place).await;
    Caller::new(&desk).await.send("one").await;
    server.received(1, &["gate"]).await;
    let lock = WriteLock::take(&place).await;
    server.answer().await;
    tokio::time::sleep(Duration::from_secs(7)).await;
    lock.release().await;
    let listed = Caller::new(&desk).await.becomes("sent").await;
    assert_eq!(listed["attempts"], 1);
    assert_eq!(server.so_far().len(), 1);
}

/// It is unknown whether the text was sent, so it is not sent again, and its status
/// says so.
#[tokio::test]
async fn killed_while_a_text_is_sent() {
    for manner in ["hold", "gate"] {
        let mut gateway = Peer::start("http_server.py", &[manner, "201"]).await;
        let config = format!(
            "{ALLOWS}\n[innervoice]\nundo_seconds = 0\nsms_from = \"+15550100111\"\n\
             sms_url = \"http://127.0.0.1:{}/Messages.json\"\n",
            gateway.port
        );
        let place = Place::new();
        let desk = start(&config, &place).await;
        let text = json!({ "to": "+819011112222", "text": "one" });
        let mut caller = Caller::new(&desk).await;
        assert_eq!(caller.call("message.send", text).await["status"], "ok");
        gateway.said(1, |one| one["method"] == "POST").await;
        if manner == "gate" {
            let lock = WriteLock::take(&place).await;
            gateway.go_on();
            gateway.said(1, |one| one["answered"] == true).await;
            tokio::time::sleep(MOMENT).await;
            kill(desk);
            lock.release().await;
        } else {
            kill(desk);
        }
        assert_eq!(status_in_the_rows(&place).await, ["sending"], "{manner}");
        let desk = start(&config, &place).await;
        let mut caller = Caller::new(&desk).await;
        let listed = caller.becomes("unknown").await;
        assert_eq!(listed["attempts"], 1, "{manner}");
        // Once another one is sent, the first one could have been repeated.
        let text = json!({ "to": "+819011112222", "text": "two" });
        caller.call("message.send", text).await;
        caller.becomes("sent").await;
        let posted = gateway.so_far(|one| one["method"] == "POST");
        let first = posted
            .iter()
            .filter(|one| one["body"].as_str().unwrap().ends_with("Body=one"));
        assert_eq!((first.count(), posted.len()), (1, 2), "{manner}");
    }
}

/// A living desk keeps what it is sending, even beside other desks; when it dies,
/// another one takes it over.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_message_of_a_living_desk_is_not_taken_over() {
    let server = MailServer::start(&["hold", "accept"]).await;
    let (config, place) = (config(&server, 0), Place::new());
    let one = start(&config, &place).await;
    let mut caller = Caller::new(&one).await;
    let first = caller.send("one").await;
    server.received(1, &["hold"]).await;
    let two = start(&config, &place).await;
    let second = caller.send("two").await;
    // The first desk waits for its server, so the other one sends this.
    let received = server.received(1, &["accept"]).await;
    assert_eq!(received[0]["id"], message_id(&second));
    assert_eq!(server.so_far().len(), 2);
    kill(one);
    let received = server.received(2, &["accept"]).await;
    assert_eq!(received[1]["id"], message_id(&first));
    let mut caller = Caller::new(&two).await;
    caller.becomes("sent").await;
    assert_eq!(server.so_far().len(), 3);
}

fn asking(server: &MailServer) -> String {
    config(server, 0).replace(ALLOWS, ASKS)
}

fn the_call() -> Value {
    let arguments = json!({ "to": "taro@example.com", "text": "one" });
    plain(
        1,
        "tools/call",
        json!({ "name": "message.send", "arguments": arguments }),
    )
}

/// The calls that sent a message, each with its approval.
fn in_the_trail(place: &Place) -> Vec<(String, String)> {
    place.run(&["audit", "verify"]).ok();
    let trail = place.run(&["audit", "export"]).ok().stdout;
    let records = trail
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let word = |record: &Value, name: &str| record[name].as_str().unwrap_or_default().to_owned();
    records
        .filter(|one: &Value| one["tool"] == "message.send" && one["outcome"] == "done")
        .map(|one| (word(&one, "call"), word(&one, "approval")))
        .collect()
}

/// The identical call, at a desk that was started anew: one message is sent.
async fn call_again(config: &str, place: &Place, key: &str, server: &MailServer) -> Desk {
    let desk = start(config, place).await;
    let mut socket = Socket::own_port(&desk, key).await;
    let answer = socket.request(&the_call()).await;
    let sent = result(&answer).clone();
    assert_eq!(sent["status"], "ok", "{sent}");
    let received = server.received(1, &["accept"]).await;
    assert_eq!(received[0]["id"], message_id(&sent));
    assert_eq!(status_in_the_rows(place).await.len(), 1);
    desk
}

/// The user approved, and the desk died before the work: the identical call needs no
/// second approval and does it once.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn killed_between_approval_and_commit() {
    let server = MailServer::start(&["accept"]).await;
    let (config, place) = (asking(&server), Place::new());
    let desk = start(&config, &place).await;
    let key = key(&place);
    let mut socket = Socket::own_port(&desk, &key).await;
    socket.send(&the_call()).await;
    while place.run(&["approvals", "list", "--json"]).ok().json() == json!([]) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    desk.signal("STOP");
    approve(&place).await;
    kill(desk);
    assert_eq!(status_in_the_rows(&place).await, [""; 0]);
    assert_eq!(server.so_far().len(), 0);
    let _desk = call_again(&config, &place, &key, &server).await;
    assert_eq!(in_the_trail(&place).len(), 1);
}

/// The message is in the outbox, but its caller got no answer: the identical call
/// gets the same message.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn killed_between_commit_and_answer() {
    let server = MailServer::start(&["accept"]).await;
    let (config, place) = (asking(&server), Place::new());
    let desk = start(&config, &place).await;
    let key = key(&place);
    let mut socket = Socket::own_port(&desk, &key).await;
    socket.send(&the_call()).await;
    approve(&place).await;
    while status_in_the_rows(&place).await.is_empty() {
        tokio::task::yield_now().await;
    }
    kill(desk);
    drop(socket);
    let _desk = call_again(&config, &place, &key, &server).await;
    assert_eq!(ids(&server.so_far()).len(), 1);
    // Two calls, each with its record, and one approval. The record that the next
    // desk completed names none.
    let mut trail = in_the_trail(&place);
    assert_eq!(trail.len(), 2, "{trail:?}");
    assert_ne!(trail[0].0, trail[1].0);
    trail.retain(|(_, approval)| !approval.is_empty());
    trail.dedup_by_key(|(_, approval)| approval.clone());
    assert_eq!(trail.len(), 1, "{trail:?}");
}
