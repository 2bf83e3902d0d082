//! Changing and cancelling: the person who approved something is asked again before
//! it changes, and sees both versions.

use std::time::Duration;

use kit::context::Language;
use serde_json::{Value, json};
use store::testing::Postgres;

use super::FLAG;
use crate::harness::{Desk, Output, Socket, plain, result};

/// Creating needs no approval, so that each test is about the change. Calls that
/// need one answer at once.
const CREATES: &str = "[approval]\nhold_seconds = 0\ntools = { \
    \"innervoice.calendar_create\" = \"allow\", \"innervoice.message_send\" = \"allow\", \
    \"innervoice.reminder_create\" = \"allow\" }\n[innervoice]\nlanguage = \"en\"\n";

/// A desk, and the person at its command line.
struct Home {
    desk: Desk,
    database: Option<String>,
}

impl Home {
    async fn with(config: &str, database: Option<String>) -> Self {
        let mut setup = Desk::setup().config(config).own_port(FLAG);
        if let Some(url) = &database {
            setup = setup.database(url);
        }
        let desk = setup.start().await;
        Self { desk, database }
    }

    async fn on_both(config: &str) -> [Self; 2] {
        let url = Postgres::shared().create_database();
        [
            Self::with(config, None).await,
            Self::with(config, Some(url)).await,
        ]
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.desk.place.command();
        command.args(arguments);
        if let Some(url) = &self.database {
            command.env("MADOGUCHI_DATABASE__URL", url);
        }
        Output::of(&mut command, "")
    }

    fn approvals(&self) -> Vec<Value> {
        let listed = self.run(&["approvals", "list", "--json"]).ok().json();
        listed.as_array().unwrap().clone()
    }

    /// The approval that an answer names.
    #[track_caller]
    fn question(&self, answer: &Value) -> Value {
        assert_eq!(answer["code"], "APPROVAL_REQUIRED", "{answer}");
        let id = &answer["details"]["approval_id"];
        let all = self.approvals();
        all.iter().find(|one| one["id"] == *id).unwrap().clone()
    }

    fn approve(&self, question: &Value) {
        let id = question["id"].as_str().unwrap();
        self.run(&["approvals", "approve", id]).ok();
    }

    async fn agent(&self, name: &str) -> Agent {
        let made = self.run(&["keys", "create", name, "--json"]).ok().json();
        Agent(Socket::own_port(&self.desk, made["key"].as_str().unwrap()).await)
    }
}

/// A client with a key of its own.
struct Agent(Socket);

impl Agent {
    async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.0.request(&request(tool, arguments)).await["result"].clone()
    }

    async fn ok(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.call(tool, arguments).await;
        assert_eq!(answer["status"], "ok", "{tool} {arguments}: {answer}");
        answer
    }

    async fn drinks_water(&mut self) -> Value {
        let reminder = json!({ "time": "2030-01-01T09:00", "note": "drink water" });
        self.ok("reminder.create", &reminder).await["id"].clone()
    }

    async fn sees_the_dentist(&mut self) -> Value {
        let event = json!({
            "title": "dentist", "start": "2030-01-01T09:00:00+09:00", "duration_min": 30
        });
        self.ok("calendar.create", &event).await["id"].clone()
    }

    async fn notes(&mut self) -> Vec<String> {
        let list = self.ok("reminder.list", &json!({})).await;
        texts(&list["reminders"], "note")
    }

    async fn titles(&mut self) -> Vec<String> {
        let range = json!({ "from": "2029-12-01", "to": "2030-12-31" });
        let list = self.ok("calendar.list", &range).await;
        texts(&list["events"], "title")
    }
}

fn request(tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    plain(1, "tools/call", params)
}

fn texts(items: &Value, field: &str) -> Vec<String> {
    let items = items.as_array().unwrap().iter();
    items
        .map(|item| item[field].as_str().unwrap().to_owned())
        .collect()
}

/// The text of a card's line.
fn line(question: &Value, label: &str) -> String {
    let lines = question["lines"].as_array().unwrap();
    let found = lines.iter().find(|line| line["label"] == label);
    let found = found.unwrap_or_else(|| panic!("no {label} in {lines:?}"));
    found["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_changed_reminder_is_asked_about_with_before_and_after() {
    for home in Home::on_both(CREATES).await {
        let mut agent = home.agent("phone").await;
        let id = agent.drinks_water().await;
        let change = json!({ "id": id, "note": "buy stocks", "time": "2030-01-02T08:00" });
        let asked = home.question(&agent.call("reminder.update", &change).await);
        assert_eq!(agent.notes().await, ["drink water"]);
        assert_eq!(line(&asked, "Note (before)"), "drink water");
        assert_eq!(line(&asked, "Note (after)"), "buy stocks");
        assert_eq!(
            line(&asked, "When (before)"),
            "Tue 1 Jan 2030, 09:00 (Asia/Tokyo, UTC+09:00)"
        );
        assert_eq!(
            line(&asked, "When (after)"),
            "Wed 2 Jan 2030, 08:00 (Asia/Tokyo, UTC+09:00)"
        );
        home.approve(&asked);
        agent.ok("reminder.update", &change).await;
        assert_eq!(agent.notes().await, ["buy stocks"]);
        // Repeating the change changes nothing, so nobody is asked.
        agent.ok("reminder.update", &change).await;
        assert_eq!(home.approvals().len(), 1);
    }
}

/// A time in words means what the card shows, however long the user takes.
#[tokio::test]
async fn words_for_a_time_count_from_when_the_user_was_asked() {
    let config = CREATES.replace(
        "\"innervoice.reminder_create\" = \"allow\"",
        "\"innervoice.reminder_list\" = \"allow\"",
    );
    let home = Home::with(&config, None).await;
    let mut agent = home.agent("phone").await;
    let soon = json!({ "time": "+30m", "note": "bread" });
    let asked = home.question(&agent.call("reminder.create", &soon).await);
    tokio::time::sleep(Duration::from_secs(2)).await;
    home.approve(&asked);
    let made = agent.ok("reminder.create", &soon).await;
    let shown = line(&asked, "When");
    let next = made["next"][0].as_str().unwrap();
    let at: jiff::Timestamp = next.parse().unwrap();
    let at = at.to_zoned(kit::time::zone("Asia/Tokyo").unwrap());
    let written = kit::time::written_in_full(&at, Language::English);
    assert_eq!(shown, written, "{next}");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_changed_event_is_asked_about_with_before_and_after() {
    for home in Home::on_both(CREATES).await {
        let mut agent = home.agent("phone").await;
        let id = agent.sees_the_dentist().await;
        let change = json!({ "id": id, "start": "2030-01-01T18:00", "location": "Shibuya" });
        let asked = home.question(&agent.call("calendar.update", &change).await);
        assert_eq!(line(&asked, "Title"), "dentist");
        assert_eq!(
            line(&asked, "Starts (before)"),
            "Tue 1 Jan 2030, 09:00 (Asia/Tokyo, UTC+09:00)"
        );
        assert_eq!(
            line(&asked, "Starts (after)"),
            "Tue 1 Jan 2030, 18:00 (Asia/Tokyo, UTC+09:00)"
        );
        assert_eq!(line(&asked, "Place (after)"), "Shibuya");
        home.approve(&asked);
        let done = agent.ok("calendar.update", &change).await;
        assert_eq!(done["event"]["location"], "Shibuya");
        agent.ok("calendar.update", &change).await;
        assert_eq!(home.approvals().len(), 1);
    }
}

/// An approval is for the version that was shown. If it changed meanwhile, the user
/// is asked again.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_approved_change_of_something_that_changed_is_asked_about_anew() {
    for home in Home::on_both(CREATES).await {
        let (mut one, mut other) = (home.agent("one").await, home.agent("other").await);
        let id = one.sees_the_dentist().await;
        let first = json!({ "id": id, "title": "doctor" });
        let second = json!({ "id": id, "title": "hairdresser", "location": "Ueno" });
        let asked = home.question(&one.call("calendar.update", &first).await);
        home.approve(&asked);
        let other_asked = home.question(&other.call("calendar.update", &second).await);
        home.approve(&other_asked);
        other.ok("calendar.update", &second).await;
        let again = home.question(&one.call("calendar.update", &first).await);
        assert_ne!(again["id"], asked["id"]);
        assert_eq!(line(&again, "Title (before)"), "hairdresser");
        assert_eq!(one.titles().await, ["hairdresser"]);

        let id = one.drinks_water().await;
        let first = json!({ "id": id, "note": "drink tea" });
        let second = json!({ "id": id, "note": "drink nothing" });
        let asked = home.question(&one.call("reminder.update", &first).await);
        home.approve(&asked);
        let other_asked = home.question(&other.call("reminder.update", &second).await);
        home.approve(&other_asked);
        other.ok("reminder.update", &second).await;
        let again = home.question(&one.call("reminder.update", &first).await);
        assert_eq!(line(&again, "Note (before)"), "drink nothing");
        assert_eq!(one.notes().await, ["drink nothing"]);
    }
}

/// The same while a call waits: the version that the person approves is gone.
#[tokio::test]
async fn an_approved_change_is_not_applied_to_another_version() {
    let config = CREATES.replace("hold_seconds = 0", "hold_seconds = 40");
    let home = Home::with(&config, None).await;
    let (mut one, mut other) = (home.agent("one").await, home.agent("other").await);
    let id = one.drinks_water().await;
    let first = json!({ "id": id, "note": "drink tea" });
    one.0.send(&request("reminder.update", &first)).await;
    let pending = async |count: usize| {
        for _ in 0..400 {
            let mut all = home.approvals();
            all.retain(|one| one["status"] == "pending");
            if all.len() == count {
                return all;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{count} questions never waited");
    };
    let shown = pending(1).await.remove(0);
    let second = json!({ "id": id, "note": "drink nothing" });
    other.0.send(&request("reminder.update", &second)).await;
    let mut both = pending(2).await;
    both.retain(|one| one["id"] != shown["id"]);
    home.approve(&both[0]);
    assert_eq!(result(&other.0.receive().await)["status"], "ok");
    home.approve(&shown);
    let refused = one.0.receive().await["result"].clone();
    assert_eq!(refused["code"], "STATE_CHANGED", "{refused}");
    assert_eq!(other.notes().await, ["drink nothing"]);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_caller_cancels_its_own_without_approval() {
    for home in Home::on_both(CREATES).await {
        let mut agent = home.agent("phone").await;
        let id = agent.drinks_water().await;
        agent.ok("reminder.cancel", &json!({ "id": id })).await;
        agent.ok("reminder.cancel", &json!({ "id": id })).await;
        let id = agent.sees_the_dentist().await;
        agent.ok("calendar.cancel", &json!({ "id": id })).await;
        agent.ok("calendar.cancel", &json!({ "id": id })).await;
        let message = json!({ "to": "taro@example.com", "text": "hello" });
        agent.ok("message.send", &message).await;
        agent.ok("message.cancel", &json!({})).await;
        assert!(agent.notes().await.is_empty() && agent.titles().await.is_empty());
        assert_eq!(home.approvals(), [] as [Value; 0]);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn cancelling_what_another_key_made_needs_approval() {
    for home in Home::on_both(CREATES).await {
        let (mut one, mut other) = (home.agent("one").await, home.agent("other").await);
        let id = json!({ "id": one.drinks_water().await });
        let asked = home.question(&other.call("reminder.cancel", &id).await);
        assert_eq!(line(&asked, "Note"), "drink water");
        assert_eq!(
            line(&asked, "When"),
            "Tue 1 Jan 2030, 09:00 (Asia/Tokyo, UTC+09:00)"
        );
        assert_eq!(one.notes().await, ["drink water"]);
        home.approve(&asked);
        other.ok("reminder.cancel", &id).await;
        assert!(one.notes().await.is_empty());

        let id = json!({ "id": one.sees_the_dentist().await });
        let asked = home.question(&other.call("calendar.cancel", &id).await);
        assert_eq!(line(&asked, "Title"), "dentist");
        assert_eq!(one.titles().await, ["dentist"]);
        home.approve(&asked);
        other.ok("calendar.cancel", &id).await;
        assert!(one.titles().await.is_empty());

        let message = json!({ "to": "taro@example.com", "text": "hello" });
        let sent = one.ok("message.send", &message).await;
        let id = json!({ "id": sent["id"] });
        let asked = home.question(&other.call("message.cancel", &id).await);
        assert_eq!(line(&asked, "To"), "taro@example.com");
        assert_eq!(line(&asked, "Text"), "hello");
        home.approve(&asked);
        other.ok("message.cancel", &id).await;
    }
}

/// Another key's change was approved too, so undoing it needs approval.
#[tokio::test]
async fn a_change_by_another_key_ends_ownership() {
    let home = Home::with(CREATES, None).await;
    let (mut one, mut other) = (home.agent("one").await, home.agent("other").await);
    let id = one.drinks_water().await;
    let change = json!({ "id": id, "note": "drink tea" });
    let asked = home.question(&other.call("reminder.update", &change).await);
    home.approve(&asked);
    other.ok("reminder.update", &change).await;
    let cancel = json!({ "id": id });
    let asked = home.question(&one.call("reminder.cancel", &cancel).await);
    assert_eq!(line(&asked, "Note"), "drink tea");
    home.question(&other.call("reminder.cancel", &cancel).await);
    assert_eq!(one.notes().await, ["drink tea"]);
}

#[tokio::test]
async fn an_operator_who_wrote_ask_is_asked_about_every_cancellation() {
    let asks = "\"innervoice.reminder_cancel\" = \"ask\" }";
    let config = CREATES.replace(" }", &format!(", {asks}"));
    let home = Home::with(&config, None).await;
    let mut agent = home.agent("phone").await;
    let id = agent.drinks_water().await;
    home.question(&agent.call("reminder.cancel", &json!({ "id": id })).await);
    assert_eq!(agent.notes().await, ["drink water"]);
}

/// A grant would let every later change pass unseen.
#[tokio::test]
async fn a_change_gets_no_standing_grant() {
    let home = Home::with(CREATES, None).await;
    let mut agent = home.agent("phone").await;
    let id = agent.drinks_water().await;
    let change = json!({ "id": id, "note": "drink tea" });
    let asked = home.question(&agent.call("reminder.update", &change).await);
    let approval = asked["id"].as_str().unwrap();
    let refused = home.run(&["approvals", "approve", approval, "--always"]);
    let refused = refused.failed();
    assert!(refused.contains("ONCE_ONLY"), "{refused}");
    home.question(&agent.call("reminder.update", &change).await);
    assert_eq!(agent.notes().await, ["drink water"]);
    home.approve(&asked);
    agent.ok("reminder.update", &change).await;
}
