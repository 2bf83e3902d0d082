//! `madoguchi policies`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct PoliciesArgs {
    #[command(subcommand)]
    pub action: PoliciesAction,
}

#[derive(Debug, Subcommand)]
pub enum PoliciesAction {
    /// List the policy of every tool, and where it comes from
    List {
        #[arg(long)]
        json: bool,
    },
    /// Make the policy of a tool stricter than the configuration does
    Tighten {
        /// Such as cinema.reserve_seats
        #[arg(value_name = "COUNTER.TOOL")]
        tool: String,
        policy: Stricter,
        #[arg(long)]
        json: bool,
    },
    /// Go back to what the configuration says
    Relax {
        /// Such as cinema.reserve_seats
        #[arg(value_name = "COUNTER.TOOL")]
        tool: String,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Stricter {
    Ask,
    Deny,
}
