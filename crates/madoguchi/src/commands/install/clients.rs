//! The table of clients: where each keeps its servers and how it writes an entry.
//! `docs/clients.md` names the documentation that each line follows.

use serde_json::Value;

use super::{
    entries::{self, Key, Remote, Stdio},
    format::{Entry, Format},
    paths::{Base, Place, Surroundings},
};
use crate::{cli::Scope, descriptions::known};
use kit::Result;

pub struct Client {
    pub name: &'static str,
    pub title: &'static str,
    pub format: Format,
    /// The keys that lead to the servers.
    pub servers: &'static [&'static str],
    /// In place of `servers` in a file that has these.
    pub newer_servers: Option<&'static [&'static str]>,
    /// Comes before the counter's name, for clients with servers of their own of the
    /// same name.
    pub prefix: &'static str,
    pub user: Place,
    pub project: Option<Place>,
    pub user_start: Start,
    pub project_start: Start,
    pub stdio: fn(&Stdio) -> Entry,
    pub remote: Option<fn(&Remote) -> Entry>,
    /// How it reads a key from the environment.
    pub key: Key,
    /// Its program, if it has one that is usually in `PATH`.
    pub program: Option<&'static str>,
    /// Exists where the client is installed or was used.
    pub trace: Place,
    /// What the person does next.
    pub next: &'static str,
    /// What the person does next about the servers of a project.
    pub next_in_project: Option<&'static str>,
    /// How the names begin that it gives itself when it connects, in lower case without
    /// signs.
    pub calls_itself: &'static [&'static str],
}

/// Where a client starts its servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// In the project that is open.
    InProject,
    /// Anywhere, but it replaces this with the project's directory.
    Variable(&'static str),
    /// Not in the project, or not documented.
    Elsewhere,
}

const MCP_SERVERS: &[&str] = &["mcpServers"];
const WORKSPACE: Start = Start::Variable("${workspaceFolder}");

/// Most clients: `mcpServers` in a JSON file, for the user alone.
const USUAL: Client = Client {
    name: "",
    title: "",
    format: Format::Json,
    servers: MCP_SERVERS,
    newer_servers: None,
    prefix: "",
    user: Place::new(Base::Home(None), &[]),
    project: None,
    user_start: Start::Elsewhere,
    project_start: Start::InProject,
    stdio: entries::plain,
    remote: None,
    key: Key::Unsupported,
    program: None,
    trace: Place::new(Base::Home(None), &[]),
    next: "",
    next_in_project: None,
    calls_itself: &[],
};

pub const CLIENTS: &[Client] = &[
    Client {
        name: "claude-desktop",
        calls_itself: &["claudeai", "claudedesktop"],
        title: "Claude Desktop",
        user: Place::new(Base::Application, &["Claude/claude_desktop_config.json"]),
        trace: Place::new(Base::Application, &["Claude"]),
        next: "Quit Claude Desktop and start it again.",
        ..USUAL
    },
    Client {
        name: "claude-code",
        calls_itself: &["claudecode"],
        title: "Claude Code",
        user: Place::new(Base::Home(Some("CLAUDE_CONFIG_DIR")), &[".claude.json"]),
        project: Some(Place::new(Base::Project, &[".mcp.json"])),
        user_start: Start::InProject,
        stdio: entries::with_type,
        remote: Some(entries::http),
        key: Key::Header("Bearer ${NAME}"),
        program: Some("claude"),
        trace: Place::new(Base::Home(Some("CLAUDE_CONFIG_DIR")), &[".claude.json"]),
        next: "Start a new session of Claude Code; `claude mcp list` shows it.",
        next_in_project: Some(
            "Claude Code asks once whether it may use the servers of this project.",
        ),
        ..USUAL
    },
    Client {
        name: "cursor",
        calls_itself: &["cursor"],
        title: "Cursor",
        user: Place::new(Base::Home(None), &[".cursor/mcp.json"]),
        project: Some(Place::new(Base::Project, &[".cursor/mcp.json"])),
        project_start: WORKSPACE,
        stdio: entries::with_type,
        remote: Some(entries::url),
        key: Key::Header("Bearer ${env:NAME}"),
        program: Some("cursor"),
        trace: Place::new(Base::Home(None), &[".cursor"]),
        next: "Switch it on in Cursor's settings, under MCP.",
        ..USUAL
    },
    Client {
        name: "vscode",
        calls_itself: &["visualstudiocode", "vscode"],
        title: "VS Code",
        servers: &["servers"],
        user: Place::new(Base::Application, &["Code/User/mcp.json"]),
        project: Some(Place::new(Base::Project, &[".vscode/mcp.json"])),
        user_start: WORKSPACE,
        project_start: WORKSPACE,
        stdio: entries::with_type,
        remote: Some(entries::http),
        key: Key::Header("Bearer ${env:NAME}"),
        program: Some("code"),
        trace: Place::new(Base::Application, &["Code"]),
        next: "Start it in VS Code with the command `MCP: List Servers`.",
        ..USUAL
    },
    Client {
        name: "windsurf",
        calls_itself: &["windsurf"],
        title: "Windsurf",
        user: Place::new(Base::Home(None), &[".codeium/windsurf/mcp_config.json"]),
        remote: Some(entries::server_url),
        key: Key::Header("Bearer ${env:NAME}"),
        program: Some("windsurf"),
        trace: Place::new(Base::Home(None), &[".codeium/windsurf"]),
        next: "Press the refresh button of Windsurf's MCP panel.",
        ..USUAL
    },
    Client {
        name: "zed",
        calls_itself: &["zed"],
        title: "Zed",
        servers: &["context_servers"],
        user: Place {
            files_on_windows: Some(&["Zed/settings.json"]),
            ..Place::new(Base::Config, &["zed/settings.json"])
        },
        project: Some(Place::new(Base::Project, &[".zed/settings.json"])),
        user_start: Start::InProject,
        remote: Some(entries::url),
        program: Some("zed"),
        trace: Place {
            files_on_windows: Some(&["Zed"]),
            ..Place::new(Base::Config, &["zed"])
        },
        next: "Zed's settings show it under AI, MCP Servers.",
        ..USUAL
    },
    Client {
        name: "codex",
        calls_itself: &["codex"],
        title: "Codex",
        format: Format::Toml,
        servers: &["mcp_servers"],
        user: Place::new(Base::InHome(".codex", "CODEX_HOME"), &["config.toml"]),
        project: Some(Place::new(Base::Project, &[".codex/config.toml"])),
        user_start: Start::InProject,
        remote: Some(entries::url),
        key: Key::Field("bearer_token_env_var"),
        program: Some("codex"),
        trace: Place::new(Base::InHome(".codex", "CODEX_HOME"), &[""]),
        next: "Start a new session of Codex; `codex mcp list` shows it.",
        next_in_project: Some("Codex reads this file once you trust the project."),
        ..USUAL
    },
    Client {
        name: "gemini-cli",
        calls_itself: &["gemini"],
        title: "Gemini CLI",
        user: Place::new(
            Base::Home(Some("GEMINI_CLI_HOME")),
            &[".gemini/settings.json"],
        ),
        project: Some(Place::new(Base::Project, &[".gemini/settings.json"])),
        user_start: Start::InProject,
        remote: Some(entries::http_url),
        key: Key::Header("Bearer ${NAME}"),
        program: Some("gemini"),
        trace: Place::new(Base::Home(Some("GEMINI_CLI_HOME")), &[".gemini"]),
        next: "Start Gemini CLI again; `gemini mcp list` shows it.",
        next_in_project: Some("Gemini CLI reads this file once you trust the folder."),
        ..USUAL
    },
    Client {
        name: "lm-studio",
        calls_itself: &["lmstudio"],
        title: "LM Studio",
        user: Place::new(Base::Home(None), &[".lmstudio/mcp.json"]),
        remote: Some(entries::url),
        trace: Place::new(Base::Home(None), &[".lmstudio"]),
        next: "Switch it on in LM Studio, in the Program tab.",
        ..USUAL
    },
    Client {
        name: "goose",
        calls_itself: &["goose"],
        title: "goose",
        format: Format::Yaml,
        servers: &["extensions"],
        // goose has an extension `todo` of its own.
        prefix: "madoguchi-",
        user: Place {
            files_on_windows: Some(&["Block/goose/config/config.yaml"]),
            ..Place::new(Base::Config, &["goose/config.yaml"])
        },
        user_start: Start::InProject,
        stdio: entries::goose,
        remote: Some(entries::goose_remote),
        key: Key::Header("Bearer ${NAME}"),
        program: Some("goose"),
        trace: Place {
            files_on_windows: Some(&["Block/goose"]),
            ..Place::new(Base::Config, &["goose"])
        },
        next: "Start a new session of goose.",
        ..USUAL
    },
    Client {
        name: "opencode",
        calls_itself: &["opencode"],
        title: "opencode",
        servers: &["mcp"],
        newer_servers: Some(&["mcp", "servers"]),
        user: Place::new(
            Base::InConfig("opencode"),
            &["opencode.json", "opencode.jsonc"],
        ),
        project: Some(Place::new(
            Base::Project,
            &["opencode.json", "opencode.jsonc"],
        )),
        user_start: Start::InProject,
        stdio: entries::opencode,
        remote: Some(entries::opencode_remote),
        key: Key::Header("Bearer {env:NAME}"),
        program: Some("opencode"),
        trace: Place::new(Base::InConfig("opencode"), &[""]),
        next: "Start opencode again; `opencode mcp list` shows it.",
        ..USUAL
    },
];

pub fn find(name: &str) -> Result<&'static Client> {
    known("client", name, CLIENTS.iter().map(|client| client.name))?;
    let client = CLIENTS.iter().find(|client| client.name == name);
    client.ok_or_else(|| kit::Error::internal("a known client is missing"))
}

impl Client {
    pub fn place(&self, scope: Scope) -> Option<&Place> {
        match scope {
            Scope::User => Some(&self.user),
            Scope::Project => self.project.as_ref(),
        }
    }

    pub fn start(&self, scope: Scope) -> Start {
        match scope {
            Scope::User => self.user_start,
            Scope::Project => self.project_start,
        }
    }

    /// The keys that lead to the servers in this file.
    pub fn servers_in(&self, file: &Value) -> &'static [&'static str] {
        let newer = self.newer_servers.filter(|keys| {
            let servers = keys.iter().try_fold(file, |value, key| value.get(key));
            // A server of the older form has a type.
            servers.is_some_and(|servers| servers.is_object() && servers.get("type").is_none())
        });
        newer.unwrap_or(self.servers)
    }

    /// The name of a counter's entry.
    pub fn entry_name(&self, counter: &str) -> String {
        format!("{}{counter}", self.prefix)
    }

    pub fn is_present(&self, surroundings: &Surroundings) -> bool {
        self.trace.path(surroundings).exists()
            || self
                .program
                .is_some_and(|program| surroundings.has_program(program))
    }
}

#[cfg(test)]
mod tests;
