//! Stateless calls of the counters over HTTP.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::client::{Answer, World};

/// Most of what is booked is given back, or the house would be full.
const KEPT: u64 = 10;

pub async fn book(world: &World, number: u64) -> Result<()> {
    let mut line = world.line("cinema").await?;
    line.call("get_movie_list", json!({ "search_query": "星" }))
        .await?;
    let day = json!({ "movie_id": "", "date": "tomorrow" });
    let shows = line.call("get_show_schedule", day).await?.done();
    let shows = shows["schedules"].as_array().context("no shows")?;
    let at = usize::try_from(world.number())? % shows.len().max(1);
    let show = &shows.get(at).context("no shows")?["schedule_id"];
    let free = line
        .call("get_seat_availability", json!({ "schedule_id": show }))
        .await?
        .done();
    let Some(seat) = some_seat(&free, world.number()) else {
        let wait = json!({ "schedule_id": show, "party_size": 2 });
        line.make("waiting party", "join_waiting_list", wait)
            .await?;
        return Ok(());
    };
    let key = format!("bench-{}", world.number());
    let seats = json!({ "schedule_id": show, "seat_ids": [seat], "idempotency_key": key });
    if number % 3 == 2 {
        // Nobody books it, and it expires.
        line.make("hold", "hold_seats", seats).await?;
        return Ok(());
    }
    let made = line
        .make("reservation", "reserve_seats", seats.clone())
        .await?;
    let Answer::Done(made) = made else {
        return Ok(());
    };
    // A retry is given the same answer.
    line.call("reserve_seats", seats).await?;
    let id = json!({ "reservation_id": made["reservation"]["reservation_id"] });
    line.call("get_reservation_details", id.clone()).await?;
    line.call("get_ticket", id.clone()).await?;
    if !number.is_multiple_of(KEPT) {
        line.call("cancel_reservation", id).await?;
    }
    Ok(())
}

fn some_seat(free: &Value, number: u64) -> Option<String> {
    let rows = free["available_seats"].as_array()?;
    let row = rows.get(usize::try_from(number).ok()? % rows.len().max(1))?;
    let seats = row["available_numbers"].as_array()?;
    let seat = seats.get(usize::try_from(number).ok()? % seats.len().max(1))?;
    Some(format!("{}{seat}", row["row"].as_str()?))
}

pub async fn shop(world: &World, number: u64) -> Result<()> {
    let mut line = world.line("merchant").await?;
    let words = ["カレンダー", "グッズ", "マグ", "mugibo"];
    let word = words[usize::try_from(number)? % words.len()];
    line.call("search_products", json!({ "keywords": [word] }))
        .await?;
    line.call("check_inventory", json!({ "product_ids": [1, 2, 5] }))
        .await?;
    let cart = json!({
        "cart_plan": { "items": [{ "product_id": 1, "quantity": 1 }] }, "products": [],
        "reserve": number.is_multiple_of(2), "idempotency_key": format!("bench-{}", world.number()),
    });
    let made = line.make("cart", "build_cart_mandates", cart).await?.done();
    let id = &made["cart_mandate"]["contents"]["id"];
    if id.is_string() {
        line.call("get_cart_mandate", json!({ "cart_id": id }))
            .await?;
        // The others expire.
        if !number.is_multiple_of(4) {
            line.call("cancel_cart", json!({ "cart_id": id })).await?;
        }
    }
    if number.is_multiple_of(20) {
        let mut line = world.line_with("merchant", &world.stock_key).await?;
        let change = json!({ "product_id": 2, "change": 1, "reason": "delivery" });
        line.make("stock change", "update_inventory", change)
            .await?;
    }
    Ok(())
}

pub async fn plan(world: &World, number: u64) -> Result<()> {
    let mut line = world.line("todo").await?;
    let title = format!("Task of visit {}", world.number());
    let task = json!({ "title": title, "idempotency_key": title, "description": "d" });
    let task = line.call("create_task", task).await?.done();
    let id = &task["task_id"];
    let text = "What is known about it.\n".repeat(20);
    line.call("update_context", json!({ "task_id": id, "content": text }))
        .await?;
    line.call("search_tasks", json!({ "query": "visit" }))
        .await?;
    line.call("search_contexts", json!({ "query": "known" }))
        .await?;
    line.call("list_tasks", json!({})).await?;
    line.call("update_task", json!({ "task_id": id, "status": "done" }))
        .await?;
    line.call("delete_task", json!({ "task_id": id })).await?;
    if number.is_multiple_of(200) {
        let adr = json!({
            "title": title, "context": "c", "decision": "d", "rationale": "r",
        });
        line.make("decision", "create_adr", adr).await?;
    }
    Ok(())
}

/// A room that comes, is used and goes.
pub async fn talk(world: &World, number: u64) -> Result<()> {
    let mut line = world.line("rooms").await?;
    let room = format!("room-{}", world.number());
    line.call("create_room", json!({ "roomName": room }))
        .await?;
    for agent in 0..3 {
        let agent = format!("agent-{}", (number + agent) % 40);
        let member = json!({ "roomName": room, "agentName": agent });
        line.call("enter_room", member.clone()).await?;
        let text = json!({ "roomName": room, "agentName": agent, "message": "hello @agent-1" });
        line.call("send_message", text).await?;
        line.call("get_messages", member).await?;
    }
    line.call(
        "search_messages",
        json!({ "query": "hello", "roomName": room }),
    )
    .await?;
    let gone = json!({ "roomName": room, "confirm": true });
    line.call("delete_room", gone).await?;
    Ok(())
}

/// A room that stays. What is said there is cleared from time to time.
pub async fn chat_in_hall(world: &World, number: u64) -> Result<()> {
    let mut line = world.line("rooms").await?;
    line.call("create_room", json!({ "roomName": "hall" }))
        .await?;
    let agent = format!("agent-{}", number % 40);
    let member = json!({ "roomName": "hall", "agentName": agent });
    line.call("enter_room", member.clone()).await?;
    for turn in 0..5 {
        let text = format!("message {number}.{turn}, @agent-{}", number % 7);
        let id = format!("{}", world.number());
        let message = json!({
            "roomName": "hall", "agentName": agent, "message": text, "clientMessageId": id,
        });
        line.call("send_message", message).await?;
    }
    line.call("mark_read", member.clone()).await?;
    line.call("get_status", json!({})).await?;
    line.call("leave_room", member).await?;
    if number % 150 == 149 {
        let clear = json!({ "roomName": "hall", "confirm": true });
        line.call("clear_room_messages", clear).await?;
    }
    Ok(())
}
