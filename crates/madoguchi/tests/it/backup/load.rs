//! A desk at work: bookings, messages in rooms, reminders and approvals, while it is
//! backed up.

use std::{
    collections::BTreeSet,
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{CONFIG, back_up, restore};
use crate::{
    audit::{Trail, trail::store_of},
    harness::{Desk, Place, free_seats, seats_of, show_to_book, structured},
};

const KINDS: [&str; 3] = ["booking", "message", "reminder"];

/// So many answers of each kind come before the backup.
const BEFORE: usize = 15;

/// What was answered.
#[derive(Clone, Default)]
struct Answered(Arc<Mutex<Vec<Answer>>>);

/// When the client knew it, what it is, and its id.
type Answer = (Timestamp, &'static str, String);

impl Answered {
    /// `field` of the answer is the id.
    fn note(&self, kind: &'static str, answer: &Value, field: &str) {
        let at = Timestamp::now();
        let id = answer[field].as_str();
        let id = id.unwrap_or_else(|| panic!("{kind}: {answer}")).to_owned();
        self.0.lock().unwrap().push((at, kind, id));
    }

    /// Waits until there are so many answers of each kind.
    async fn at_least(&self, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(90);
        while KINDS.iter().any(|kind| self.count(kind) < count) {
            assert!(Instant::now() < deadline, "the desk answers too slowly");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn count(&self, kind: &str) -> usize {
        let all = self.0.lock().unwrap();
        all.iter().filter(|(_, other, _)| *other == kind).count()
    }

    /// What was answered before a moment.
    fn before(&self, moment: Timestamp, kind: &str) -> BTreeSet<String> {
        let all = self.0.lock().unwrap();
        let found = all.iter().filter(|(at, of, _)| *at < moment && *of == kind);
        found.map(|(_, _, id)| id.clone()).collect()
    }
}

struct Work {
    desk: Arc<Desk>,
    key: String,
    answered: Answered,
    stop: Arc<AtomicBool>,
}

impl Work {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::SeqCst)
    }

    async fn book(&self, film: &str) {
        for nth in 0.. {
            let show = show_to_book(&self.desk, film, nth).await;
            // Whoever books the last seat goes home; the others go on.
            let Some(id) = show["schedule_id"].as_str().map(str::to_owned) else {
                return;
            };
            for seat in free_seats(&seats_of(&self.desk, &id).await) {
                if !self.goes_on() {
                    return;
                }
                let arguments = json!({ "schedule_id": id, "seat_ids": [seat] });
                let booked = self.desk.call("cinema", "reserve_seats", arguments).await;
                // Another customer may have been quicker.
                if booked["isError"] != true {
                    let booked = &structured(&booked)["reservation"];
                    self.answered.note("booking", booked, "reservation_id");
                }
            }
        }
    }

    async fn talk(&self, agent: &str) {
        let room = json!({ "roomName": "general", "agentName": agent });
        self.desk.ok("rooms", "enter_room", room).await;
        for number in 0.. {
            if !self.goes_on() {
                return;
            }
            let message = json!({
                "roomName": "general", "agentName": agent, "message": format!("{agent} {number}"),
            });
            let sent = self.desk.ok("rooms", "send_message", message).await;
            self.answered.note("message", &sent, "messageId");
        }
    }

    async fn be_reminded(&self) {
        while self.goes_on() {
            let arguments = json!({ "time": "2030-01-01T09:00:00Z", "note": "a note" });
            let made = self.innervoice("reminder_create", arguments).await;
            self.answered.note("reminder", structured(&made), "id");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Nobody answers these.
    async fn ask(&self) {
        for number in 0..40 {
            let arguments = json!({ "to": "me@example.com", "text": format!("hello {number}") });
            self.innervoice("message_send", arguments).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
            if !self.goes_on() {
                return;
            }
        }
    }

    async fn innervoice(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.desk.call_as(&self.key, "innervoice", tool, arguments);
        answer.await.message()["result"].clone()
    }
}

/// Works while `meanwhile` runs, and a little longer.
async fn at_work<T: Send + 'static>(
    desk: &Arc<Desk>,
    key: &str,
    meanwhile: impl FnOnce() -> T + Send + 'static,
) -> (Answered, T) {
    let room = json!({ "roomName": "general" });
    desk.ok("rooms", "create_room", room).await;
    let answered = Answered::default();
    let work = Arc::new(Work {
        desk: Arc::clone(desk),
        key: key.to_owned(),
        answered: answered.clone(),
        stop: Arc::default(),
    });
    let mut tasks = tokio::task::JoinSet::new();
    for film in ["M001", "M002"] {
        let work = Arc::clone(&work);
        tasks.spawn(async move { work.book(film).await });
    }
    for agent in ["ada", "ben"] {
        let work = Arc::clone(&work);
        tasks.spawn(async move { work.talk(agent).await });
    }
    let (reminded, asking) = (Arc::clone(&work), Arc::clone(&work));
    tasks.spawn(async move { reminded.be_reminded().await });
    tasks.spawn(async move { asking.ask().await });
    answered.at_least(BEFORE).await;
    let made = tokio::task::spawn_blocking(meanwhile).await.unwrap();
    let counts = KINDS.map(|kind| answered.count(kind));
    let goes_on = || {
        let now = KINDS.map(|kind| answered.count(kind));
        now.iter().zip(&counts).all(|(now, then)| now > then)
    };
    while !goes_on() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    work.stop.store(true, Ordering::SeqCst);
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    (answered, made)
}

async fn column(place: &Place, sql: &'static str) -> BTreeSet<String> {
    let url = format!("sqlite:///{}", place.data().join("madoguchi.db").display());
    let store = store_of(&url).await;
    let rows = store.query(Default::default(), move |store| {
        let rows = store.query(sql, &[])?;
        rows.iter().map(|row| row.text(0)).collect()
    });
    rows.await.unwrap()
}

fn sent(place: &Place) -> BTreeSet<String> {
    let log = place.data().join("rooms/rooms/general/messages.jsonl");
    let text = fs::read_to_string(log).unwrap();
    let lines = text.lines().map(|line| {
        let message: Value = serde_json::from_str(line).unwrap();
        message["id"].as_str().unwrap().to_owned()
    });
    lines.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_was_answered_before_the_moment_is_in_a_backup_of_a_busy_desk() {
    let desk = Arc::new(Desk::setup().config(CONFIG).start().await);
    let place = desk.place.clone();
    let key = place.create_key(&["phone"]);
    let backed_up = place.clone();
    let (answered, made) = at_work(&desk, &key, move || back_up(&backed_up)).await;
    drop(desk);
    let moment: Timestamp = made["moment"].as_str().unwrap().parse().unwrap();
    let (other, restored) = restore(&place);
    for (kind, found) in [
        (
            "booking",
            column(&other, "SELECT id FROM cinema_reservations").await,
        ),
        (
            "reminder",
            column(&other, "SELECT id FROM innervoice_reminders").await,
        ),
        ("message", sent(&other)),
    ] {
        let expected = answered.before(moment, kind);
        assert!(
            expected.len() >= BEFORE,
            "only {} of kind {kind}",
            expected.len()
        );
        let missing: Vec<_> = expected.difference(&found).collect();
        assert!(
            missing.is_empty(),
            "{kind}: {missing:?} of {}",
            expected.len()
        );
        // The desk was not stopped for it.
        assert!(answered.count(kind) > expected.len(), "{kind}");
    }
    assert!(
        restored["lapsed_approvals"].as_u64().unwrap() > 3,
        "{restored}"
    );
    let approvals = other.run_line("approvals list --json").ok().json();
    for approval in approvals.as_array().unwrap() {
        assert_eq!(approval["status"], "expired", "{approval}");
    }
    rows_and_records_agree(&other).await;
}

/// Everything that is recorded as done is there, and everything that is there has a
/// record once a desk has started.
async fn rows_and_records_agree(place: &Place) {
    let trail = Trail::of(place);
    trail.verified();
    let booked = |trail: &Trail| -> BTreeSet<String> {
        let mut calls = trail.calls();
        calls.retain(|call| call["tool"] == "reserve_seats" && call["outcome"] == "done");
        let ids = calls
            .iter()
            .map(|call| call["call"].as_str().unwrap().to_owned());
        ids.collect()
    };
    let changes = "SELECT call_id FROM desk_writes WHERE tool = 'reserve_seats'";
    let changes = column(place, changes).await;
    let recorded = booked(&trail);
    let undone: Vec<_> = recorded.difference(&changes).collect();
    assert!(undone.is_empty(), "recorded, but not there: {undone:?}");
    let desk = Desk::setup().place(place).config(CONFIG).start().await;
    drop(desk);
    assert_eq!(booked(&trail), changes);
    trail.verified();
}
