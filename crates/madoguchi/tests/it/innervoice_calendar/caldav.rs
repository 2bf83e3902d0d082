//! Events on a real CalDAV server (Radicale).

use std::{
    process::{Child, Stdio},
    sync::Arc,
    time::Duration,
};

use kit::{Sql, Store, sql::Budget};
use serde_json::{Value, json};
use store::{
    Database, Options,
    testing::{Postgres, free_port},
    url::DatabaseUrl,
};

use super::{ALLOWED, call, keys};
use crate::harness::{Answer, Desk, Place, Socket, clients, plain, request, try_request};

/// Ended when it goes out of scope.
pub struct Server {
    pub port: u16,
    child: Child,
    place: Place,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts it with a calendar for `me`, whose password is `secret`.
    pub async fn start() -> Self {
        let place = Place::new();
        let server = Self::start_on(&place, free_port()).await;
        let made = server.ask("MKCALENDAR", "", &[], "").await;
        assert_eq!(made.status, 201, "{}", made.text());
        server
    }

    async fn start_on(place: &Place, port: u16) -> Self {
        place.file("users", "me:secret\n");
        let users = place.path().join("users");
        let folder = place.path().join("collections");
        let config = format!(
            "[server]\nhosts = 127.0.0.1:{port}\n\
             [auth]\ntype = htpasswd\nhtpasswd_filename = {}\nhtpasswd_encryption = plain\n\
             [storage]\nfilesystem_folder = {}\n",
            users.display(),
            folder.display()
        );
        let config = place.file("radicale.conf", &config);
        let config = config.display().to_string();
        let mut command = clients::python_module_beside(place, "radicale", &["--config", &config]);
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let place = place.clone();
        let server = Self { port, child, place };
        for _ in 0..600 {
            if try_request(port, "GET", "/", &[], "").await.is_ok() {
                return server;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("Radicale does not answer");
    }

    pub fn config(&self) -> String {
        format!(
            "{ALLOWED}\n[innervoice]\ncaldav_url = \"http://127.0.0.1:{}/me/work\"\n\
             caldav_user = \"me\"\ncaldav_password = \"secret\"\nlanguage = \"en\"\n",
            self.port
        )
    }

    async fn ask(&self, method: &str, file: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        // me:secret
        let mut all = vec![("authorization", "Basic bWU6c2VjcmV0")];
        all.extend(headers);
        let path = format!("/me/work/{file}");
        request(self.port, method, &path, &all, body.to_owned()).await
    }

    async fn read(&self, id: &str) -> Answer {
        self.ask("GET", &format!("{id}.ics"), &[], "").await
    }

    /// Waits until the copy is as expected.
    pub async fn has(&self, id: &str, wanted: impl Fn(&Answer) -> bool) -> Answer {
        for _ in 0..1200 {
            let answer = self.read(id).await;
            if wanted(&answer) {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it never came: {}", self.read(id).await.text());
    }
}

pub fn plan(desk: &Desk, title: &str) -> String {
    let event = json!({
        "title": title,
        "start": "2030-09-19T07:00:00+09:00",
        "duration_min": 30,
    });
    let created = call(desk, "calendar.create", &event);
    created["id"].as_str().unwrap().to_owned()
}

fn rename(desk: &Desk, id: &str, title: &str) -> Value {
    call(
        desk,
        "calendar.update",
        &json!({ "id": id, "title": title }),
    )
}

async fn sql<T: Send + 'static>(
    place: &Place,
    job: impl FnMut(&mut dyn Sql) -> kit::Result<T> + Send + 'static,
) -> T {
    let url = DatabaseUrl::Sqlite(place.data().join("madoguchi.db"));
    let database = Database::open(&url, Options::default()).await.unwrap();
    let store: Arc<dyn Store> = Arc::new(database.clone());
    let done = store.transaction(Budget::default(), job).await.unwrap();
    database.close().await.unwrap();
    done
}

/// Forgets what the desk recorded about the write, as if it had died before.
async fn forget(place: &Place) {
    let forget = |sql: &mut dyn Sql| sql.execute("DELETE FROM innervoice_caldav", &[]);
    assert!(sql(place, forget).await <= 1);
}

/// The tag of the server's copy that the desk recorded.
async fn remembered(place: &Place) -> Option<String> {
    let text = "SELECT etag FROM innervoice_caldav WHERE outcome = 'done'";
    let row = sql(place, move |sql| sql.query_one(text, &[])).await;
    row.map(|row| row.text(0).unwrap())
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn events_are_made_changed_and_deleted_there() {
    follow_an_event("").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn events_on_postgres_are_made_changed_and_deleted_there() {
    let url = Postgres::shared().create_database();
    follow_an_event(&format!("[database]\nurl = \"{url}\"\n")).await;
}

async fn follow_an_event(more: &str) {
    let server = Server::start().await;
    let config = format!("{}{more}", server.config());
    let desk = Desk::setup().config(&config).start().await;
    let id = plan(&desk, "朝ラン");
    let made = server.has(&id, |answer| answer.status == 200).await;
    let text = made.text();
    assert!(text.contains("SUMMARY:朝ラン"), "{text}");
    assert!(text.contains(&format!("UID:{id}@madoguchi")), "{text}");
    assert!(!text.contains("METHOD"), "{text}");
    assert_eq!(
        super::parsed(&text).await[0]["start"],
        "2030-09-19T07:00:00+09:00"
    );
    stands(&desk, &id, "done").await;
    rename(&desk, &id, "夜ラン");
    server
        .has(&id, |answer| answer.text().contains("夜ラン"))
        .await;
    call(&desk, "calendar.cancel", &json!({ "id": id }));
    server.has(&id, |answer| answer.status == 404).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_failed_sync_is_repeated_when_the_server_is_back() {
    let server = Server::start().await;
    let (place, port, config) = (server.place.clone(), server.port, server.config());
    drop(server);
    let desk = Desk::setup().config(&config).start().await;
    let id = plan(&desk, "朝ラン");
    desk.logs("that it tries again", |entry| {
        let message = entry["message"].as_str().unwrap_or_default();
        entry["event"] == id.as_str() && message.contains("retried")
    })
    .await;
    let waits = stands(&desk, &id, "waiting").await;
    let reason = waits["sync_note"].as_str().unwrap();
    assert!(reason.contains("could not be reached"), "{reason}");
    let server = Server::start_on(&place, port).await;
    server.has(&id, |answer| answer.status == 200).await;
    stands(&desk, &id, "done").await;
}

/// The first attempt reached the server, but its answer was lost.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_repeated_attempt_creates_no_second_event() {
    let server = Server::start().await;
    let config = server.config();
    let desk = Desk::setup().config(&config).start().await;
    let id = plan(&desk, "朝ラン");
    let made = server.has(&id, |answer| answer.status == 200).await;
    let place = desk.place.clone();
    drop(desk);
    // As if the desk had died before it recorded the outcome.
    forget(&place).await;
    let desk = Desk::setup().config(&config).place(&place).start().await;
    while remembered(&place).await.is_none() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let same = server.read(&id).await;
    assert_eq!(remembered(&place).await.as_deref(), same.header("etag"));
    assert_eq!(same.header("etag"), made.header("etag"));
    drop(desk);
    // The same, and the event has changed meanwhile.
    forget(&place).await;
    let desk = Desk::setup().config(&config).place(&place).start().await;
    rename(&desk, &id, "夜ラン");
    let changed = server
        .has(&id, |answer| answer.text().contains("夜ラン"))
        .await;
    assert_ne!(changed.header("etag"), made.header("etag"));
    let all = server.ask("GET", "", &[], "").await.text();
    assert_eq!(all.matches("BEGIN:VEVENT").count(), 1, "{all}");
}

/// The event in `calendar.list`, once it has this sync status.
pub async fn stands(desk: &Desk, id: &str, state: &str) -> Value {
    let range = json!({ "from": "2030-09-01", "to": "2030-09-30" });
    for _ in 0..200 {
        let list = call(desk, "calendar.list", &range);
        let mut events = list["events"].as_array().unwrap().iter();
        if let Some(event) = events.find(|event| event["id"] == id && event["sync"] == state) {
            let mut event = event.clone();
            event["said"] = list["message"].clone();
            return event;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!(
        "it never was {state}: {}",
        call(desk, "calendar.list", &range)
    );
}

impl Server {
    /// Somebody else gives the copy another title.
    async fn changed_by_somebody(&self, id: &str, before: &str, after: &str) {
        let there = self.read(id).await.text();
        let other = there
            .replace(before, after)
            .replace("SEQUENCE:0", "SEQUENCE:1")
            .replace("DTSTAMP:20", "DTSTAMP:19");
        let headers = [("content-type", "text/calendar")];
        let put = self
            .ask("PUT", &format!("{id}.ics"), &headers, &other)
            .await;
        assert!([201, 204].contains(&put.status), "{}", put.text());
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_copy_changed_on_the_server_is_kept_and_reported() {
    let server = Server::start().await;
    let desk = Desk::setup().config(&server.config()).start().await;
    let id = plan(&desk, "朝ラン");
    let told = stands(&desk, &id, "done").await;
    assert_eq!(told["sync_note"], Value::Null);
    server.changed_by_somebody(&id, "朝ラン", "散歩").await;
    rename(&desk, &id, "夜ラン");
    let shown = stands(&desk, &id, "conflict").await;
    let reason = shown["sync_note"].as_str().unwrap();
    assert!(
        reason.contains("changed it on the calendar server"),
        "{reason}"
    );
    assert!(
        reason.contains("overwrite") && reason.contains("calendar_cancel"),
        "{reason}"
    );
    let said = shown["said"].as_str().unwrap();
    assert!(
        said.ends_with("One was changed on the calendar server meanwhile."),
        "{said}"
    );
    assert!(server.read(&id).await.text().contains("散歩"));
    // Another change does not end the conflict; the user has to decide.
    rename(&desk, &id, "昼ラン");
    stands(&desk, &id, "conflict").await;
    assert!(server.read(&id).await.text().contains("散歩"));
    call(
        &desk,
        "calendar.update",
        &json!({ "id": id, "overwrite": true }),
    );
    stands(&desk, &id, "done").await;
    assert!(server.read(&id).await.text().contains("昼ラン"));
    // After that, changes are synced again.
    rename(&desk, &id, "夕ラン");
    server
        .has(&id, |answer| answer.text().contains("夕ラン"))
        .await;
}

/// The model sets `overwrite`, so the user is shown the copy on the server, and only
/// that copy is replaced.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_servers_copy_is_replaced_after_approval() {
    let server = Server::start().await;
    let config = server.config();
    let desk = Desk::setup().config(&config).start().await;
    let id = plan(&desk, "朝ラン");
    stands(&desk, &id, "done").await;
    server.changed_by_somebody(&id, "朝ラン", "散歩").await;
    rename(&desk, &id, "夜ラン");
    stands(&desk, &id, "conflict").await;

    // The default policy: a change needs approval.
    let update = "\"innervoice.calendar.update\" = \"allow\"";
    assert!(config.contains(update));
    let asking = config.replace(&format!(", {update}"), "");
    let place = desk.place.clone();
    drop(desk);
    let desk = Desk::setup().place(&place).config(&asking);
    let desk = desk.own_port("--innervoice-port").start().await;
    let key = keys(&desk, &["create", "phone"])["key"].clone();
    let mut socket = Socket::own_port(&desk, key.as_str().unwrap()).await;
    let arguments = json!({ "id": id, "overwrite": true });
    let params = json!({ "name": "calendar.update", "arguments": arguments });
    let mut overwrite = async || {
        let answer = socket
            .request(&plain(1, "tools/call", params.clone()))
            .await;
        answer["result"].clone()
    };
    // Approves the call, and returns the lines of its card.
    let approve = |answer: Value| {
        assert_eq!(answer["code"], "APPROVAL_REQUIRED", "{answer}");
        let listed = place.run(&["approvals", "list", "--json"]).ok().json();
        let asked = &answer["details"]["approval_id"];
        let mut listed = listed.as_array().unwrap().iter();
        let question = listed.find(|one| one["id"] == *asked).unwrap();
        let id = question["id"].as_str().unwrap();
        place.run(&["approvals", "approve", id]).ok();
        question["lines"].to_string()
    };
    let shown = approve(overwrite().await);
    assert!(
        shown.contains("夜ラン") && shown.contains("散歩"),
        "{shown}"
    );
    assert!(shown.contains("on the server, replaced"), "{shown}");
    assert!(server.read(&id).await.text().contains("散歩"));

    // The approved copy is gone before it is replaced: the newer copy stays, and is
    // reported as a conflict.
    let there = server.read(&id).await.text();
    let other = there.replace("散歩", "昼寝");
    let file = format!("{id}.ics");
    let headers = [("content-type", "text/calendar")];
    server.ask("PUT", &file, &headers, &other).await;
    assert_eq!(overwrite().await["status"], "ok");
    stands(&desk, &id, "conflict").await;
    let shown = approve(overwrite().await);
    assert!(shown.contains("昼寝"), "{shown}");
    assert!(server.read(&id).await.text().contains("昼寝"));
    assert_eq!(overwrite().await["status"], "ok");
    stands(&desk, &id, "done").await;
    assert!(server.read(&id).await.text().contains("夜ラン"));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_copy_deleted_on_the_server_stays_deleted_until_the_user_decides() {
    let server = Server::start().await;
    let desk = Desk::setup().config(&server.config()).start().await;
    let id = plan(&desk, "朝ラン");
    stands(&desk, &id, "done").await;
    let deleted = server.ask("DELETE", &format!("{id}.ics"), &[], "").await;
    assert_eq!(deleted.status, 200, "{}", deleted.text());
    rename(&desk, &id, "夜ラン");
    let shown = stands(&desk, &id, "conflict").await;
    let reason = shown["sync_note"].as_str().unwrap();
    assert!(
        reason.contains("deleted it on the calendar server"),
        "{reason}"
    );
    assert_eq!(server.read(&id).await.status, 404);
    call(
        &desk,
        "calendar.update",
        &json!({ "id": id, "overwrite": true }),
    );
    stands(&desk, &id, "done").await;
    assert!(server.read(&id).await.text().contains("夜ラン"));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_event_cancelled_here_and_changed_there_is_reported() {
    let server = Server::start().await;
    let desk = Desk::setup().config(&server.config()).start().await;
    let id = plan(&desk, "朝ラン");
    stands(&desk, &id, "done").await;
    server.changed_by_somebody(&id, "朝ラン", "散歩").await;
    call(&desk, "calendar.cancel", &json!({ "id": id }));
    let range = json!({ "from": "2030-09-01", "to": "2030-09-30" });
    let left = loop {
        let list = call(&desk, "calendar.list", &range);
        assert_eq!(list["events"], json!([]));
        if let Some(left) = list["left_on_server"][0].as_str() {
            break left.to_owned();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(left.contains(&id) && left.contains("still there"), "{left}");
    assert!(server.read(&id).await.text().contains("散歩"));
}
