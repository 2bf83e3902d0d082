//! The servers that are called over HTTP: the program, and the same tool with FastMCP.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::Result;
use bench::{
    contestants::Contestant,
    http::Connection,
    places::Places,
    server::{Running, Server, free_port},
    wire::Target,
};

use crate::cinema_on_disk;

const PATIENCE: Duration = Duration::from_secs(60);

pub enum BookingServer {
    Madoguchi(Server),
    FastMcp { running: Running, port: u16 },
}

impl BookingServer {
    pub async fn madoguchi(places: &Places, data: &Path) -> Result<Self> {
        let server = Server::start_on(Contestant::Cinema, places, data, None).await?;
        Ok(Self::Madoguchi(server))
    }

    pub async fn fastmcp(places: &Places, data: &Path) -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(&places.python);
        command.arg("others/fastmcp-cinema/server.py");
        command
            .arg(port.to_string())
            .arg(cinema_on_disk::file(data));
        let log = places.logs.join("fastmcp-cinema.log");
        let mut running = Running::spawn(command, &log)?;
        let started = Instant::now();
        while let Err(error) = Connection::open(port).await {
            if running.is_gone()? || started.elapsed() > PATIENCE {
                let log = log.display();
                return Err(error.context(format!("FastMCP does not answer; see {log}")));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(Self::FastMcp { running, port })
    }

    pub fn target(&self, tool: &'static str) -> Target {
        match self {
            Self::Madoguchi(server) => Target::new(server.target.port, "/mcp/cinema", tool),
            Self::FastMcp { port, .. } => Target::new(*port, "/mcp", tool),
        }
    }

    pub fn stop(self) -> Result<()> {
        match self {
            Self::Madoguchi(server) => server.stop(),
            Self::FastMcp { running, .. } => running.stop(),
        }
    }
}
