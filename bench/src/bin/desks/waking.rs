//! From the request that sends a message at one desk to the answer of
//! `wait_for_messages` at another.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bench::{
    http::Connection,
    load::Outcome,
    places::Places,
    wire::{self, Target, Verdict},
};
use serde_json::{Value, json};

use crate::{postgres::Postgres, turns::Desk};

/// Below what one agent may send in a minute.
const WAKES: u64 = 300;
/// Long enough for the other one to be waiting.
const PAUSE: Duration = Duration::from_millis(30);

struct Agent {
    connection: Connection,
    port: u16,
}

impl Agent {
    async fn at(desk: &Desk) -> Result<Self> {
        let connection = Connection::open(desk.port).await?;
        let port = desk.port;
        Ok(Self { connection, port })
    }

    async fn call(&mut self, tool: &'static str, arguments: &Value) -> Result<Value> {
        let target = Target::new(self.port, "/mcp/rooms", tool);
        let request = target.request(1, &arguments.to_string());
        wire::result(1, self.connection.exchange(&request, 200).await?)
    }
}

/// `None` if each desk has its own rooms, in files.
pub async fn measure(places: &Places, postgres: &Postgres) -> Result<Option<Outcome>> {
    let (directory, url) = (places.fresh()?, postgres.create_database()?);
    let one = Desk::start(places, &directory.path().join("one"), Some(&url)).await?;
    let other = Desk::start(places, &directory.path().join("other"), Some(&url)).await?;
    let (mut sender, mut waiter) = (Agent::at(&one).await?, Agent::at(&other).await?);
    sender
        .call("create_room", &json!({ "roomName": "a" }))
        .await?;
    let enter = |name: &str| json!({ "roomName": "a", "agentName": name });
    sender.call("enter_room", &enter("x")).await?;
    if waiter.call("enter_room", &enter("y")).await.is_err() {
        return Ok(None);
    }
    let mut outcome = Outcome::default();
    for number in 0..WAKES {
        let waiting = tokio::spawn(async move {
            let wait = json!({ "roomName": "a", "agentName": "y", "timeout": 30 });
            let answer = waiter.call("wait_for_messages", &wait).await;
            (waiter, answer, Instant::now())
        });
        tokio::time::sleep(PAUSE).await;
        let message = format!("this is message {number}");
        let send = json!({ "roomName": "a", "agentName": "x", "message": message });
        let started = Instant::now();
        sender.call("send_message", &send).await?;
        let (same, answer, woken) = waiting.await?;
        waiter = same;
        let answer = answer?;
        let heard = answer["messages"][0]["message"].as_str();
        ensure!(heard.context("a message")? == message, "{answer}");
        outcome.add(Verdict::Done, woken.saturating_duration_since(started));
    }
    one.running.stop()?;
    other.running.stop()?;
    Ok(Some(Outcome::merge(vec![outcome], Duration::ZERO)))
}
