//! What the console, open in ten browsers, adds to the calls of agents.

use std::time::Duration;

use anyhow::Result;
use bench::{
    figures::{Goals, Table, median, number, spread},
    load::{Limit, Outcome},
    places::Places,
    wire::{Films, Verdict, Work, result},
};
use serde_json::{Value, json};

use crate::{
    browser::{Browser, OpenConsoles},
    desk::{self, Desk},
};

const BROWSERS: usize = 10;
const CONNECTIONS: usize = 16;
const WARM_UP: Duration = Duration::from_secs(2);
const GOAL: f64 = 1.05;
const ROOM: &str = "bench";

/// `send_message`, which changes the page of rooms.
struct Sends;

impl Work for Sends {
    fn arguments(&self, number: u64) -> String {
        format!(r#"{{"roomName":"{ROOM}","agentName":"agent","message":"Message {number}."}}"#)
    }

    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict> {
        let _: Value = result(number, body)?;
        Ok(Verdict::Done)
    }
}

#[derive(Clone, Copy)]
enum Call {
    Read,
    Write,
}

impl Call {
    fn name(self) -> &'static str {
        match self {
            Self::Read => "`get_movie_list`, which changes nothing",
            Self::Write => "`send_message`, which changes the page of its room",
        }
    }

    async fn run(self, desk: &Desk, limit: Limit) -> Result<Outcome> {
        match self {
            Self::Read => {
                desk.load("cinema", "get_movie_list", Films, CONNECTIONS, limit)
                    .await
            }
            Self::Write => {
                desk.load("rooms", "send_message", Sends, CONNECTIONS, limit)
                    .await
            }
        }
    }
}

/// What the browsers show.
#[derive(Clone, Copy)]
enum Views {
    Mixed,
    Overview,
    Room,
}

impl Views {
    fn name(self) -> &'static str {
        match self {
            Self::Mixed => "three overviews, two inboxes, a page of each counter",
            Self::Overview => "ten overviews",
            Self::Room => "ten pages of the room",
        }
    }

    fn paths(self) -> Vec<String> {
        let room = format!("/console/rooms?room={ROOM}");
        let paths = match self {
            Self::Overview => vec!["/"; BROWSERS],
            Self::Room => vec![room.as_str(); BROWSERS],
            Self::Mixed => vec![
                "/",
                "/console/approvals",
                room.as_str(),
                "/console/cinema",
                "/",
                "/console/todo",
                "/console/merchant",
                "/console/approvals",
                "/console/innervoice",
                "/",
            ],
        };
        paths.into_iter().map(str::to_owned).collect()
    }
}

/// CPU seconds for 10,000 calls.
async fn turn(desk: &Desk, call: Call, time: Duration) -> Result<f64> {
    let before = desk.cpu_seconds()?;
    let outcome = call.run(desk, Limit::time(time)).await?;
    let cpu = desk.cpu_seconds()? - before;
    Ok(cpu / outcome.calls() as f64 * 10_000.0)
}

pub async fn measure(
    places: &Places,
    core: Option<&str>,
    rounds: usize,
    time: Duration,
    goals: &mut Goals,
) -> Result<()> {
    let data = places.fresh()?;
    desk::configure(data.path())?;
    let desk = Desk::start(places, data, core).await?;
    let room = json!({ "roomName": ROOM, "agentName": "agent" });
    desk.call("rooms", "create_room", &room).await?;
    let mut browsers = Vec::new();
    for _ in 0..BROWSERS {
        browsers.push(Browser::sign_in(&desk).await?);
    }
    let mut table = Table::new("calls | ten browsers show | CPU s / 10,000, none open | ten open");
    for (call, views) in [
        (Call::Read, Views::Mixed),
        (Call::Read, Views::Overview),
        (Call::Write, Views::Mixed),
        (Call::Write, Views::Room),
    ] {
        call.run(&desk, Limit::time(WARM_UP)).await?;
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            without.push(turn(&desk, call, time).await?);
            let open = OpenConsoles::open(&browsers, &views.paths()).await?;
            with.push(turn(&desk, call, time).await?);
            open.close().await?;
            eprintln!("{}: round {} of {rounds}", call.name(), round + 1);
        }
        table.row(&[
            call.name().to_owned(),
            views.name().to_owned(),
            number(median(without.iter().copied())),
            number(median(with.iter().copied())),
        ]);
        let pairs = with.iter().zip(&without);
        let ratios: Vec<f64> = pairs.map(|(with, without)| with / without).collect();
        let met = median(ratios.iter().copied()) <= GOAL;
        let goal = format!(
            "{}, {}: at most {GOAL} × the CPU",
            call.name(),
            views.name()
        );
        goals.add(&goal, spread(&ratios), met);
    }
    table.print("The console open in ten browsers");
    desk.stop()
}
