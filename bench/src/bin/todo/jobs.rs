//! What is asked of whom: the same work, in each program's own words.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use bench::{places::Places, project::Projects};
use serde_json::{Value, json};

/// Tasks or decisions: a program takes part in one or both.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Job {
    MadoguchiTasks,
    Backlog,
    MadoguchiAdrs,
    Adrs,
}

use Job::{Adrs, Backlog, MadoguchiAdrs, MadoguchiTasks};

/// Each with whom it is held against.
pub const ALL: [(Job, Job); 4] = [
    (MadoguchiTasks, MadoguchiTasks),
    (Backlog, MadoguchiTasks),
    (MadoguchiAdrs, MadoguchiAdrs),
    (Adrs, MadoguchiAdrs),
];

/// A tool, its arguments, and what has to be in the answer.
pub struct Call {
    pub tool: &'static str,
    pub arguments: Value,
    pub expected: String,
}

fn call(tool: &'static str, arguments: Value, expected: impl Into<String>) -> Call {
    Call {
        tool,
        arguments,
        expected: expected.into(),
    }
}

impl Job {
    pub fn name(self) -> &'static str {
        match self {
            MadoguchiTasks => "madoguchi, tasks",
            Backlog => "Backlog.md 1.52.0",
            MadoguchiAdrs => "madoguchi, decisions",
            Adrs => "adrs 0.13.0",
        }
    }

    /// The slow ones have fewer turns.
    pub fn share(self, calls: usize) -> usize {
        match self {
            MadoguchiTasks | MadoguchiAdrs => calls,
            Adrs => calls.div_ceil(2),
            Backlog => calls.div_ceil(20),
        }
    }

    pub fn command(self, places: &Places, projects: &Projects) -> Result<Command> {
        let mut command = match self {
            MadoguchiTasks | MadoguchiAdrs => {
                let mut command = Command::new(places.madoguchi.canonicalize()?);
                let data = projects.madoguchi.join("data");
                command.args(["stdio", "todo", "--data"]).arg(data);
                command.current_dir(&projects.madoguchi);
                return Ok(command);
            }
            Backlog => Command::new(backlog_program()?),
            Adrs => Command::new(Path::new(".env/adrs/bin/adrs").canonicalize()?),
        };
        match self {
            Backlog => command
                .args(["mcp", "start"])
                .current_dir(&projects.backlog),
            _ => command.args(["mcp", "serve"]).current_dir(&projects.adrs),
        };
        Ok(command)
    }

    pub fn list(self) -> Call {
        match self {
            MadoguchiTasks => call("list_tasks", json!({}), "T001"),
            Backlog => call("task_list", json!({ "limit": 50 }), "TASK-"),
            MadoguchiAdrs => call("list_adrs", json!({}), "Decision 1"),
            Adrs => call("list_adrs", json!({}), "Decision 1"),
        }
    }

    pub fn create(self, number: usize) -> Call {
        let title = format!("Created {number}");
        let words = json!({
            "title": title, "context": "c", "decision": "d", "consequences": "x",
        });
        match self {
            MadoguchiTasks => {
                let arguments = json!({ "title": title, "description": "why" });
                call("create_task", arguments, "T999")
            }
            Backlog => {
                let arguments = json!({ "title": title, "description": "why" });
                call("task_create", arguments, title)
            }
            MadoguchiAdrs => {
                let mut arguments = words;
                arguments["rationale"] = "r".into();
                call("create_adr", arguments, "adr-999")
            }
            Adrs => call("create_adr", words, title),
        }
    }

    /// The file of what was just created, where it has to go so that the next
    /// one fits.
    pub fn take_away(self, projects: &Projects, created: &str) -> Result<()> {
        let root = match self {
            MadoguchiAdrs => &projects.madoguchi,
            _ => return Ok(()),
        };
        let answer: Value = serde_json::from_str(created)?;
        let file = answer["file_path"].as_str().context("file_path")?;
        Ok(std::fs::remove_file(root.join(file))?)
    }

    /// What else takes it away.
    pub fn delete(self) -> Option<Call> {
        match self {
            MadoguchiTasks => Some(call("delete_task", json!({ "task_id": "T999" }), "T999")),
            _ => None,
        }
    }

    pub fn update(self, number: usize) -> Call {
        let odd = number % 2 == 1;
        let id = 100 + number % 800;
        match self {
            MadoguchiTasks => {
                let status = if odd { "done" } else { "in_progress" };
                let arguments = json!({ "task_id": format!("T{id:03}"), "status": status });
                call("update_task", arguments, "updated")
            }
            Backlog => {
                let status = if odd { "Done" } else { "In Progress" };
                let arguments = json!({ "id": format!("task-{id}"), "status": status });
                call("task_edit", arguments, format!("TASK-{id}"))
            }
            MadoguchiAdrs => {
                let status = if odd { "Deprecated" } else { "Proposed" };
                let arguments = json!({ "adr_number": id, "status": status });
                call("update_adr_status", arguments, status)
            }
            Adrs => {
                let status = if odd { "deprecated" } else { "proposed" };
                let arguments = json!({ "number": id, "status": status });
                call("update_status", arguments, id.to_string())
            }
        }
    }

    /// One word that is in one text, asked for another one each time.
    pub fn find_one(self, number: usize) -> Call {
        let number = 1 + number * 7 % 900;
        let query = json!({ "query": format!("needle{number}x") });
        match self {
            MadoguchiTasks => call("search_contexts", query, "\"total_matches\":2"),
            Backlog => call("document_search", query, "Note"),
            MadoguchiAdrs => call("search", query, format!("Decision {number}")),
            Adrs => call("search_adrs", query, format!("Decision {number}")),
        }
    }
}

/// What madoguchi is asked beside that, over all 9,998 texts.
pub fn searches() -> [(&'static str, Call); 6] {
    let contexts =
        |query: &str, expected: &str| call("search_contexts", json!({ "query": query }), expected);
    [
        ("a word in one note", contexts("needle4711x", "4711")),
        ("Japanese, in one note", contexts("目印4711番", "4711")),
        ("two letters, in some", contexts("認証", "results")),
        ("two words, in most", contexts("verest conde", "results")),
        (
            "part of a word, in all",
            contexts("ver", "\"total_matches\":8998"),
        ),
        ("nowhere", contexts("絶対ない言葉", "\"total_matches\":0")),
    ]
}

/// The program itself, without the script that starts it.
fn backlog_program() -> Result<PathBuf> {
    let modules = Path::new(".env/backlog/node_modules");
    for entry in modules.read_dir()?.flatten() {
        let program = entry.path().join("backlog");
        let named = entry.file_name();
        if named.to_string_lossy().starts_with("backlog.md-") && program.exists() {
            return Ok(program.canonicalize()?);
        }
    }
    ensure!(false, "no program of Backlog.md for this system");
    Ok(PathBuf::new())
}
