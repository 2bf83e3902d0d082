//! Who takes part, and how each is started.

use std::{path::Path, process::Command};

use crate::places::Places;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contestant {
    Madoguchi,
    Bare,
    PlainRmcp,
    FastMcp,
    TypeScript,
    /// Madoguchi once more, reading from SQLite: for information.
    Cinema,
}

use Contestant::{Bare, Cinema, FastMcp, Madoguchi, PlainRmcp, TypeScript};

/// In the order in which each round calls them.
pub const ALL: [Contestant; 6] = [Madoguchi, Bare, PlainRmcp, FastMcp, TypeScript, Cinema];

impl Contestant {
    pub fn name(self) -> &'static str {
        match self {
            Madoguchi => "madoguchi",
            Bare => "bare axum, the same bytes",
            PlainRmcp => "plain rmcp 3.8",
            FastMcp => "FastMCP 4.1.4",
            TypeScript => "TypeScript SDK 2.4",
            Cinema => "madoguchi, get_movie_list from SQLite",
        }
    }

    /// The start of its log's name.
    pub fn slug(self) -> &'static str {
        match self {
            Madoguchi => "madoguchi",
            Bare => "bare",
            PlainRmcp => "plain_rmcp",
            FastMcp => "fastmcp",
            TypeScript => "typescript",
            Cinema => "cinema",
        }
    }

    pub fn path(self) -> &'static str {
        match self {
            Madoguchi => "/mcp/fixture",
            Cinema => "/mcp/cinema",
            _ => "/mcp",
        }
    }

    pub fn tool(self) -> &'static str {
        match self {
            Cinema => "get_movie_list",
            _ => "fixture_sum",
        }
    }

    /// Its HTTP server.
    pub fn serve(self, places: &Places, port: u16, data: &Path) -> Command {
        let port = port.to_string();
        let mut command = match self {
            Madoguchi | Cinema => {
                let mut command = Command::new(&places.madoguchi);
                command.args(["serve", "--fixture", "--data"]).arg(data);
                // Its default port has room for one of them.
                command.args(["--merchant-port", "0", "--innervoice-port", "0", "--port"]);
                command
            }
            Bare => Command::new(places.here.join("bare")),
            PlainRmcp => Command::new(places.here.join("plain_rmcp")),
            FastMcp => python(places),
            TypeScript => node(places),
        };
        command.arg(port);
        command
    }

    /// Its stdio server, if it takes part there.
    pub fn stdio(self, places: &Places, data: &Path) -> Option<Command> {
        let mut command = match self {
            Cinema => {
                let mut command = Command::new(&places.madoguchi);
                command.args(["stdio", "cinema", "--data"]).arg(data);
                return Some(command);
            }
            FastMcp => python(places),
            TypeScript => node(places),
            Madoguchi | Bare | PlainRmcp => return None,
        };
        command.arg("stdio");
        Some(command)
    }
}

fn python(places: &Places) -> Command {
    let mut command = Command::new(&places.python);
    command.arg(&places.fastmcp);
    command
}

fn node(places: &Places) -> Command {
    let mut command = Command::new("node");
    command
        .env("NODE_ENV", "production")
        .arg(&places.typescript);
    command
}
