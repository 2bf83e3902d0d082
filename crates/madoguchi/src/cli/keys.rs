//! `madoguchi keys`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct Keys {
    #[command(subcommand)]
    pub action: KeysAction,
}

#[derive(Debug, Subcommand)]
pub enum KeysAction {
    /// Create a key; its secret is shown only once
    Create(CreateKey),
    /// List the valid keys
    List {
        /// Also list expired and revoked keys
        #[arg(long)]
        all: bool,
        #[arg(long)]
        json: bool,
    },
    /// Give a key a new secret; its name and scope stay
    Rotate {
        /// The key's id or name
        key: String,
        /// How long the old secret stays valid, such as 1h
        #[arg(long, value_name = "TIME")]
        grace: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key at once and for good
    Revoke {
        /// The key's id or name
        key: String,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct CreateKey {
    /// Who will use it
    pub name: String,
    /// Counters it may use [default: all]
    #[arg(
        long,
        visible_alias = "counter",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub counters: Vec<String>,
    /// Tools it may use [default: all except those that a key must name]
    #[arg(
        long,
        visible_alias = "tool",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub tools: Vec<String>,
    /// Allow only tools that change nothing
    #[arg(long)]
    pub read_only: bool,
    /// Create an address at which a program without a key can read this one file,
    /// and nothing else
    #[arg(
        long,
        value_name = "COUNTER/FILE",
        conflicts_with_all = ["counters", "tools", "read_only", "trust_client_prompts"]
    )]
    pub file: Option<String>,
    /// When it expires: 30d, 12h, a date or a full time [default: never]
    #[arg(long, visible_alias = "expires-in", value_name = "TIME")]
    pub expires: Option<String>,
    /// Accept approvals from its client's own prompt
    #[arg(long)]
    pub trust_client_prompts: bool,
    #[arg(long)]
    pub json: bool,
}
