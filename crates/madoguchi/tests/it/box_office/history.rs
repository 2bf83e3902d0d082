//! What the customers did and were told, in order.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::Value;

/// What the customers share: the desks, the clock and the history.
pub struct World {
    /// The ports of the desks that run, or ran until a moment ago.
    pub ports: Mutex<Vec<u16>>,
    pub shows: Vec<String>,
    /// How far the desks' clock is ahead, in milliseconds. Raised before the desks see it,
    /// so that [`World::latest_time`] is never behind theirs.
    ahead: AtomicI64,
    jumps: AtomicU64,
    next: AtomicU64,
    closing: AtomicBool,
    events: Mutex<Vec<Event>>,
}

/// One call, from the moment the customer first sent it to the answer it heard.
#[derive(Debug, Clone)]
pub struct Event {
    pub tool: &'static str,
    pub arguments: Value,
    pub invoked: u64,
    pub answered: u64,
    /// The desks' clock is not beyond this when the answer comes.
    pub latest_time: i64,
    /// The answer, or the code of the refusal.
    pub outcome: Result<Value, String>,
}

/// Tools that must have succeeded, and statuses of a waiting party that must have been told.
const NEEDED: &[&str] = &[
    "hold_seats",
    "reserve_seats",
    "cancel_reservation",
    "exchange_seats",
    "join_waiting_list",
    "waiting",
    "offered",
];

#[derive(Debug, Default)]
pub struct History {
    pub events: Vec<Event>,
}

impl World {
    pub fn new(shows: Vec<String>) -> Self {
        Self {
            ports: Mutex::default(),
            shows,
            ahead: AtomicI64::new(0),
            jumps: AtomicU64::new(0),
            next: AtomicU64::new(0),
            closing: AtomicBool::new(false),
            events: Mutex::default(),
        }
    }

    /// A number that is larger than all before it.
    pub fn tick(&self) -> u64 {
        self.next.fetch_add(1, Ordering::SeqCst)
    }

    pub fn latest_time(&self) -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        i64::try_from(now.as_millis()).unwrap() + self.ahead.load(Ordering::SeqCst)
    }

    /// Moves the clock, as far as the checker knows. Returns how far it is ahead now, in
    /// seconds.
    pub fn jump(&self, seconds: i64) -> i64 {
        self.jumps.fetch_add(1, Ordering::SeqCst);
        let before = self.ahead.fetch_add(seconds * 1000, Ordering::SeqCst);
        before / 1000 + seconds
    }

    pub fn jumps(&self) -> u64 {
        self.jumps.load(Ordering::SeqCst)
    }

    pub fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }

    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    pub fn record(&self, event: Event) {
        self.events.lock().unwrap().push(event);
    }

    pub fn history(&self) -> History {
        let mut events = self.events.lock().unwrap().clone();
        events.sort_by_key(|event| event.answered);
        History { events }
    }
}

impl History {
    /// What a run must have seen and this one has not: tools that never succeeded, places
    /// on a waiting list that nobody had.
    pub fn missing(&self) -> Vec<&'static str> {
        let answers = self.events.iter().filter_map(|event| {
            let answer = event.outcome.as_ref().ok()?;
            Some([Some(event.tool), answer["waiting"]["status"].as_str()])
        });
        let seen: BTreeSet<&str> = answers.flatten().flatten().collect();
        let needed = NEEDED.iter().copied();
        needed.filter(|kind| !seen.contains(kind)).collect()
    }

    /// How often each tool gave which kind of answer.
    pub fn kinds(&self) -> String {
        let mut kinds: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for event in &self.events {
            let outcome = match &event.outcome {
                Ok(_) => "ok",
                Err(code) => code,
            };
            *kinds.entry((event.tool, outcome)).or_default() += 1;
        }
        let lines = kinds.iter();
        let lines = lines.map(|((tool, outcome), count)| format!("{count:>6} {tool} {outcome}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}
