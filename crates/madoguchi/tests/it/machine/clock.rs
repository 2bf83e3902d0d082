//! A clock that jumps by hours under a running desk, forward and back. What expires by
//! PostgreSQL's clock instead is in `lost_database.rs`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    audit::Trail,
    harness::{Desk, FakeClock, Output, Place, refused, show_to_book, structured},
};

/// Nobody waits for an answer; reminders need no approval.
const CONFIG: &str = "[approval]\nhold_seconds = 0\n\
    tools = { \"innervoice.reminder_create\" = \"allow\" }\n";

struct Jumping {
    desk: Desk,
    clock: FakeClock,
    /// Of a key that does not expire.
    key: String,
}

impl Jumping {
    async fn start() -> Self {
        let place = Place::new();
        let clock = FakeClock::new(&place, "clock", "+0h");
        let setup = Desk::setup().place(&place).config(CONFIG);
        let desk = setup.clock(&clock).start().await;
        let key = place.create_key(&["secretary"]);
        Self { desk, clock, key }
    }

    /// A command that goes by the same clock.
    fn run(&self, arguments: &[&str]) -> Output {
        let environment = self.clock.environment();
        let environment = environment
            .each_ref()
            .map(|(name, value)| (*name, &**value));
        self.desk.place.run_with(arguments, &environment)
    }

    /// A call of the secretary, who needs a key.
    async fn voice(&self, tool: &str, arguments: Value) -> Value {
        let answer = self
            .desk
            .call_as(&self.key, "innervoice", tool, arguments)
            .await;
        answer.message()["result"]["structuredContent"].clone()
    }

    async fn status_of(&self, key: &str) -> u16 {
        let list = self
            .desk
            .call_as(key, "cinema", "get_movie_list", json!({}));
        list.await.status
    }

    /// Asks the user for something new, and returns the id of the question.
    async fn ask(&self, text: &str) -> String {
        let message = json!({ "to": "taro@example.com", "text": text });
        let asked = self.voice("message_send", message).await;
        assert_eq!(asked["code"], "APPROVAL_REQUIRED", "{asked}");
        asked["details"]["approval_id"].as_str().unwrap().to_owned()
    }
}

fn seat(show: &Value, seat: &str, key: &str) -> Value {
    json!({ "schedule_id": show["schedule_id"], "seat_ids": [seat], "idempotency_key": key })
}

async fn cart(desk: &Desk) -> Value {
    let plan = json!({ "items": [{ "product_id": 1, "quantity": 1 }] });
    let arguments = json!({ "cart_plan": plan, "products": [], "reserve": true });
    let made = desk.ok("merchant", "build_cart_mandates", arguments).await;
    made["cart_mandate"]["contents"]["id"].clone()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_day_that_is_skipped_ends_what_expires_in_it_and_nothing_else() {
    let jumping = Jumping::start().await;
    let desk = &jumping.desk;
    let show = show_to_book(desk, "M001", 0).await;
    let short = desk.place.create_key(&["short", "--expires", "12h"]);
    let long = desk.place.create_key(&["long", "--expires", "3d"]);
    desk.ok("cinema", "hold_seats", seat(&show, "A1", "hold"))
        .await;
    let booked = desk
        .ok("cinema", "reserve_seats", seat(&show, "A2", "book"))
        .await;
    let again = desk
        .ok("cinema", "reserve_seats", seat(&show, "A2", "book"))
        .await;
    assert_eq!(
        booked["reservation"]["reservation_id"],
        again["reservation"]["reservation_id"]
    );
    refused(
        &desk
            .call("cinema", "reserve_seats", seat(&show, "A1", "x"))
            .await,
        "SEATS_TAKEN",
    );
    let cart = cart(desk).await;
    let question = jumping.ask("hello").await;

    jumping.clock.set("+25h");
    assert_eq!(jumping.status_of(&short).await, 401);
    assert_eq!(jumping.status_of(&long).await, 200);
    // The hold is over; the booking is not.
    desk.ok("cinema", "reserve_seats", seat(&show, "A1", "y"))
        .await;
    // An idempotency key is remembered for 24 hours.
    refused(
        &desk
            .call("cinema", "reserve_seats", seat(&show, "A2", "book"))
            .await,
        "SEATS_TAKEN",
    );
    let change = json!({ "cart_id": cart, "items": [{ "product_id": 1, "quantity": 2 }] });
    refused(
        &desk.call("merchant", "update_cart", change).await,
        "CART_EXPIRED",
    );
    jumping
        .run(&["approvals", "approve", &question])
        .fails_with("APPROVAL_EXPIRED");
    jumping.ask("hello").await;
    assert_eq!(desk.get("/readyz").await.status, 200);
    Trail::of(&desk.place).verified();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn nothing_waits_for_hours_when_the_clock_is_set_back() {
    let jumping = Jumping::start().await;
    jumping.clock.set("+5h");
    let desk = &jumping.desk;
    let show = show_to_book(desk, "M001", 0).await;
    let say = async |text: &str| {
        let message = json!({ "roomName": "r", "agentName": "x", "message": text });
        desk.ok("rooms", "send_message", message).await;
    };
    desk.ok("rooms", "create_room", json!({ "roomName": "r" }))
        .await;
    desk.ok(
        "rooms",
        "enter_room",
        json!({ "roomName": "r", "agentName": "x" }),
    )
    .await;
    // Leases, counts and claims are then of a time that is yet to come.
    say("first").await;
    remind(&jumping, "first", 5).await;
    desk.ok("cinema", "reserve_seats", seat(&show, "A1", "one"))
        .await;

    jumping.clock.set("-5h");
    say("second").await;
    remind(&jumping, "second", -5).await;
    let question = jumping.ask("hello").await;
    jumping.run(&["approvals", "approve", &question]).ok();
    let message = json!({ "to": "taro@example.com", "text": "hello" });
    assert_eq!(jumping.voice("message_send", message).await["status"], "ok");
    desk.ok("cinema", "hold_seats", seat(&show, "A2", "two"))
        .await;
    desk.ok("cinema", "reserve_seats", seat(&show, "A3", "three"))
        .await;
    let again = desk
        .call("cinema", "reserve_seats", seat(&show, "A1", "one"))
        .await;
    structured(&again);

    // In the order in which it happened, whatever the clock said.
    let found = desk
        .ok("rooms", "get_messages", json!({ "roomName": "r" }))
        .await;
    let texts = found["messages"].as_array().unwrap().iter();
    let texts: Vec<_> = texts.map(|one| one["message"].as_str().unwrap()).collect();
    assert_eq!(texts, ["second", "first"]);
    let users = desk
        .ok("rooms", "list_room_users", json!({ "roomName": "r" }))
        .await;
    assert_eq!(users["onlineCount"], 1, "{users}");
    // The trail is in the order of the times that it names, and its chain is whole.
    let trail = Trail::of(&desk.place);
    trail.verified();
    let calls = trail.calls();
    let is_sent = |one: &&Value| one["tool"] == "agent_communication/send_message";
    let sent = calls.iter().filter(is_sent);
    let texts: Vec<_> = sent.map(|one| &one["personal"]["message"]).collect();
    assert_eq!(texts, ["second", "first"]);
    assert_eq!(desk.get("/readyz").await.status, 200);
}

/// A reminder fires within seconds, at a clock that differs by so many hours.
async fn remind(jumping: &Jumping, note: &str, hours: i64) {
    let soon = jiff::SignedDuration::from_secs(hours * 3600 + 2);
    let time = (jiff::Timestamp::now() + soon).to_string();
    let reminder = json!({ "time": time, "note": note, "repeat": "daily" });
    let created = jumping.voice("reminder_create", reminder).await;
    assert_eq!(created["status"], "ok", "{created}");
    let began = Instant::now();
    loop {
        let list = jumping.voice("reminder_list", json!({})).await;
        let mut reminders = list["reminders"].as_array().unwrap().iter();
        let own = reminders.find(|one| one["note"] == note).unwrap();
        if own["last_fired"].is_object() {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{list}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
