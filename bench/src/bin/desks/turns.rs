//! One turn: fresh data, so many desks on it, and callers who share them evenly.

use std::{
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use bench::{
    http::Connection,
    load::{self, Limit, Outcome},
    places::Places,
    server::{Running, free_port},
    wire::Target,
};
use tokio::task::JoinSet;

use crate::{
    cinema::{self, Call, Share},
    postgres::Postgres,
};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Installation {
    Sqlite,
    Postgres { desks: usize },
}

impl Installation {
    pub fn name(self) -> String {
        match self {
            Self::Sqlite => "one desk on SQLite".to_owned(),
            Self::Postgres { desks: 1 } => "one desk on PostgreSQL".to_owned(),
            Self::Postgres { desks } => format!("{desks} desks on PostgreSQL"),
        }
    }

    fn desks(self) -> usize {
        match self {
            Self::Sqlite => 1,
            Self::Postgres { desks } => desks,
        }
    }
}

pub async fn take(
    places: &Places,
    postgres: &Postgres,
    installation: Installation,
    call: Call,
    callers: usize,
    time: Duration,
) -> Result<Outcome> {
    let directory = places.fresh()?;
    let url = match installation {
        Installation::Sqlite => None,
        Installation::Postgres { .. } => Some(postgres.create_database()?),
    };
    let file = directory.path().join("cinema.json");
    cinema::write(&file)?;
    let mut import = command(places, directory.path(), url.as_deref());
    let imported = import.args(["import", "cinema"]).arg(&file).output()?;
    let said = String::from_utf8_lossy(&imported.stderr).into_owned();
    ensure!(imported.status.success(), "import: {said}");
    let count = installation.desks();
    let mut desks = Vec::with_capacity(count);
    for number in 0..count {
        // Desks on several machines have a data directory each.
        let data = match installation {
            Installation::Sqlite => directory.path().to_owned(),
            Installation::Postgres { .. } => directory.path().join(format!("desk{number}")),
        };
        desks.push(Desk::start(places, &data, url.as_deref()).await?);
    }
    let mut turns = JoinSet::new();
    let began = Instant::now();
    for (part, desk) in desks.iter().enumerate() {
        let target = Target::new(desk.port, "/mcp/cinema", call.tool());
        let (part, of) = (part as u64, count as u64);
        let share = Arc::new(Share { call, part, of });
        let calls = match call {
            Call::Book => cinema::BOOKINGS / of,
            Call::ReadSeats => u64::MAX,
        };
        let limit = Limit { calls, time };
        turns.spawn(async move { load::run(&target, &share, callers / count, limit).await });
    }
    let mut parts = Vec::with_capacity(count);
    while let Some(part) = turns.join_next().await {
        parts.push(part??);
    }
    let outcome = Outcome::merge(parts, began.elapsed());
    ensure!(outcome.refused == 0, "{} were refused", outcome.refused);
    for desk in desks {
        desk.running.stop()?;
    }
    Ok(outcome)
}

pub fn command(places: &Places, data: &Path, url: Option<&str>) -> Command {
    let mut command = Command::new(&places.madoguchi);
    command.env("MADOGUCHI_DATA", data);
    command.envs(url.map(|url| ("MADOGUCHI_DATABASE__URL", url)));
    command
}

/// A running desk.
pub struct Desk {
    pub port: u16,
    pub running: Running,
}

impl Desk {
    pub async fn start(places: &Places, data: &Path, url: Option<&str>) -> Result<Self> {
        let port = free_port()?;
        let mut serve = command(places, data, url);
        serve.args(["serve", "--merchant-port", "0", "--innervoice-port", "0"]);
        serve.args(["--port", &port.to_string()]);
        let log = places.logs.join(format!("desk-{port}.log"));
        let mut running = Running::spawn(serve, &log)?;
        let started = Instant::now();
        while !is_ready(port).await {
            let log = log.display();
            ensure!(!running.is_gone()?, "the desk ended; see {log}");
            ensure!(started.elapsed() < PATIENCE, "not ready; see {log}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(Self { port, running })
    }
}

async fn is_ready(port: u16) -> bool {
    let Ok(mut connection) = Connection::open(port).await else {
        return false;
    };
    let request = format!("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    let answer = connection.ask(request.as_bytes()).await;
    answer.is_ok_and(|(status, _)| status == 200)
}
