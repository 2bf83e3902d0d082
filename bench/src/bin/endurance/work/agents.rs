//! Visitors who do more than call: sockets, sessions, streams, processes.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result};
use bench::wire::call_line;
use serde_json::{Value, json};

use crate::{client::World, desk::Desk};

/// How long a stream is looked at before it is cut off.
const A_WHILE: Duration = Duration::from_millis(400);

/// Comes to the hall on a socket, waits for messages, and goes: with or without a
/// word, and sometimes in the middle of a call.
pub async fn chat_on_socket(world: &World, number: u64) -> Result<()> {
    let mut socket = world.socket(world.desk.main, "/ws/rooms").await?;
    let agent = format!("socket-{}", number % 30);
    let member = json!({ "roomName": "hall", "agentName": agent });
    socket.call("enter_room", member.clone()).await?;
    let text = json!({ "roomName": "hall", "agentName": agent, "message": "from a socket" });
    socket.call("send_message", text).await?;
    let wait = json!({ "roomName": "hall", "agentName": agent, "timeout": 20 });
    socket.send("wait_for_messages", wait).await?;
    tokio::time::sleep(A_WHILE).await;
    match number % 3 {
        0 => Ok(()),
        1 => socket.close().await,
        _ => {
            socket.call("leave_room", member).await?;
            socket.close().await
        }
    }
}

/// A session of the handshake era. A third of them is ended by its client.
pub async fn session(world: &World, number: u64) -> Result<()> {
    let counters = ["cinema", "merchant", "rooms", "todo", "innervoice"];
    let counter = counters[usize::try_from(number)? % counters.len()];
    let mut line = world.line(counter).await?;
    line.open_session().await?;
    line.ask("tools/list", "", json!({})).await?;
    line.ask("resources/list", "", json!({})).await?;
    let (tool, arguments) = match counter {
        "cinema" => ("get_movie_list", json!({})),
        "merchant" => ("check_inventory", json!({ "product_ids": [1] })),
        "rooms" => ("list_rooms", json!({})),
        "todo" => ("list_tasks", json!({})),
        _ => ("reminder_list", json!({})),
    };
    line.call(tool, arguments).await?;
    let watched = match counter {
        "cinema" => "cinema://films",
        "todo" => "file://.todo/task.md",
        _ => "",
    };
    if !watched.is_empty() {
        let watch = json!({ "uri": watched });
        line.ask("resources/subscribe", "", watch).await?;
    }
    match number % 3 {
        0 => line.of_session("DELETE").await,
        1 => {
            line.of_session("GET").await?;
            tokio::time::sleep(A_WHILE).await;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Streams and calls whose clients go away in the middle.
pub async fn cut_stream(world: &World, number: u64) -> Result<()> {
    match number % 3 {
        0 => {
            let mut line = world.line("cinema").await?;
            let filter = json!({ "notifications": {
                "resourcesListChanged": true, "resourceSubscriptions": ["cinema://films"],
            }});
            line.send("subscriptions/listen", "", filter).await?;
            tokio::time::sleep(A_WHILE).await;
        }
        1 => {
            let mut line = world.line("rooms").await?;
            let agent = format!("waiter-{}", number % 20);
            let member = json!({ "roomName": "hall", "agentName": agent });
            line.call("enter_room", member).await?;
            let wait = json!({ "roomName": "hall", "agentName": agent, "timeout": 30 });
            let params = json!({ "name": "wait_for_messages", "arguments": wait });
            line.send("tools/call", "wait_for_messages", params).await?;
            tokio::time::sleep(A_WHILE / 8).await;
        }
        _ => {
            let mut line = world.line("merchant").await?;
            let search = json!({ "keywords": ["グッズ"], "facets": true });
            let params = json!({ "name": "search_products", "arguments": search });
            line.send("tools/call", "search_products", params).await?;
        }
    }
    Ok(())
}

pub async fn wrong_key(world: &World, number: u64) -> Result<()> {
    let key = format!("mdg_wrong{number:032}");
    let mut line = world.line_with("cinema", &key).await?;
    line.call("get_movie_list", json!({})).await?;
    Ok(())
}

/// A process of an agent on the same data. Every other one is killed.
pub async fn stdio(world: &World, number: u64) -> Result<()> {
    let calls = [
        ("cinema", "get_movie_list", json!({})),
        ("rooms", "list_rooms", json!({})),
        ("todo", "list_tasks", json!({})),
        ("merchant", "check_inventory", json!({ "product_ids": [1] })),
        ("innervoice", "reminder_list", json!({})),
    ];
    let at = usize::try_from(number)? % calls.len();
    let (counter, tool, arguments) = calls.get(at).cloned().context("a call")?;
    let child = spawn(&world.desk, counter)?;
    let is_killed = number % 2 == 1;
    let talk = move || talk(child, tool, &arguments, is_killed);
    let said = tokio::task::spawn_blocking(talk).await?;
    world
        .tally
        .told("stdio process", if said.is_ok() { "ok" } else { "failed" });
    said
}

fn spawn(desk: &Desk, counter: &str) -> Result<Child> {
    let mut command = desk.command(&["stdio", counter]);
    command.arg("--root").arg(desk.project());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    Ok(command.stderr(Stdio::null()).spawn()?)
}

fn talk(mut child: Child, tool: &str, arguments: &Value, is_killed: bool) -> Result<()> {
    let mut input = child.stdin.take().context("stdin")?;
    let mut output = BufReader::new(child.stdout.take().context("stdout")?);
    for id in 1..=3 {
        writeln!(input, "{}", call_line(id, tool, arguments))?;
        let mut line = String::new();
        output.read_line(&mut line)?;
    }
    if is_killed {
        child.kill()?;
    }
    drop(input);
    child.wait()?;
    Ok(())
}
