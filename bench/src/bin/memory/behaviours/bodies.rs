//! Whole bodies and messages, as large as they may be, whose JSON takes more
//! room when it is read than on the wire.

use std::sync::Arc;

use anyhow::Result;

use super::{
    slow::LIMIT,
    sockets::{attend, send},
};
use crate::{
    caller::Caller,
    requests::{self, LOUD_ROOM},
};

/// Room for what stands around the value.
const FRAME: usize = 4 * 1024;

/// As deep as the desk reads.
const DEPTH: usize = 60;

/// The largest message on a socket without a key.
const MOST_WITHOUT_KEY: usize = 256 * 1024;

/// Messages in a batch.
const BATCH: u64 = 100;

/// What a batch of large answers costs the desk, in other requests.
const BATCH_COST: usize = 400;

/// Values of about `LIMIT` bytes.
fn value(shape: usize) -> String {
    let room = LIMIT - FRAME;
    let list = |item: &str| {
        let items = item.repeat((room - 2) / item.len());
        format!("[{}]", items.trim_end_matches(','))
    };
    match shape % 4 {
        0 => format!("\"{}\"", "a".repeat(room - 2)),
        1 => list("0,"),
        2 => list("{},"),
        _ => {
            let fields: Vec<String> = (0..room / 12).map(|n| format!("\"{n:x}\":0")).collect();
            format!("{{{}}}", fields.join(","))
        }
    }
}

/// Where a large value is an argument: of reads and of calls that change
/// something, known and unknown.
fn call(caller: &Caller, number: usize, value: &str) -> String {
    let unknown = format!(r#"{{"x":{value}}}"#);
    match number % 5 {
        0 => caller.call("cinema", "get_movie_list", &unknown),
        1 => caller.call("todo", "create_task", &unknown),
        2 => {
            let cart = format!(r#"{{"cart_plan":{{"items":{value}}},"products":[]}}"#);
            caller.call("merchant", "build_cart_mandates", &cart)
        }
        3 => {
            let profile = format!(
                r#"{{"roomName":"{LOUD_ROOM}","agentName":"large","profile":{{"metadata":{{"x":{value}}}}}}}"#
            );
            caller.call("rooms", "enter_room", &profile)
        }
        _ => {
            // The plain way of the merchant's own port.
            let body = format!(
                r#"{{"name":"search_products","arguments":{{"keywords":["a"],"x":{value}}}}}"#
            );
            caller.post(caller.ports.merchant, "/mcp/tools/call", "", &body)
        }
    }
}

pub async fn large(caller: Arc<Caller>, number: usize) -> Result<()> {
    let request = call(&caller, number, &value(number));
    let port = match number % 5 {
        4 => caller.ports.merchant,
        _ => caller.ports.main,
    };
    let mut line = caller.line(port).await?;
    loop {
        line.ask(&request).await?;
    }
}

/// The same on sockets, where the desk also reads ahead.
pub async fn large_message(caller: Arc<Caller>, number: usize) -> Result<()> {
    let places = ["/ws/cinema", "/ws/rooms", "/ws/todo"];
    let path = places[number % places.len()];
    let mut socket = caller.socket(caller.ports.main, path).await?;
    let _held = caller.tally.hold();
    let arguments = format!(r#"{{"x":{}}}"#, value(number / 3 + 1));
    for id in 0..20 {
        let text = match id % 2 {
            0 => requests::call(id, "get_movie_list", &arguments),
            // Something that only the protocol crate reads.
            _ => requests::modern(id, "server/discover", &format!(r#""x":{arguments}"#)),
        };
        send(&caller, &mut socket, text).await?;
    }
    attend(&caller, &mut socket).await
}

/// One message as large as it may be without a key, one large answer that is
/// read, and then nothing: what stays behind counts.
pub async fn once_large(caller: Arc<Caller>, number: usize) -> Result<()> {
    let mut socket = caller.socket(caller.ports.main, "/ws/rooms").await?;
    let _held = caller.tally.hold();
    let filler = "a".repeat(MOST_WITHOUT_KEY - FRAME);
    let large = requests::call(1, "list_rooms", &format!(r#"{{"x":"{filler}"}}"#));
    send(&caller, &mut socket, large).await?;
    let page = format!(r#"{{"roomName":"{LOUD_ROOM}","limit":1000}}"#);
    caller.leave_time(number % 8).await;
    send(
        &caller,
        &mut socket,
        requests::call(2, "get_messages", &page),
    )
    .await?;
    attend(&caller, &mut socket).await
}

/// Lists in lists, again and again, and then deeper than is read at all.
pub async fn deep(caller: Arc<Caller>, number: usize) -> Result<()> {
    let depth = if number % 4 == 3 { 100_000 } else { DEPTH };
    let nested = format!("{}{},", "[".repeat(depth), "]".repeat(depth));
    let many = nested.repeat((LIMIT - FRAME) / nested.len());
    let list = format!("[{}]", many.trim_end_matches(','));
    let request = call(&caller, number, &list);
    let mut line = caller.line(caller.ports.main).await?;
    loop {
        line.ask(&request).await?;
    }
}

/// A hundred large answers to one body.
pub async fn batch(caller: Arc<Caller>, _: usize) -> Result<()> {
    let arguments = format!(r#"{{"roomName":"{LOUD_ROOM}","limit":1000}}"#);
    let calls = (0..BATCH).map(|id| requests::call(id, "get_messages", &arguments));
    let body = format!("[{}]", calls.collect::<Vec<_>>().join(","));
    let request = caller.post(caller.ports.main, "/mcp/rooms", "", &body);
    let mut line = caller.line(caller.ports.main).await?;
    loop {
        caller.leave_time(BATCH_COST).await;
        line.ask(&request).await?;
    }
}
