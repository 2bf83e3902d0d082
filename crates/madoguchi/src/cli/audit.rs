//! `madoguchi audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct AuditArgs {
    #[command(subcommand)]
    pub action: AuditAction,
}

#[derive(Debug, Subcommand)]
pub enum AuditAction {
    /// Show the last records
    Tail(AuditTail),
    /// Write all records in order of time, one JSON object on each line
    Export(AuditExport),
    /// Check the hash chain of every segment; names the first broken link
    Verify(AuditVerify),
    /// Print the head of the trail, to be stored elsewhere: it reveals whether records
    /// before it were removed or changed later
    Head(AuditHead),
    /// Erase recorded arguments; the records stay and still verify
    Erase(AuditErase),
}

#[derive(Debug, Args)]
pub struct AuditTail {
    /// How many records
    #[arg(short = 'n', long, default_value_t = 20)]
    pub lines: usize,
    /// Keep showing new records
    #[arg(short, long)]
    pub follow: bool,
    /// Only calls of this key, by id or name
    #[arg(long)]
    pub caller: Option<String>,
    #[arg(long)]
    pub counter: Option<String>,
    /// Only tools whose name or title contains this
    #[arg(long)]
    pub tool: Option<String>,
    /// done, refused, failed, asked, abandoned, or an error code
    #[arg(long)]
    pub outcome: Option<String>,
    /// Only since then: 2026-11-15T08:00:00Z, 2026-11-15, or 2h ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Also show what people wrote
    #[arg(long)]
    pub personal: bool,
    /// Print one JSON object on each line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AuditVerify {
    /// Also check that the trail still contains what this file names: heads from `audit head` or `ship_to`
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// The public key of the installation that signed the heads; without it, that of this installation
    #[arg(long, value_name = "FILE", requires = "against")]
    pub key: Option<PathBuf>,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AuditHead {
    /// Sign it with the key of this installation, and print it as one line of JSON
    #[arg(long)]
    pub sign: bool,
    /// Print the public key that checks the signatures, as a JSON Web Key
    #[arg(long, conflicts_with = "sign")]
    pub public_key: bool,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AuditExport {
    /// Only since then: 2026-11-15T08:00:00Z, 2026-11-15, or 2h ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only before then
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also export what people wrote. It can't be erased from a copy
    #[arg(long)]
    pub personal: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(true).args(["call", "caller", "since", "until"]))]
pub struct AuditErase {
    /// Arguments of this call, by its id
    #[arg(long, value_name = "ID")]
    pub call: Option<String>,
    /// Arguments of this key's calls, by id or name
    #[arg(long)]
    pub caller: Option<String>,
    /// Only since then: 2026-11-15T08:00:00Z, 2026-11-15, or 2h ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only before then
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    #[arg(long)]
    pub json: bool,
}
