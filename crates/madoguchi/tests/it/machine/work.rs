//! Calls that change something, and what became of each.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    audit::{Trail, lines},
    harness::{Desk, Socket, call, free_seats, post, result, seats_of, show_to_book, structured},
};

/// Longer than any call may take.
const PATIENCE: Duration = Duration::from_secs(45);

/// Says what is missing, or that it may work later.
const CLEAR: [&str; 7] = [
    "AUDIT_UNAVAILABLE",
    "FILE_LOCK_TIMEOUT",
    "FILE_READ_ERROR",
    "FILE_WRITE_ERROR",
    "STORAGE_ERROR",
    "TIMEOUT",
    "UNAVAILABLE",
];

const COUNTERS: [&str; 3] = ["cinema", "rooms", "todo"];

/// How calls reach the desk.
pub enum Line {
    /// Each on a connection of its own.
    Http(u16),
    /// On connections that are open already.
    Sockets(BTreeMap<&'static str, Socket>),
}

impl Line {
    pub async fn sockets(desk: &Desk) -> Self {
        let mut sockets = BTreeMap::new();
        for counter in COUNTERS {
            sockets.insert(counter, Socket::open(desk, counter).await);
        }
        Self::Sockets(sockets)
    }

    /// The result of a call; `None` if the desk ended before it answered.
    async fn call(&mut self, counter: &str, tool: &str, arguments: Value) -> Option<Value> {
        let message = call(1, tool, arguments);
        let answer = async {
            match self {
                Self::Http(port) => {
                    let answer = post(*port, counter, None, &message).await.ok()?;
                    Some(answer.message())
                }
                Self::Sockets(sockets) => Some(sockets.get_mut(counter)?.request(&message).await),
            }
        };
        let answer = tokio::time::timeout(PATIENCE, answer).await;
        let answer = answer.unwrap_or_else(|_| panic!("{counter} {tool}: no answer"))?;
        Some(result(&answer).clone())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Seat,
    Message,
    Task,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Done,
    /// With this code.
    Refused(String),
    /// Its answer was lost.
    Unknown,
}

impl Fate {
    fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(code) => Some(code),
            Self::Done | Self::Unknown => None,
        }
    }
}

pub struct Work {
    show: String,
    seats: Vec<String>,
    calls: BTreeMap<(Kind, String), Fate>,
}

impl Work {
    pub async fn prepare(desk: &Desk) -> Self {
        let show = show_to_book(desk, "M001", 0).await;
        let show = show["schedule_id"].as_str().unwrap().to_owned();
        let seats = free_seats(&seats_of(desk, &show).await);
        let room = json!({ "roomName": "r" });
        desk.ok("rooms", "create_room", room).await;
        let member = json!({ "roomName": "r", "agentName": "x" });
        desk.ok("rooms", "enter_room", member).await;
        Self {
            show,
            seats: seats.into_iter().collect(),
            calls: BTreeMap::new(),
        }
    }

    /// One call of each kind; `padding` makes them larger. `false` if the desk ended.
    pub async fn round(&mut self, line: &mut Line, padding: &str) -> bool {
        let seat = self.seats.pop().unwrap();
        let number = self.calls.len();
        let (message, task) = (format!("m{number}{padding}"), format!("Task {number}"));
        let booking = json!({ "schedule_id": self.show, "seat_ids": [seat] });
        let sending = json!({ "roomName": "r", "agentName": "x", "message": message });
        let creating = json!({ "title": task });
        for (kind, name, counter, tool, arguments) in [
            (Kind::Seat, seat, "cinema", "reserve_seats", booking),
            (Kind::Message, message, "rooms", "send_message", sending),
            (Kind::Task, task, "todo", "create_task", creating),
        ] {
            let answer = line.call(counter, tool, arguments).await;
            let fate = match &answer {
                None => Fate::Unknown,
                Some(result) if result["isError"] == true => {
                    let code = result["structuredContent"]["error"]["code"].as_str();
                    let code = code.unwrap_or_default();
                    assert!(CLEAR.contains(&code), "{counter} {tool}: {result}");
                    Fate::Refused(code.to_owned())
                }
                Some(result) => {
                    structured(result);
                    Fate::Done
                }
            };
            self.calls.insert((kind, name), fate);
            if answer.is_none() {
                return false;
            }
        }
        true
    }

    /// Rounds until every kind of call is done again.
    pub async fn goes_on(&mut self, line: &mut Line) {
        let began = Instant::now();
        loop {
            let before = self.refusals().len();
            assert!(self.round(line, "").await, "the desk ended");
            let refusals = self.refusals();
            if refusals.len() == before {
                return;
            }
            let waited = began.elapsed();
            assert!(waited < Duration::from_secs(20), "{refusals:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// The codes of refused calls.
    pub fn refusals(&self) -> Vec<&str> {
        self.calls.values().filter_map(Fate::code).collect()
    }

    fn expect(&self, kind: Kind, is_there: impl Fn(&str) -> bool) {
        for ((_, name), fate) in self.calls.iter().filter(|((one, _), _)| *one == kind) {
            let short = name.get(..10).unwrap_or(name);
            match fate {
                Fate::Done => assert!(is_there(name), "{kind:?} {short} is lost"),
                Fate::Refused(code) => {
                    assert!(
                        !is_there(name),
                        "{kind:?} {short} is there in spite of {code}"
                    );
                }
                Fate::Unknown => {}
            }
        }
    }

    /// What was acknowledged is there, what was refused is not, and the trail is whole and
    /// has every booking.
    pub async fn check(&self, desk: &Desk) {
        let free = free_seats(&seats_of(desk, &self.show).await);
        self.expect(Kind::Seat, |seat| !free.contains(seat));
        // A page of them would be too long for one answer.
        let log = desk.place.data().join("rooms/rooms/r/messages.jsonl");
        let log = fs::read_to_string(log).unwrap();
        let texts = texts(&lines(&log).into(), "message");
        self.expect(Kind::Message, |text| texts.contains(text));
        let found = desk.ok("todo", "list_tasks", json!({ "limit": 100 })).await;
        let titles = self::texts(&found["tasks"], "title");
        self.expect(Kind::Task, |title| titles.contains(title));

        let done = |kind| {
            let calls = self.calls.iter();
            calls
                .filter(|((one, _), fate)| *one == kind && **fate == Fate::Done)
                .count()
        };
        let trail = Trail::of(&desk.place);
        let began = Instant::now();
        for (kind, tool) in [
            (Kind::Seat, "reserve_seats"),
            (Kind::Message, "agent_communication/send_message"),
            (Kind::Task, "create_task"),
        ] {
            let is_done = |one: &&Value| one["tool"] == tool && one["outcome"] == "done";
            while trail.calls().iter().filter(is_done).count() < done(kind) {
                assert!(began.elapsed() < Duration::from_secs(20), "{tool}");
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
        trail.verified();
    }
}

fn texts(list: &Value, field: &str) -> BTreeSet<String> {
    let list = list.as_array().unwrap().iter();
    list.map(|one| one[field].as_str().unwrap().to_owned())
        .collect()
}
