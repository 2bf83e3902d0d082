//! What the command line accepts. `cli/counters.rs` adds what the list of
//! counters defines.

mod approvals;
mod audit;
mod backup;
mod counters;
mod install;
mod keys;
mod policies;

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use desk::settings::Level;

pub use approvals::{ApprovalsAction, ApprovalsArgs};
pub use audit::{
    AuditAction, AuditArgs, AuditErase, AuditExport, AuditHead, AuditTail, AuditVerify,
};
pub use backup::{Backup, Move, Restore};
pub use counters::{CounterCommand, CounterFlags, OwnPorts};
pub use install::{Install, Scope, Uninstall};
pub use keys::{CreateKey, Keys, KeysAction};
pub use policies::{PoliciesAction, PoliciesArgs, Stricter};

/// One program in which AI agents get real work done over MCP.
#[derive(Debug, Parser)]
#[command(name = "madoguchi", version = env!("MADOGUCHI_VERSION"), arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Reports a command line that is not valid and ends the program. Adds a suggestion
/// for a misspelt flag if clap has none.
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
    let words: Vec<_> = std::env::args_os().collect();
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
    /// Configuration file [default: ./madoguchi.toml if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Data directory [default: the platform's own]
    #[arg(long, global = true, value_name = "DIR", env = "MADOGUCHI_DATA")]
    pub data: Option<PathBuf>,
    /// Log level: error, warn, info, debug or trace
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
    /// List the tools, with --json including their schemas
    Tools(ToolsArgs),
    /// Call one tool
    Call(Call),
    /// Create, list, rotate and revoke API keys
    Keys(Keys),
    /// Approve or deny calls that wait for you; manage standing grants
    Approvals(ApprovalsArgs),
    /// List which tools are allowed, asked about first or denied; make one stricter
    Policies(PoliciesArgs),
    /// Import your own data from a file
    Import(Import),
    /// Write a counter's data to files that `import` reads
    Export(Export),
    /// Load or remove the sample data; a tour of the counters
    Demo(Demo),
    /// Add counters to an MCP client: Claude Code, Cursor, VS Code, Codex and others
    Install(Install),
    /// Remove from an MCP client what `install` added
    Uninstall(Uninstall),
    /// Show, export, verify and erase the audit trail
    Audit(AuditArgs),
    /// Write everything to one file, also while a desk runs
    Backup(Backup),
    /// Restore a backup into an empty data directory, or check one
    Restore(Restore),
    /// Move all data to PostgreSQL, or from there into a data directory
    Move(Move),
    /// Print the default configuration, check yours, or print its JSON Schema
    Config(ConfigArgs),
    /// Check the configuration, the data, the ports and the servers it needs
    Doctor(Doctor),
    /// Ask the running desk whether it is ready; fails if it is not
    Healthcheck(Healthcheck),
    #[command(flatten)]
    OfCounter(CounterCommand),
    /// Print completions for a shell
    Completions { shell: clap_complete::Shell },
    /// Write manual pages, completions and a description of the counters
    #[command(hide = true)]
    PackageFiles { directory: PathBuf },
}

// Which counters and tools are served, and the counters' own flags. A doc comment
// here would become the help of every command that has these options.
#[derive(Debug, Clone, Default, Args)]
pub struct CounterOptions {
    /// Hide and refuse every tool that changes something
    #[arg(long)]
    pub read_only: bool,
    /// Offer only these tools
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub tools: Vec<String>,
    /// Do not offer these tools
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub exclude_tools: Vec<String>,
    #[command(flatten)]
    pub flags: CounterFlags,
    /// Also serve the counter for tests and the conformance suite
    #[cfg_attr(feature = "fixture", arg(long, hide = true))]
    #[cfg_attr(not(feature = "fixture"), arg(skip))]
    pub fixture: bool,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Main port; 0 switches it off [default: 8010]
    #[arg(long)]
    pub port: Option<u16>,
    #[command(flatten)]
    pub own_ports: OwnPorts,
    #[command(flatten)]
    pub options: CounterOptions,
}

#[derive(Debug, Args)]
pub struct Stdio {
    pub counter: String,
    #[command(flatten)]
    pub options: CounterOptions,
}

#[derive(Debug, Args)]
pub struct ToolsArgs {
    pub counter: Option<String>,
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub options: CounterOptions,
}

#[derive(Debug, Args)]
pub struct Call {
    pub counter: String,
    pub tool: String,
    /// Arguments, as a JSON object; `-` reads them from stdin
    #[arg(value_name = "JSON", default_value = "{}")]
    pub arguments: String,
    /// Call a running desk instead, such as http://127.0.0.1:8010 or https://desk.example.com
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Also trust the certificates in this PEM file
    #[arg(long, value_name = "FILE", requires = "url")]
    pub ca: Option<PathBuf>,
    /// API key for that desk
    #[arg(long, env = "MADOGUCHI_KEY", hide_env_values = true, requires = "url")]
    pub key: Option<String>,
    /// Print the whole result instead of its structured content
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub options: CounterOptions,
}

#[derive(Debug, Args)]
pub struct Import {
    pub counter: String,
    #[arg(help = counters::import_help(), required_unless_present = "synonyms")]
    pub file: Option<PathBuf>,
    /// Words that mean the same, for searches of the merchant: a group on each line,
    /// separated by commas
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub synonyms: Option<PathBuf>,
    /// Import the valid rows of a file that also has invalid ones. For cinema; the other
    /// counters always do that
    #[arg(long)]
    pub skip_invalid: bool,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Export {
    pub counter: String,
    /// A directory, or with --format json a file whose name ends in .json
    #[arg(value_name = "DIR|FILE")]
    pub target: PathBuf,
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    pub format: ExportFormat,
    /// Replace files that exist
    #[arg(long)]
    pub overwrite: bool,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum ExportFormat {
    Json,
    Csv,
}

#[derive(Debug, Args)]
pub struct Demo {
    #[command(subcommand)]
    pub action: DemoAction,
}

#[derive(Debug, Subcommand)]
pub enum DemoAction {
    /// Load the sample data of a counter; data that is there stays
    Load {
        counter: String,
        #[arg(long)]
        json: bool,
    },
    /// Remove the sample data of a counter, and nothing else
    Remove {
        counter: String,
        #[arg(long)]
        json: bool,
    },
    /// Walk through one call of each counter, on data of its own
    Tour,
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
    Check {
        file: Option<PathBuf>,
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the file
    Schema,
}

#[derive(Debug, Args)]
pub struct Healthcheck {
    /// Its main port, if `serve` was given another than the configured one
    #[arg(long)]
    pub port: Option<u16>,
}

#[derive(Debug, Args)]
pub struct Doctor {
    #[arg(long)]
    pub json: bool,
}
