//! The program itself, as agents start it: waking another process, memory, and
//! the start.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use bench::{
    figures::{Table, median, megabytes, number, yes_or_no},
    load::Outcome,
    places::Places,
    room_logs, stdio,
    wire::Verdict,
};
use serde_json::json;

use crate::agent::{self, Agent};

/// Below what one agent may send in a minute.
const WAKES: usize = 300;
/// Long enough for the other one to be waiting.
const PAUSE: Duration = Duration::from_millis(20);
const GOAL_WAKE_MS: f64 = 10.0;
const ROOMS: usize = 100;
const MESSAGES: usize = 10_000;
const GOAL_MB: f64 = 20.0;

pub fn measure(places: &Places, starts: usize) -> Result<()> {
    let mut table = Table::new(" | here | goal | met");
    wake(places, &mut table)?;
    let data = places.fresh()?;
    let rooms: Vec<_> = (0..ROOMS).map(|n| (format!("r{n}"), MESSAGES)).collect();
    room_logs::write(data.path(), &rooms)?;
    memory(places, data.path(), &rooms, &mut table)?;
    start(places, data.path(), starts, &mut table)?;
    table.print("`madoguchi stdio rooms`");
    Ok(())
}

/// From the line that asks one process to send to the line in which another
/// answers `wait_for_messages`; the message is on the disk in between.
fn wake(places: &Places, table: &mut Table) -> Result<()> {
    let data = places.fresh()?;
    let mut sender = Agent::start(places, data.path())?;
    let mut waiter = Agent::start(places, data.path())?;
    sender.call("create_room", &json!({"roomName": "a"}))?;
    sender.call("enter_room", &json!({"roomName": "a", "agentName": "x"}))?;
    waiter.call("enter_room", &json!({"roomName": "a", "agentName": "y"}))?;
    let wait = json!({"roomName": "a", "agentName": "y", "timeout": 30});
    let mut outcome = Outcome::default();
    for number in 0..WAKES {
        waiter.ask("wait_for_messages", &wait)?;
        thread::sleep(PAUSE);
        let message = format!("this is message {number}");
        let send = json!({"roomName": "a", "agentName": "x", "message": message});
        let started = Instant::now();
        sender.ask("send_message", &send)?;
        let (woken, answer) = waiter.answer()?;
        sender.answer()?;
        let messages = &answer["messages"];
        let right = messages.as_array().is_some_and(|all| all.len() == 1)
            && messages[0]["message"] == message;
        ensure!(right, "{answer}");
        outcome.add(Verdict::Done, woken.saturating_duration_since(started));
    }
    let outcome = Outcome::merge(vec![outcome], Duration::ZERO);
    let (p50, p99) = (outcome.milliseconds(0.5), outcome.milliseconds(0.99));
    table.row(&[
        &format!("send in one process to `wait_for_messages` in another, {WAKES} times"),
        &format!("p50 {} ms, p99 {} ms", number(p50), number(p99)),
        "p99 under 10 ms",
        yes_or_no(p99 < GOAL_WAKE_MS),
    ]);
    Ok(())
}

fn memory(
    places: &Places,
    data: &Path,
    rooms: &[(String, usize)],
    table: &mut Table,
) -> Result<()> {
    let mut agent = Agent::start(places, data)?;
    let started = Instant::now();
    for (room, _) in rooms {
        let answer = agent.call("get_messages", &json!({"roomName": room, "limit": 50}))?;
        ensure!(answer["count"] == 50, "{}", answer["count"]);
    }
    let touched = started.elapsed();
    let after = agent.memory()?;
    let resident = after.resident as f64;
    table.row(&[
        "memory after a page of each of 100 rooms of 10,000 messages (`VmRSS`)",
        &megabytes(resident),
        "under 20 MB",
        yes_or_no(resident / 1024.0 < GOAL_MB),
    ]);
    let mut shown = |name: &str, here: &str| table.row(&[name, here, "–", "–"]);
    shown("its peak (`VmHWM`)", &megabytes(after.peak as f64));
    let in_ms = |time: Duration| format!("{} ms", number(time.as_secs_f64() * 1e3));
    shown(
        "those 100 pages, logs read for the first time",
        &in_ms(touched),
    );
    let list = json!({});
    // Nothing to be found: every message is looked at.
    let search = json!({"query": "nowhere to be found"});
    for (name, tool, arguments) in [
        ("`list_rooms` of them", "list_rooms", list),
        (
            "`search_messages` through all of them",
            "search_messages",
            search,
        ),
    ] {
        let started = Instant::now();
        agent.call(tool, &arguments)?;
        shown(name, &in_ms(started.elapsed()));
    }
    let resident = agent.memory()?.resident as f64;
    shown("memory after that", &megabytes(resident));
    Ok(())
}

fn start(places: &Places, data: &Path, starts: usize, table: &mut Table) -> Result<()> {
    // The first one brings the files into memory.
    stdio::first_answer(agent::command(places, data))?;
    let mut measured = Vec::new();
    for _ in 0..starts {
        measured.push(stdio::first_answer(agent::command(places, data))?);
    }
    let time = median(measured.iter().map(|start| start.milliseconds));
    table.row(&[
        &format!("start to the answer of `tools/list`, median of {starts}"),
        &format!("{} ms", number(time)),
        "under 5 ms",
        yes_or_no(time < stdio::GOAL_MS),
    ]);
    let resident = median(measured.iter().map(|start| start.resident));
    table.row(&["memory then", &megabytes(resident), "–", "–"]);
    Ok(())
}
