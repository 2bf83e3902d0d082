//! "Confirm once": what a person must allow is done when they did, as they saw
//! it, and once.

mod asking;
mod batches;
mod begun;
mod bounds;
mod command_line;
mod implied;

mod own_desk;
mod policy;
mod prompts;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use asking::{Asking, asking, id, question, reservation};

use crate::harness::{Desk, Place, call, refused, result, show_to_book, structured};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_waiting_call_continues_when_the_user_approves() {
    for asking in Asking::on_both(45).await {
        let show = asking.show(0).await;
        let person = async {
            let id = asking.asked().await;
            assert!(asking.is_free(&show, "A1").await, "nothing is done before");
            let listed = asking.listed();
            let [card] = listed.as_slice() else {
                panic!("{listed:?}");
            };
            assert_eq!(card["counter"], "cinema");
            assert_eq!(card["tool"], "reserve_seats");
            assert_eq!(card["caller"], "anonymous");
            assert_eq!(card["status"], "pending");
            assert_eq!(card["arguments"]["seat_ids"], json!(["A1", "A2"]));
            assert!(card["created_at"].as_str() < card["expires_at"].as_str());
            // In a person's words: what the arguments alone do not say.
            let lines = card["lines"].to_string();
            assert!(
                lines.contains(show["movie_title"].as_str().unwrap()),
                "{card}"
            );
            assert!(
                lines.contains("+09:00") && lines.contains("Asia/Tokyo"),
                "{card}"
            );
            let text = asking.cli(&["approvals", "list"]).stdout;
            assert!(text.contains("A1, A2") && text.contains(&id), "{text}");
            asking.cli(&["approvals", "approve", &id]);
            id
        };
        let (booked, id) = tokio::join!(asking.book(&show, &["A1", "A2"]), person);
        reservation(&booked);
        assert!(!asking.is_free(&show, "A1").await);
        assert!(asking.pending().is_empty());
        // Decided is decided.
        let again = asking.try_cli(&["approvals", "deny", &id]).failed();
        assert!(again.contains("ALREADY_DECIDED"), "{again}");
    }
}

#[tokio::test]
async fn a_denied_call_gets_the_reason() {
    let asking = Asking::embedded(45).await;
    let show = asking.show(0).await;
    let person = async {
        let id = asking.asked().await;
        asking.cli(&["approvals", "deny", &id, "--reason", "too far in front"]);
    };
    let (denied, ()) = tokio::join!(asking.book(&show, &["A1"]), person);
    let error = refused(&denied, "APPROVAL_DENIED");
    assert_eq!(error["details"]["reason"], "too far in front");
    // Trying again does not ask again.
    refused(&asking.book(&show, &["A1"]).await, "APPROVAL_DENIED");
    assert_eq!(asking.listed().len(), 1);
    assert!(asking.is_free(&show, "A1").await);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_approval_is_for_exactly_this_call_and_for_one() {
    for asking in Asking::on_both(0).await {
        let show = asking.show(0).await;
        let first = question(&asking.book(&show, &["A1"]).await);
        assert_eq!(
            first,
            question(&asking.book(&show, &["A1"]).await),
            "asked once"
        );
        asking.cli(&["approvals", "approve", &first]);
        // Another seat, one seat more, another order, or a flag that the model sets itself.
        for other in [&["A2"][..], &["A1", "A2"], &["A1", "A1"]] {
            assert_ne!(first, question(&asking.book(&show, other).await));
        }
        let claimed = json!({
            "schedule_id": show["schedule_id"], "seat_ids": ["A3"], "approved": true, "confirm": true,
        });
        let claimed = asking.desk.call("cinema", "reserve_seats", claimed).await;
        assert_eq!(claimed["isError"], true);
        assert!(asking.is_free(&show, "A3").await);
        let booked = reservation(&asking.book(&show, &["A1"]).await);
        assert!(booked.starts_with("rsv_"));
        // Once more is a new question.
        assert_ne!(first, question(&asking.book(&show, &["A1"]).await));
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn only_one_of_many_concurrent_calls_uses_the_approval() {
    for asking in Asking::on_both(0).await {
        let show = asking.show(0).await;
        let id = question(&asking.book(&show, &["A1"]).await);
        asking.cli(&["approvals", "approve", &id]);
        let calls = (0..12).map(|_| asking.book(&show, &["A1"]));
        let mut booked = BTreeSet::new();
        for answer in futures::future::join_all(calls).await {
            if answer["isError"] != true {
                booked.insert(reservation(&answer));
                continue;
            }
            let code = &answer["structuredContent"]["error"]["code"];
            let expected = ["APPROVAL_USED", "APPROVAL_REQUIRED", "SEATS_TAKEN"];
            assert!(expected.iter().any(|one| code == one), "{answer}");
        }
        assert_eq!(booked.len(), 1, "{booked:?}");
        assert!(!asking.is_free(&show, "A1").await);
    }
}

#[tokio::test]
async fn a_refusal_of_the_tool_leaves_the_approval() {
    let asking = Asking::embedded(0).await;
    let show = asking.show(0).await;
    let id = question(&asking.book(&show, &["A1"]).await);
    asking.cli(&["approvals", "approve", &id]);
    // Somebody takes the seat before.
    let place = &asking.desk.place;
    let arguments = json!({ "schedule_id": show["schedule_id"], "seat_ids": ["A1"] });
    place
        .run(&["call", "cinema", "reserve_seats", &arguments.to_string()])
        .ok();
    refused(&asking.book(&show, &["A1"]).await, "SEATS_TAKEN");
    let listed = asking.listed();
    assert_eq!(listed[0]["status"], "approved", "{listed:?}");
}

#[tokio::test]
async fn a_standing_grant_covers_one_caller_and_tool_until_revoked() {
    let asking = Asking::embedded(0).await;
    let show = asking.show(0).await;
    let id = question(&asking.book(&show, &["A1"]).await);
    asking.cli(&["approvals", "approve", &id, "--always"]);
    for seat in ["A1", "A2", "A3"] {
        reservation(&asking.book(&show, &[seat]).await);
    }
    let grants = asking.cli(&["approvals", "grants", "--json"]).json();
    assert_eq!(grants[0]["tool"], "reserve_seats");
    // Not for somebody else.
    let key = asking.cli(&["keys", "create", "phone", "--json"]).json();
    let arguments = json!({ "schedule_id": show["schedule_id"], "seat_ids": ["A4"] });
    let other = call_with_key(&asking.desk, key["key"].as_str().unwrap(), arguments).await;
    let waiting = question(&other);
    let listed = asking.pending();
    assert_eq!(
        (id_of(&listed), &listed[0]["caller"]),
        (waiting, &json!("phone"))
    );
    asking.cli(&["approvals", "revoke", grants[0]["id"].as_str().unwrap()]);
    question(&asking.book(&show, &["A5"]).await);
}

fn id_of(listed: &[Value]) -> String {
    id(&listed[0])
}

async fn call_with_key(desk: &Desk, key: &str, arguments: Value) -> Value {
    let answer = desk.call_as(key, "cinema", "reserve_seats", arguments);
    result(&answer.await.message()).clone()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_unanswered_request_is_denied_when_it_expires() {
    for asking in Asking::on_both(0).await {
        let show = asking.show(0).await;
        // Before anybody decided.
        let id = question(&asking.book(&show, &["A1"]).await);
        asking
            .sql("UPDATE desk_approvals SET expires_at = 1000")
            .await;
        let late = asking.try_cli(&["approvals", "approve", &id]).failed();
        assert!(late.contains("APPROVAL_EXPIRED"), "{late}");
        let second = question(&asking.book(&show, &["A1"]).await);
        assert_ne!(id, second);
        // After a yes that nobody used.
        asking.cli(&["approvals", "approve", &second]);
        asking
            .sql("UPDATE desk_approvals SET expires_at = 1000")
            .await;
        assert_ne!(second, question(&asking.book(&show, &["A1"]).await));
        assert!(asking.is_free(&show, "A1").await);
    }
}

#[tokio::test]
async fn a_call_whose_client_has_gone_does_not_run() {
    let asking = Asking::embedded(45).await;
    let show = asking.show(0).await;
    let id = {
        let call = asking.book(&show, &["A1"]);
        tokio::select! {
            _ = call => panic!("nobody approved"),
            id = asking.asked() => id,
        }
    };
    // The desk notices that the connection is gone.
    asking.desk.logs_giving_up("reserve_seats").await;
    asking.cli(&["approvals", "approve", &id]);
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert!(asking.is_free(&show, "A1").await);
    // The identical call uses it.
    reservation(&asking.book(&show, &["A1"]).await);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_answer_that_was_not_delivered_is_replayed() {
    for mut asking in Asking::on_both(0).await {
        let show = asking.show(0).await;
        for number in 1.. {
            let seat = format!("A{number}");
            let id = question(&asking.book(&show, &[&seat]).await);
            asking.cli(&["approvals", "approve", &id]);
            let began = Instant::now();
            let first = reservation(&asking.book(&show, &[&seat]).await);
            // A crash now: nobody knows whether the answer arrived.
            asking.desk.signal("KILL");
            let took = began.elapsed();
            asking = asking.restarted().await;
            if took > Duration::from_millis(1500) {
                // Too late: the answer counts as delivered by then.
                continue;
            }
            let again = reservation(&asking.book(&show, &[&seat]).await);
            assert_eq!(first, again);
            // It has now; the next one is new.
            question(&asking.book(&show, &[&seat]).await);
            break;
        }
    }
}

#[tokio::test]
async fn a_retry_with_its_idempotency_key_needs_no_approval() {
    let asking = Asking::embedded(0).await;
    let show = asking.show(0).await;
    let arguments = json!({
        "schedule_id": show["schedule_id"], "seat_ids": ["A1"], "idempotency_key": "k1",
    });
    let call = || {
        asking
            .desk
            .call("cinema", "reserve_seats", arguments.clone())
    };
    let id = question(&call().await);
    asking.cli(&["approvals", "approve", &id]);
    let first = reservation(&call().await);
    for _ in 0..3 {
        assert_eq!(first, reservation(&call().await));
    }
    assert_eq!(asking.listed().len(), 1);
}

#[tokio::test]
async fn one_caller_has_a_limited_number_of_pending_approvals() {
    let asking = Asking::embedded(0).await;
    let show = asking.show(0).await;
    let seats: Vec<(String, String)> = (1..=8)
        .flat_map(|one| (1..=8).map(move |other| (format!("A{one}"), format!("B{other}"))))
        .collect();
    let mut asked = 0;
    for (one, other) in &seats {
        let answer = asking.book(&show, &[one, other]).await;
        if answer["structuredContent"]["error"]["code"] == "TOO_MANY_QUESTIONS" {
            break;
        }
        question(&answer);
        asked += 1;
    }
    assert_eq!(asked, 50);
    let first = id(asking.pending().last().unwrap());
    asking.cli(&["approvals", "deny", &first]);
    question(&asking.book(&show, &["C1"]).await);
}

/// A tool that is not done in a transaction, and that asks by its nature.
#[tokio::test]
async fn a_tool_that_acts_outside_needs_approval_by_default() {
    let config = "[approval]\nhold_seconds = 0\n";
    let asking = Asking {
        desk: Desk::with_config(config).await,
        database: None,
    };
    let call = || asking.desk.call("fixture", "fixture_outside", json!({}));
    let id = question(&call().await);
    asking.cli(&["approvals", "approve", &id]);
    structured(&call().await);
    let second = question(&call().await);
    assert_ne!(id, second);
    asking.cli(&["approvals", "approve", &second]);
    let done = futures::future::join_all((0..8).map(|_| call())).await;
    let done = done.iter().filter(|answer| answer["isError"] != true);
    assert_eq!(done.count(), 1);
}

/// Killed at any moment between asking, approving, committing and answering.
#[tokio::test]
async fn a_kill_at_any_step_loses_nothing_and_does_nothing_twice() {
    let place = Place::new();
    let config = asking(0);
    let start = || Desk::setup().place(&place).config(&config).start();
    let seats: Vec<String> = (1..=8).map(|number| format!("B{number}")).collect();
    let first = start().await;
    let show = show_to_book(&first, "M001", 0).await;
    drop(first);
    for (round, seat) in seats.iter().enumerate() {
        let mut kills = 0;
        let booked = loop {
            let asking = Asking {
                desk: start().await,
                database: None,
            };
            // Each attempt dies a little later, in the midst of whatever it is at.
            let growing = 3.0 * 1.35_f64.powi(kills) + round as f64;
            let dies = Duration::from_secs_f64(growing / 1000.0);
            let attempt = book_with_person(&asking, &show, seat);
            tokio::select! {
                biased;
                booked = attempt => break booked,
                () = tokio::time::sleep(dies) => {
                    asking.desk.signal("KILL");
                    kills += 1;
                }
            }
        };
        assert!(kills > 0, "nothing was killed");
        // What the person approved is booked, and the agent knows the booking.
        let desk = start().await;
        let arguments = json!({ "reservation_id": booked });
        let found = desk
            .call("cinema", "get_reservation_details", arguments)
            .await;
        assert_eq!(structured(&found)["reservation"]["seat_ids"], json!([seat]));
    }
    // No approval was used twice, and no seat was booked without one.
    let asking = Asking {
        desk: start().await,
        database: None,
    };
    let used = asking.listed();
    let used = used.iter().filter(|approval| approval["status"] == "used");
    assert_eq!(used.count(), seats.len());
    // And what was done is on record, once each.
    asking.cli(&["audit", "verify"]);
    let trail = asking.cli(&["audit", "export"]).stdout;
    let records = trail
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let done: Vec<Value> = records
        .filter(|record| record["tool"] == "reserve_seats" && record["outcome"] == "done")
        .collect();
    let approvals: BTreeSet<String> = done.iter().map(|one| one["approval"].to_string()).collect();
    assert!(!approvals.contains("null"), "{done:#?}");
    assert_eq!(approvals.len(), seats.len(), "{done:#?}");
}

/// Asks until it is booked, as an agent and its user would together.
async fn book_with_person(asking: &Asking, show: &Value, seat: &str) -> String {
    let arguments = json!({ "schedule_id": show["schedule_id"], "seat_ids": [seat] });
    let call = call(1, "reserve_seats", arguments);
    loop {
        let Ok(answer) = asking.desk.try_post("cinema", None, &call).await else {
            // Killed; the caller of this future ends it.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let message = answer.message();
        let answer = result(&message);
        if answer["isError"] != true {
            return reservation(answer);
        }
        let id = question(answer);
        let place = asking.desk.place.clone();
        let approve = move || place.run(&["approvals", "approve", &id]);
        tokio::task::spawn_blocking(approve).await.unwrap();
    }
}
