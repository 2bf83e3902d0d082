//! Rooms: a hundred of them with ten agents each.

use std::{
    fs::File,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use bench::{figures::number, places::Places, room_logs, session::Session};
use serde_json::{Value, json};

use crate::statements::{Statements, Times};

const SEND_MS: f64 = 100.0;
const ROOMS: usize = 100;
const AGENTS: usize = 10;
/// Processes among which the agents are shared out.
const PROCESSES: usize = 4;
const LOSS: f64 = 0.0001;
/// What a service may be away in a day at 99.9 %.
const AWAY_MS_A_DAY: f64 = 86_400.0 * 1e3 * 0.001;
const FULL: usize = 10_000;

pub fn measure(places: &Places, statements: &mut Statements) -> Result<()> {
    let data = places.fresh()?;
    let start = |root: &Path| Session::start(command(places, root));
    let mut session = start(data.path())?;
    for room in 0..ROOMS {
        session.call("create_room", &json!({ "roomName": format!("r{room}") }))?;
    }
    let (answer, _) = session.result("create_room", &json!({ "roomName": "one-more" }))?;
    let refused = answer["structuredContent"]["error"]["code"].as_str();
    let statement = "rooms: at most 100 rooms unless set otherwise: the 101st is refused";
    statements.exactly(statement, "ROOM_LIMIT_EXCEEDED", refused.unwrap_or("made"));

    let sent = sends(&start, data.path(), statements)?;
    let mut found = 0;
    for room in 0..ROOMS {
        found += count_of(&mut session, &format!("r{room}"))?;
    }
    let agents = ROOMS * AGENTS;
    let statement = "rooms: 100 rooms with 10 agents each, all of them in";
    let (text, _) = session.call("list_rooms", &json!({}))?;
    let listed: Value = serde_json::from_str(&text)?;
    let rooms = listed["rooms"].as_array().context("rooms")?;
    let members: u64 = rooms
        .iter()
        .filter_map(|room| room["userCount"].as_u64())
        .sum();
    statements.exactly(statement, &agents.to_string(), &members.to_string());
    let lost = sent.saturating_sub(found) as f64 / sent as f64;
    let measured = format!("{} of {sent} acknowledged", sent.saturating_sub(found));
    let statement = "rooms: share of messages lost, with a process killed in the middle";
    statements.add(statement, "under 0.01 %", &measured, lost < LOSS);
    drop(session);
    availability(&start, data.path(), statements)?;
    full_room(places, &start, statements)
}

fn command(places: &Places, root: &Path) -> Command {
    let mut command = Command::new(&places.madoguchi);
    command.args(["stdio", "rooms", "--data"]).arg(root);
    command.env("AGENT_COMM_DATA_DIR", root);
    command
}

/// All agents of all rooms send a few messages each. One process is killed. Returns
/// how many were acknowledged.
fn sends(
    start: &(dyn Fn(&Path) -> Result<Session> + Sync),
    data: &Path,
    statements: &mut Statements,
) -> Result<usize> {
    let all = thread::scope(|scope| {
        let threads: Vec<_> = (0..PROCESSES)
            .map(|process| scope.spawn(move || send_of(start, data, process)))
            .collect();
        let mut all = Vec::new();
        for thread in threads {
            all.push(thread.join().ok().context("a thread panicked")??);
        }
        anyhow::Ok(all)
    })?;
    let (mut times, mut sent) = (Times::default(), 0);
    for (count, some) in all {
        sent += count;
        times.extend(some);
    }
    let statement = "rooms: sending a message, from 4 processes into 100 rooms";
    statements.within(statement, SEND_MS, &times);
    Ok(sent)
}

fn send_of(
    start: &dyn Fn(&Path) -> Result<Session>,
    data: &Path,
    process: usize,
) -> Result<(usize, Times)> {
    let mut session = start(data)?;
    let (mut times, mut sent) = (Times::default(), 0);
    for room in (process..ROOMS).step_by(PROCESSES) {
        for agent in 0..AGENTS {
            let (room, agent) = (format!("r{room}"), format!("a{room}-{agent}"));
            session.call(
                "enter_room",
                &json!({ "roomName": room, "agentName": agent }),
            )?;
            for turn in 0..3 {
                let message = json!({
                    "roomName": room, "agentName": agent, "message": format!("message {turn}"),
                });
                times.add(session.call("send_message", &message)?.1);
                sent += 1;
            }
        }
        // Killed, and another one goes on.
        if process == 0 && room == ROOMS / 2 {
            drop(session);
            session = start(data)?;
        }
    }
    Ok((sent, times))
}

fn count_of(session: &mut Session, room: &str) -> Result<usize> {
    let page = json!({ "roomName": room, "limit": 1000 });
    let (text, _) = session.call("get_messages", &page)?;
    let answer: Value = serde_json::from_str(&text)?;
    let messages = answer["messages"].as_array().context("messages")?;
    let own = |one: &&Value| {
        one["agentName"]
            .as_str()
            .is_some_and(|name| name.starts_with('a'))
    };
    Ok(messages.iter().filter(own).count())
}

/// How long nobody is answered after a kill, and how many kills a day that allows.
fn availability(
    start: &dyn Fn(&Path) -> Result<Session>,
    data: &Path,
    statements: &mut Statements,
) -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..10 {
        let killed = Instant::now();
        let mut session = start(data)?;
        session.call("list_rooms", &json!({}))?;
        times.push(killed.elapsed());
    }
    let longest = times.into_iter().max().unwrap_or(Duration::ZERO);
    let away = longest.as_secs_f64() * 1e3;
    let measured = format!(
        "{} ms from a kill to the next answer: {} kills a day",
        number(away),
        number((AWAY_MS_A_DAY / away).floor())
    );
    let statement = "rooms: 99.9 % of the time there, which is all but 86 s of a day";
    statements.add(
        statement,
        "one kill a day at least",
        &measured,
        away < AWAY_MS_A_DAY,
    );
    Ok(())
}

/// A room with as many messages as it may hold, and one more.
fn full_room(
    places: &Places,
    start: &dyn Fn(&Path) -> Result<Session>,
    statements: &mut Statements,
) -> Result<()> {
    let data = places.fresh()?;
    room_logs::write(data.path(), &[("full".to_owned(), FULL)])?;
    let mut session = start(data.path())?;
    let member = json!({ "roomName": "full", "agentName": "x" });
    session.call("enter_room", &member)?;
    let message = json!({ "roomName": "full", "agentName": "x", "message": "one more" });
    let mut times = Times::default();
    for _ in 0..100 {
        times.add(session.call("send_message", &message)?.1);
        times.add(session.call("get_messages", &member)?.1);
    }
    let statement = "rooms: sending to and reading from a room with 10,000 messages";
    statements.within(statement, SEND_MS, &times);
    let (text, _) = session.call("get_messages", &json!({ "roomName": "full" }))?;
    let answer: Value = serde_json::from_str(&text)?;
    statements.exactly(
        "rooms: a page has 50 messages unless set otherwise",
        "50",
        &answer["count"].to_string(),
    );
    let log = std::fs::read_to_string(data.path().join("rooms/full/messages.jsonl"))?;
    let lines = log.lines().count();
    ensure!(lines > 0, "an empty log");
    let statement = "rooms: a log has at most 10,000 messages; older ones go to the archive";
    statements.add(statement, "10,000", &lines.to_string(), lines <= FULL);

    let lock = data.path().join(".locks/room-full.lock");
    let lock = File::options().append(true).create(true).open(lock)?;
    lock.lock()?;
    let (answer, took) = session.result("send_message", &message)?;
    let code = answer["structuredContent"]["error"]["code"].as_str();
    let is_timeout = code == Some("FILE_LOCK_TIMEOUT");
    let measured = format!("{} after {} ms", code.unwrap_or("sent"), took.as_millis());
    let statement = "rooms: who can't get a lock is told so after 5,000 ms unless set otherwise";
    let holds = is_timeout && (5_000..6_000).contains(&took.as_millis());
    statements.add(
        statement,
        "FILE_LOCK_TIMEOUT after 5,000 ms",
        &measured,
        holds,
    );
    Ok(())
}
