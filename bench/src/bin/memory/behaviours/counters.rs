//! Calls that make a counter keep or compute much.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use anyhow::Result;
use bench::http::Connection;
use tokio::time::timeout;
use tokio_tungstenite::client_async;

use super::sockets::send;
use crate::{
    caller::{Caller, Line, upgrade},
    requests::{self, LOUD_ROOM, QUIET_ROOM},
};

/// The longest text of a message.
const TEXT: usize = 10_000;

/// Nearly the largest profile of an agent.
const PROFILE: usize = 9_000;

/// What a search or a large resource costs the desk, in other requests.
const SEARCH_COST: usize = 4;

/// Messages that an agent may send in a minute.
const MESSAGES: u64 = 600;

/// Makes what the behaviours ask for, as far as the desk lets them.
pub async fn prepare(caller: &Caller) -> Result<()> {
    let mut line = caller.line(caller.ports.main).await?;
    for room in [LOUD_ROOM, QUIET_ROOM] {
        let create = format!(r#"{{"roomName":"{room}"}}"#);
        line.call("rooms", "create_room", &create).await?;
    }
    let enter = format!(r#"{{"roomName":"{LOUD_ROOM}","agentName":"speaker"}}"#);
    line.call("rooms", "enter_room", &enter).await?;
    let (text, filler) = ("a ".repeat(TEXT / 2), "b".repeat(9_000));
    for _ in 0..50 {
        let message = format!(
            r#"{{"roomName":"{LOUD_ROOM}","agentName":"speaker","message":"{text}","metadata":{{"x":"{filler}"}}}}"#
        );
        line.call("rooms", "send_message", &message).await?;
    }
    let task = caller.call("todo", "create_task", r#"{"title":"first"}"#);
    line.ask(&task).await?;
    Ok(())
}

pub async fn searches(caller: Arc<Caller>, _: usize) -> Result<()> {
    let mut line = caller.line(caller.ports.main).await?;
    loop {
        let number = caller.number();
        let long = format!("{number} 窓口 あいう {}", "ab ".repeat(300));
        let keywords: Vec<String> = (0..100).map(|n| format!("\"{n} {long}\"")).collect();
        let keywords = keywords.join(",");
        let request = match number % 5 {
            0 => {
                let all = format!(
                    r#"{{"keywords":[{keywords}],"limit":1000,"facets":true,"sort":"name"}}"#
                );
                caller.call("merchant", "search_products", &all)
            }
            1 => {
                let ids: Vec<String> = (0..1000).map(|id| id.to_string()).collect();
                let ids = format!(r#"{{"product_ids":[{}]}}"#, ids.join(","));
                caller.call("merchant", "check_inventory", &ids)
            }
            2 => {
                let words = format!(r#"{{"query":"a {number}","limit":1000}}"#);
                caller.call("rooms", "search_messages", &words)
            }
            3 => {
                let words = format!(r#"{{"query":"{number}","limit":50}}"#);
                caller.call("todo", "search_contexts", &words)
            }
            _ => {
                let title = format!(r#"{{"search_query":"{}","limit":200}}"#, long.repeat(50));
                caller.call("cinema", "get_movie_list", &title)
            }
        };
        caller.leave_time(SEARCH_COST).await;
        line.ask(&request).await?;
    }
}

/// Rooms that come, are entered by agents with much to say of themselves, and go.
/// One agent of each stays in a room that is never deleted.
pub async fn room_churn(caller: Arc<Caller>, _: usize) -> Result<()> {
    let mut line = caller.line(caller.ports.main).await?;
    let about = "a".repeat(PROFILE);
    loop {
        let number = caller.number();
        let room = format!("churn-{number}");
        let create = format!(r#"{{"roomName":"{room}"}}"#);
        line.call("rooms", "create_room", &create).await?;
        let rooms = [room.as_str(), &room, &room, LOUD_ROOM];
        for (agent, room) in rooms.iter().enumerate() {
            let enter = format!(
                r#"{{"roomName":"{room}","agentName":"agent-{number}-{agent}","profile":{{"description":"{about}"}}}}"#
            );
            line.call("rooms", "enter_room", &enter).await?;
        }
        // Most of them; the rest stays, up to the desk's limit.
        if !number.is_multiple_of(4) {
            let delete = format!(r#"{{"roomName":"{room}","confirm":true}}"#);
            line.call("rooms", "delete_room", &delete).await?;
        }
    }
}

/// Messages that mention thousands of names, none of them twice.
pub async fn mentions(caller: Arc<Caller>, _: usize) -> Result<()> {
    let mut line = caller.line(caller.ports.main).await?;
    let agent = format!("talker-{}", caller.number());
    let room = format!(r#""roomName":"{LOUD_ROOM}","agentName":"{agent}""#);
    let enter = format!("{{{room}}}");
    line.call("rooms", "enter_room", &enter).await?;
    for _ in 0..MESSAGES {
        let first = caller.number() * 2_500;
        let mut text = String::with_capacity(TEXT);
        for name in first.. {
            let mention = format!("@{name:x} ");
            if text.len() + mention.len() > TEXT {
                break;
            }
            text.push_str(&mention);
        }
        let message = format!(r#"{{{room},"message":"{text}"}}"#);
        line.call("rooms", "send_message", &message).await?;
    }
    Ok(())
}

/// An idempotency key that never comes again, at times a very long one.
fn idempotency_key(number: u64) -> String {
    let length = if number.is_multiple_of(4) {
        32 * 1024
    } else {
        100
    };
    format!("{number}-{}", "k".repeat(length))
}

/// Carts that keep goods, with more in them than a cart needs.
pub async fn carts(caller: Arc<Caller>, _: usize) -> Result<()> {
    let mut line = caller.line(caller.ports.main).await?;
    // As long as an address may be.
    let (filler, address) = ("a".repeat(32 * 1024), "b".repeat(15 * 1024));
    loop {
        let number = caller.number();
        let (product, key) = (1 + number % 30, idempotency_key(number));
        let cart = format!(
            r#"{{"cart_plan":{{"items":[{{"product_id":{product},"quantity":1}}],"note":"{filler}"}},"products":[{{"id":{product}}}],"shipping_address":{{"recipient":"a","x":"{address}"}},"reserve":{},"idempotency_key":"{key}"}}"#,
            number.is_multiple_of(2)
        );
        line.call("merchant", "build_cart_mandates", &cart).await?;
    }
}

/// The ids of shows that can be booked.
pub async fn shows(caller: &Caller, line: &mut Line<'_>) -> Result<Vec<String>> {
    let list = requests::modern(caller.number(), "resources/list", r#""x":0"#);
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/list\r\n";
    let request = caller.post(caller.ports.main, "/mcp/cinema", headers, &list);
    let answer = line.ask(&request).await?;
    let answer = String::from_utf8_lossy(&answer);
    let ids = answer.split("cinema://shows/").skip(1);
    let ids = ids.filter_map(|rest| Some(rest.split_once('/')?.0.to_owned()));
    Ok(ids.collect())
}

/// Seat after seat of every show there is.
pub async fn bookings(caller: Arc<Caller>, _: usize) -> Result<()> {
    let mut line = caller.line(caller.ports.main).await?;
    for show in shows(&caller, &mut line).await? {
        for row in 'A'..='H' {
            for seat in 1..=8 {
                let key = idempotency_key(caller.number());
                let booking = format!(
                    r#"{{"schedule_id":"{show}","seat_ids":["{row}{seat}"],"idempotency_key":"{key}"}}"#
                );
                line.call("cinema", "reserve_seats", &booking).await?;
            }
        }
    }
    Ok(())
}

/// Tasks with much context, up to as many as there may be.
pub async fn tasks(caller: Arc<Caller>, _: usize) -> Result<()> {
    let mut line = caller.line(caller.ports.main).await?;
    let text = "word ".repeat(1_900);
    for round in 0.. {
        let number = caller.number();
        let subtasks = vec![format!("\"{}\"", "s".repeat(99)); 20].join(",");
        let operation = format!(
            r#"{{"tool":"create_task","arguments":{{"title":"task {number}","description":"{}","subtasks":[{subtasks}]}}}}"#,
            "d".repeat(490)
        );
        let batch = format!(r#"{{"operations":[{}]}}"#, vec![operation; 50].join(","));
        line.call("todo", "batch", &batch).await?;
        for task in 1..=50 {
            let id = (round * 50 + task) % 999;
            let context =
                format!(r#"{{"task_id":"T{id:03}","content":"{number} {text}","append":true}}"#);
            line.call("todo", "update_context", &context).await?;
        }
    }
    Ok(())
}

/// Resources, the large ones among them, by many at once.
pub async fn reads(caller: Arc<Caller>, number: usize) -> Result<()> {
    let messages = format!("rooms://{LOUD_ROOM}/messages");
    let resources = [
        ("rooms", messages.as_str()),
        ("todo", "file://.todo/task.md"),
        ("cinema", "cinema://films"),
        ("innervoice", "innervoice://calendar.ics"),
    ];
    let some = if caller.key.is_some() { 4 } else { 3 };
    let (counter, uri) = resources[number % some];
    let mut line = caller.line(caller.ports.main).await?;
    let path = format!("/mcp/{counter}");
    let headers = requests::modern_headers("resources/read", uri);
    let params = format!(r#""uri":"{uri}""#);
    loop {
        caller.leave_time(SEARCH_COST).await;
        let body = requests::modern(caller.number(), "resources/read", &params);
        line.ask(&caller.post(caller.ports.main, &path, &headers, &body))
            .await?;
    }
}

/// Another wrong key every time, from another address every time.
pub async fn wrong_keys(caller: Arc<Caller>, _: usize) -> Result<()> {
    let number = caller.number();
    let [_, high, middle, low] = u32::try_from(number % 0xff_ffff)?.to_be_bytes();
    let source = Ipv4Addr::new(127, 1 | high, middle, low);
    let key = format!("mdg_{number:012}_{number:026}");
    let patience = Duration::from_secs(30);
    if number.is_multiple_of(2) {
        let port = caller.ports.innervoice;
        let stream = caller.connect_from(source, port).await?;
        let request = upgrade(port, "/", Some(&key))?;
        let (mut socket, _) = timeout(patience, client_async(request, stream)).await??;
        let call = requests::call(number, "calendar_list", "{}");
        return send(&caller, &mut socket, call).await;
    }
    let port = caller.ports.main;
    let mut line = Connection::over(caller.connect_from(source, port).await?)?;
    let request = format!(
        "GET /mcp/innervoice HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n\r\n"
    );
    let (status, body) = timeout(patience, line.ask(request.as_bytes())).await??;
    caller.tally.told(status, body);
    Ok(())
}
