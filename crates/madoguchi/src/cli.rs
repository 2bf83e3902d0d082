//! What the command line understands.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use desk::settings::Level;

/// One program in which AI agents get real work done over MCP.
#[derive(Debug, Parser)]
#[command(name = "madoguchi", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Ends the program over a command line it does not understand. Where clap has
/// no suggestion for a misspelt flag, ours may.
pub fn refuse(error: clap::Error) -> ! {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    if error.kind() == ErrorKind::UnknownArgument
        && error.get(ContextKind::SuggestedArg).is_none()
        && let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg)
        && let Some(nearest) = nearest_flag(given.trim_start_matches('-'))
    {
        let _ = error.print();
        eprintln!("\n  tip: did you mean '--{nearest}'?");
        std::process::exit(2);
    }
    error.exit()
}

fn nearest_flag(given: &str) -> Option<String> {
    let mut command = Cli::command();
    command.build();
    let words: Vec<String> = std::env::args().collect();
    let mut here = &command;
    while let Some(inner) = here
        .get_subcommands()
        .find(|inner| words.iter().any(|word| word == inner.get_name()))
    {
        here = inner;
    }
    let flags: Vec<&str> = here
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .collect();
    kit::text::nearest(given, flags.iter().copied()).map(str::to_owned)
}

#[derive(Debug, Clone, Args)]
pub struct Global {
    /// The configuration file [default: ./madoguchi.toml when present]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory [default: the platform's own]
    #[arg(long, global = true, value_name = "DIR", env = "MADOGUCHI_DATA")]
    pub data: Option<PathBuf>,
    /// error, warn, info, debug or trace
    #[arg(long, global = true, value_name = "LEVEL", value_parser = level)]
    pub log_level: Option<Level>,
}

fn level(text: &str) -> Result<Level, String> {
    Level::parse(text).ok_or_else(|| {
        let names = ["error", "warn", "info", "debug", "trace"];
        match kit::text::nearest(text, names) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("use one of {}", names.join(", ")),
        }
    })
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve all counters over HTTP and WebSocket
    Serve(Serve),
    /// Serve one counter on stdin and stdout
    Stdio(Stdio),
    /// Show the tools with their schemas
    Tools(ToolsArgs),
    /// Call one tool
    Call(Call),
    /// API keys: who may call, and what
    Keys(Keys),
    /// What waits for your approval, and standing grants
    Approvals(ApprovalsArgs),
    /// Names of agents in rooms, and the keys that hold them
    Rooms(RoomsArgs),
    /// Bring in data of your own from a file
    Import(Import),
    /// Load or remove the sample data
    Demo(Demo),
    /// The trail of every call: look at it, export it, verify it, erase from it
    Audit(AuditArgs),
    /// The commented default file, a check of yours, or its JSON Schema
    Config(ConfigArgs),
    /// Say what is reachable and healthy
    Doctor(Doctor),
    /// Completions for a shell
    Completions { shell: clap_complete::Shell },
}

#[derive(Debug, Clone, Default, Args)]
pub struct Offer {
    /// Hide and refuse every tool that changes something
    #[arg(long)]
    pub read_only: bool,
    /// Offer these tools alone
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub tools: Vec<String>,
    /// Do not offer these tools
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub exclude_tools: Vec<String>,
    /// The project whose `.todo/` is served [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Also open the counter that the conformance suite talks to
    #[arg(long, hide = true)]
    pub fixture: bool,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// The main port; 0 switches it off [default: 8010]
    #[arg(long)]
    pub port: Option<u16>,
    /// The merchant counter's own port; 0 switches it off [default: 8011]
    #[arg(long, value_name = "PORT")]
    pub merchant_port: Option<u16>,
    /// The InnerVoice counter's own port; 0 switches it off [default: 7777]
    #[arg(long, value_name = "PORT")]
    pub innervoice_port: Option<u16>,
    /// The fixture counter's own port; off unless given
    #[arg(long, value_name = "PORT", hide = true, requires = "fixture")]
    pub fixture_port: Option<u16>,
    #[command(flatten)]
    pub offer: Offer,
}

impl Serve {
    /// The port given for a counter that has one of its own.
    pub fn own_port(&self, counter: &str) -> Option<u16> {
        match counter {
            "merchant" => self.merchant_port,
            "innervoice" => self.innervoice_port,
            "fixture" => self.fixture_port,
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
pub struct Stdio {
    pub counter: String,
    #[command(flatten)]
    pub offer: Offer,
}

#[derive(Debug, Args)]
pub struct ToolsArgs {
    pub counter: Option<String>,
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub offer: Offer,
}

#[derive(Debug, Args)]
pub struct Call {
    pub counter: String,
    pub tool: String,
    /// The arguments, as a JSON object; `-` reads them from stdin
    #[arg(value_name = "JSON", default_value = "{}")]
    pub arguments: String,
    /// Ask a running desk instead, such as http://127.0.0.1:8010 or https://desk.example.com
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Trust the certificates in this PEM file besides those the system trusts
    #[arg(long, value_name = "FILE", requires = "url")]
    pub ca: Option<PathBuf>,
    /// The key for that desk
    #[arg(long, env = "MADOGUCHI_KEY", hide_env_values = true, requires = "url")]
    pub key: Option<String>,
    /// Print the whole result instead of its structured content
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub offer: Offer,
}

#[derive(Debug, Args)]
pub struct Keys {
    #[command(subcommand)]
    pub action: KeysAction,
}

#[derive(Debug, Subcommand)]
pub enum KeysAction {
    /// Make a key; it is shown this once
    Create(CreateKey),
    /// Show the keys that are good
    List {
        /// Expired and revoked ones too
        #[arg(long)]
        all: bool,
        #[arg(long)]
        json: bool,
    },
    /// Give a key a new secret; its name and scope stay
    Rotate {
        /// Its id or name
        key: String,
        /// How long the old secret is still good, such as 1h
        #[arg(long, value_name = "TIME")]
        grace: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// Make a key useless, at once and for good
    Revoke {
        /// Its id or name
        key: String,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct CreateKey {
    /// Who will use it
    pub name: String,
    /// The counters it opens [default: all]
    #[arg(
        long,
        visible_alias = "counter",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub counters: Vec<String>,
    /// The tools it may use [default: all that need not be named]
    #[arg(
        long,
        visible_alias = "tool",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub tools: Vec<String>,
    /// Only tools that change nothing
    #[arg(long)]
    pub read_only: bool,
    /// Make an address at which a program without a key reads this file, and
    /// nothing else: innervoice/calendar.ics
    #[arg(
        long,
        value_name = "COUNTER/FILE",
        conflicts_with_all = ["counters", "tools", "read_only", "trust_client_prompts"]
    )]
    pub file: Option<String>,
    /// When it expires: 30d, 12h, a day or a full time [default: never]
    #[arg(long, visible_alias = "expires-in", value_name = "TIME")]
    pub expires: Option<String>,
    /// Let its client's own prompt answer for you
    #[arg(long)]
    pub trust_client_prompts: bool,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ApprovalsArgs {
    #[command(subcommand)]
    pub action: ApprovalsAction,
}

#[derive(Debug, Subcommand)]
pub enum ApprovalsAction {
    /// Show what waits, then what was decided
    List {
        /// Only what waits
        #[arg(long)]
        pending: bool,
        #[arg(long)]
        json: bool,
    },
    /// Allow a call, this time only
    Approve {
        id: String,
        /// From now on, for this caller, tool and recipient
        #[arg(long)]
        always: bool,
        #[arg(long)]
        json: bool,
    },
    /// Refuse a call
    Deny {
        id: String,
        /// What the agent is told
        #[arg(long)]
        reason: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// Show the standing grants
    Grants {
        #[arg(long)]
        json: bool,
    },
    /// Take a standing grant back
    Revoke { id: String },
    /// Print a link that opens the console in a browser, once
    Open {
        /// The port the desk was started with [default: as configured]
        #[arg(long)]
        port: Option<u16>,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct RoomsArgs {
    #[command(subcommand)]
    pub action: RoomsAction,
}

#[derive(Debug, Subcommand)]
pub enum RoomsAction {
    /// Show which key holds which agent's name, release one, or share one
    #[command(args_conflicts_with_subcommands = true)]
    Names {
        #[arg(long)]
        json: bool,
        #[command(subcommand)]
        action: Option<NamesAction>,
    },
}

#[derive(Debug, Subcommand)]
pub enum NamesAction {
    /// Make a name free: the next key that uses it gets it
    Release {
        name: String,
        #[arg(long)]
        json: bool,
    },
    /// Let another key use a name too
    Share {
        name: String,
        /// Its id or name
        key: String,
        #[arg(long)]
        json: bool,
    },
    /// Take a name back from a key that it was shared with
    Unshare {
        name: String,
        /// Its id or name
        key: String,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct Import {
    pub counter: String,
    /// Products for merchant: a JSON array, a JSON object on each line, or CSV with a header
    pub file: PathBuf,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Demo {
    #[command(subcommand)]
    pub action: DemoAction,
}

#[derive(Debug, Subcommand)]
pub enum DemoAction {
    /// Load it beside whatever is there
    Load { counter: String },
    /// Remove it, and nothing else
    Remove { counter: String },
}

#[derive(Debug, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Print the default file, with a comment for every key
    Default,
    /// Check a file and the environment
    Check { file: Option<PathBuf> },
    /// Print the JSON Schema of the file
    Schema,
}

#[derive(Debug, Args)]
pub struct Doctor {
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    #[command(subcommand)]
    pub action: AuditAction,
}

#[derive(Debug, Subcommand)]
pub enum AuditAction {
    /// Show the last records
    Tail(AuditTail),
    /// Write all records, by time, as a JSON object on each line
    Export(AuditExport),
    /// Check every segment; names the first broken link
    Verify {
        #[arg(long)]
        json: bool,
    },
    /// Erase what is kept of arguments; the records stay, and verify holds
    Erase(AuditErase),
}

#[derive(Debug, Args)]
pub struct AuditTail {
    /// How many
    #[arg(short = 'n', long, default_value_t = 20)]
    pub lines: usize,
    /// Go on showing what comes
    #[arg(short, long)]
    pub follow: bool,
    /// Only of this key, by id or name
    #[arg(long)]
    pub caller: Option<String>,
    #[arg(long)]
    pub counter: Option<String>,
    #[arg(long)]
    pub tool: Option<String>,
    /// done, refused, failed, abandoned, or the code of a refusal
    #[arg(long)]
    pub outcome: Option<String>,
    /// Only from then on: 2026-11-15T08:00:00Z, 2026-11-15, or 2h ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Also what people wrote
    #[arg(long)]
    pub personal: bool,
    /// A JSON object on each line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AuditExport {
    /// Only from then on: 2026-11-15T08:00:00Z, 2026-11-15, or 2h ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only before then
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Into this file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also what people wrote. It can't be erased from a copy
    #[arg(long)]
    pub personal: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(true).args(["call", "caller", "since", "until"]))]
pub struct AuditErase {
    /// Of this call, by its id
    #[arg(long, value_name = "ID")]
    pub call: Option<String>,
    /// Of this key's calls, by id or name
    #[arg(long)]
    pub caller: Option<String>,
    /// Only from then on: 2026-11-15T08:00:00Z, 2026-11-15, or 2h ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only before then
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    #[arg(long)]
    pub json: bool,
}
