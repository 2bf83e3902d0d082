//! `madoguchi install` and `madoguchi uninstall`.

use clap::{Args, ValueEnum};

use super::counters::CounterFlags;

#[derive(Debug, Args)]
pub struct Install {
    /// claude-desktop, claude-code, cursor, vscode, windsurf, zed, codex, gemini-cli,
    /// lm-studio, goose or opencode [default: ask]
    pub client: Option<String>,
    /// What to add to it [default: ask]
    #[arg(value_name = "COUNTER")]
    pub counters: Vec<String>,
    /// Add it for you everywhere, or in the current directory's project only
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub scope: Scope,
    /// Print the entry and the name of the file; write nothing
    #[arg(long)]
    pub print: bool,
    /// Connect to a running desk, such as http://127.0.0.1:8010, instead of starting a
    /// server
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub url: Option<String>,
    /// Environment variable in which the client finds the API key for that desk
    #[arg(long, value_name = "NAME", requires = "url")]
    pub key_env: Option<String>,
    /// Command that starts this program [default: the path of this program]
    #[arg(long, value_name = "COMMAND")]
    pub command: Option<String>,
    /// Replace an entry of the same name that is not Madoguchi's
    #[arg(long)]
    pub force: bool,
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: CounterFlags,
}

#[derive(Debug, Args)]
pub struct Uninstall {
    /// The client, as `install` names it
    pub client: String,
    /// What to remove from it [default: everything that `install` added]
    #[arg(value_name = "COUNTER")]
    pub counters: Vec<String>,
    /// Where it was added
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub scope: Scope,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    User,
    Project,
}

impl Scope {
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}
