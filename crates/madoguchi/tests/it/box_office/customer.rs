//! A customer who does random things, and retries until an answer is heard.

use std::{sync::Arc, time::Duration};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};

use super::history::{Event, World};
use crate::harness::{call, post};

/// Rows of the sample cinema's halls that have only ordinary seats, and seats that every
/// one of them has.
const ROWS: &[&str] = &["C", "D"];
const NUMBERS: std::ops::Range<u32> = 1..9;
/// How long an answer may take before the customer hangs up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Errors after which another try may succeed.
const PASSING: &[&str] = &[
    "CANCELLED",
    "TIMEOUT",
    "INTERNAL_ERROR",
    "STORAGE_ERROR",
    "UNAVAILABLE",
    "OUTCOME_UNKNOWN",
];
/// How often the customer tries again after an error of the program.
const MOST_FAILURES: u32 = 20;

pub struct Customer {
    world: Arc<World>,
    dice: StdRng,
    /// Ids of reservations and holds, the newest last.
    reservations: Vec<String>,
    waiting: Vec<String>,
    calls: u64,
    name: u64,
}

impl Customer {
    pub fn new(world: &Arc<World>, seed: u64) -> Self {
        Self {
            world: Arc::clone(world),
            dice: StdRng::seed_from_u64(seed),
            reservations: Vec::new(),
            waiting: Vec::new(),
            calls: 0,
            name: seed,
        }
    }

    pub async fn shop_until_closing(mut self) {
        while !self.world.is_closing() {
            match self.dice.random_range(0..100) {
                0..25 => self.acquire("hold_seats").await,
                25..40 => self.acquire("reserve_seats").await,
                40..50 => self.with_one("hold_seats", "hold_id", |_| json!({})).await,
                50..65 => {
                    let all = |_: &mut Self| json!({"seat_ids": ["*"]});
                    self.with_one("reserve_seats", "hold_id", all).await;
                }
                65..72 => {
                    let whole = |_: &mut Self| json!({});
                    self.with_one("cancel_reservation", "reservation_id", whole)
                        .await;
                }
                72..77 => {
                    let part = |it: &mut Self| json!({"seat_ids": it.seats(1)});
                    self.with_one("cancel_reservation", "reservation_id", part)
                        .await;
                }
                77..88 => self.exchange().await,
                88..92 => self.wait().await,
                _ => self.look().await,
            }
        }
    }

    fn show(&mut self) -> String {
        let index = self.dice.random_range(0..self.world.shows.len());
        self.world.shows[index].clone()
    }

    /// So many seats side by side.
    fn seats(&mut self, count: u32) -> Value {
        let row = ROWS[self.dice.random_range(0..ROWS.len())];
        let first = self
            .dice
            .random_range(NUMBERS.start..NUMBERS.end - count + 1);
        let seats = first..first + count;
        seats
            .map(|number| format!("{row}{number}"))
            .collect::<Vec<_>>()
            .into()
    }

    async fn acquire(&mut self, tool: &'static str) {
        let count = self.dice.random_range(1..4);
        let arguments = json!({"schedule_id": self.show(), "seat_ids": self.seats(count)});
        if let Ok(answer) = self.call(tool, arguments).await {
            let id = answer["reservation"]["reservation_id"].as_str();
            self.reservations.push(id.unwrap().to_owned());
        }
    }

    /// One of the customer's reservations, often the newest.
    fn one(&mut self) -> Option<String> {
        let count = self.reservations.len();
        let back = self.dice.random_range(0..4.min(count.max(1)));
        self.reservations.get(count.checked_sub(back + 1)?).cloned()
    }

    async fn with_one(
        &mut self,
        tool: &'static str,
        field: &str,
        arguments: fn(&mut Self) -> Value,
    ) {
        if let Some(id) = self.one() {
            let mut arguments = arguments(self);
            arguments[field] = id.clone().into();
            let outcome = self.call(tool, arguments).await;
            self.forget_if_over(&id, &outcome);
        }
    }

    /// Most of the time, a reservation that is over is not asked about again.
    fn forget_if_over(&mut self, id: &str, outcome: &Result<Value, String>) {
        let is_over = match outcome {
            Ok(answer) => answer["reservation"]["status"] == "cancelled",
            Err(code) => ["HOLD_EXPIRED", "RESERVATION_CANCELLED"].contains(&code.as_str()),
        };
        if is_over && self.dice.random_bool(0.8) {
            self.reservations.retain(|known| known != id);
        }
    }

    async fn exchange(&mut self) {
        let Some(id) = self.one() else { return };
        let count = self.dice.random_range(1..4);
        let mut arguments = json!({"reservation_id": id, "seat_ids": self.seats(count)});
        if self.dice.random_bool(0.4) {
            arguments["schedule_id"] = self.show().into();
        }
        let outcome = self.call("exchange_seats", arguments).await;
        self.forget_if_over(&id, &outcome);
    }

    async fn wait(&mut self) {
        let look = !self.waiting.is_empty() && self.dice.random_bool(0.7);
        if look {
            let index = self.dice.random_range(0..self.waiting.len());
            let arguments = json!({"reservation_id": self.waiting[index]});
            if let Ok(answer) = self.call("get_reservation_details", arguments).await
                && let Some(hold) = answer["waiting"]["hold_id"].as_str()
            {
                self.reservations.push(hold.to_owned());
                self.waiting.remove(index);
            }
            return;
        }
        let size = self.dice.random_range(1..4);
        let arguments = json!({"schedule_id": self.show(), "party_size": size});
        if let Ok(answer) = self.call("join_waiting_list", arguments).await {
            let id = answer["waiting"]["waiting_id"].as_str().unwrap();
            self.waiting.push(id.to_owned());
        }
    }

    async fn look(&mut self) {
        let arguments = json!({"schedule_id": self.show()});
        let _ = self.call("get_seat_availability", arguments).await;
    }

    /// Calls a tool until an answer is heard, and records it.
    async fn call(&mut self, tool: &'static str, mut arguments: Value) -> Result<Value, String> {
        self.calls += 1;
        let reads = ["get_seat_availability", "get_reservation_details"].contains(&tool);
        if !reads {
            let key = format!("{}-{}", self.name, self.calls);
            arguments["idempotency_key"] = key.into();
        }
        let invoked = self.world.tick();
        let outcome = self.heard(tool, &arguments).await;
        let event = Event {
            tool,
            arguments: arguments.clone(),
            invoked,
            latest_time: self.world.latest_time(),
            answered: self.world.tick(),
            outcome: outcome.clone(),
        };
        self.world.record(event);
        // Sometimes the customer asks again, with the same key.
        if !reads && outcome.is_ok() && self.dice.random_bool(0.05) {
            let again = self.heard(tool, &arguments).await;
            assert_eq!(again, outcome, "{tool} {arguments} answered differently");
        }
        outcome
    }

    async fn heard(&mut self, tool: &'static str, arguments: &Value) -> Result<Value, String> {
        let mut failures = 0;
        loop {
            let ports = self.world.ports.lock().unwrap().clone();
            let port = ports[self.dice.random_range(0..ports.len())];
            let message = call(1, tool, arguments.clone());
            let hangs_up = self.dice.random_bool(0.1);
            let patience = match hangs_up {
                true => Duration::from_micros(self.dice.random_range(0..8_000)),
                false => PATIENCE,
            };
            let answer = tokio::time::timeout(patience, post(port, "cinema", None, &message));
            if let Ok(Ok(answer)) = answer.await
                && answer.status == 200
            {
                let result = answer.message()["result"].clone();
                let content = &result["structuredContent"];
                if result["isError"] != true {
                    return Ok(content.clone());
                }
                let code = content["error"]["code"].as_str().unwrap_or_default();
                let is_passing = PASSING.contains(&code);
                failures += u32::from(is_passing);
                if !is_passing || failures > MOST_FAILURES {
                    return Err(code.to_owned());
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
