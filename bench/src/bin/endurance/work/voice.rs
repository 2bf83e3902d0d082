//! A voice assistant, and the person who decides what it may send.

use anyhow::Result;
use serde_json::json;

use crate::client::{Answer, World};

/// A few calls on the counter's own port.
pub async fn assist(world: &World, number: u64) -> Result<()> {
    let mut socket = world.socket(world.desk.innervoice, "/").await?;
    let soon = world.desk.clock.in_minutes(3 + i64::try_from(number % 10)?);
    let key = format!("bench-{}", world.number());
    let reminder = json!({ "time": soon, "note": key, "idempotency_key": key });
    socket.make("reminder", "reminder.create", reminder).await?;
    socket.call("reminder.list", json!({})).await?;
    if number.is_multiple_of(4) {
        let start = world.desk.clock.in_minutes(60);
        let event = json!({ "title": key, "start": start, "duration_min": 30 });
        let made = socket.make("event", "calendar.create", event).await?;
        if let Answer::Done(made) = made
            && number.is_multiple_of(8)
        {
            socket
                .call("calendar.cancel", json!({ "id": made["id"] }))
                .await?;
        }
        socket.call("calendar.list", json!({})).await?;
    }
    if number.is_multiple_of(2) {
        socket.close().await?;
    }
    Ok(())
}

/// A message that waits for the user. Who is not answered asks once more, and
/// redeems the approval if there is one by then.
pub async fn send_message(world: &World, _: u64) -> Result<()> {
    let mut socket = world.socket(world.desk.innervoice, "/").await?;
    let text = format!("Message {}", world.number());
    let message = json!({ "to": "a@example.com", "text": text, "platform": "email" });
    world.made("question");
    for _ in 0..3 {
        let sent = socket.make("message", "message.send", message.clone());
        if let Answer::Done(_) = sent.await? {
            break;
        }
    }
    Ok(())
}

/// Approves one question, denies another, and lets the rest lapse.
pub async fn decide(world: &World, number: u64) -> Result<()> {
    let list = ["approvals", "list", "--pending", "--json"];
    let waiting = world.desk.run_json(&list).await?;
    let ids: Vec<&str> = waiting
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one["id"].as_str())
        .collect();
    let decided = match ids.get(usize::try_from(number)? % ids.len().max(1)) {
        Some(id) if number.is_multiple_of(3) => {
            world
                .desk
                .run_json(&["approvals", "deny", id, "--json"])
                .await
        }
        Some(id) => {
            world
                .desk
                .run_json(&["approvals", "approve", id, "--json"])
                .await
        }
        None => return Ok(()),
    };
    let code = if decided.is_ok() { "ok" } else { "failed" };
    world.tally.told("a person decides", code);
    Ok(())
}
