//! `madoguchi backup`, `restore` and `move`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct Backup {
    /// The file to write, such as madoguchi-backup.tar
    pub file: PathBuf,
    /// Leave the desk's secret out. Without it the API keys in the backup don't work
    #[arg(long)]
    pub without_secret: bool,
    /// Replace the file if it exists
    #[arg(long)]
    pub overwrite: bool,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Restore {
    /// A file that `madoguchi backup` wrote
    #[arg(required_unless_present = "release")]
    pub file: Option<PathBuf>,
    /// Only check the file: its checksums, its database and its audit trail
    #[arg(long)]
    pub verify: bool,
    /// Send the messages and reminders that were held since a restore
    #[arg(long, conflicts_with_all = ["file", "verify"])]
    pub release: bool,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Move {
    /// An empty PostgreSQL database, postgres://user@host/name; or for data that is on
    /// PostgreSQL, an empty data directory
    #[arg(long, value_name = "URL|DIR", required_unless_present = "undo")]
    pub to: Option<String>,
    /// Move only the files of this counter
    #[arg(long, value_name = "COUNTER", value_parser = ["rooms"])]
    pub only: Option<String>,
    /// Use data again that was moved away, without what changed at the other place since
    #[arg(long, conflicts_with_all = ["to", "only"])]
    pub undo: bool,
    #[arg(long)]
    pub json: bool,
}
