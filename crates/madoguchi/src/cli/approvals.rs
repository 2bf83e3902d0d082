//! `madoguchi approvals`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct ApprovalsArgs {
    #[command(subcommand)]
    pub action: ApprovalsAction,
}

#[derive(Debug, Subcommand)]
pub enum ApprovalsAction {
    /// List pending approvals, then decided ones
    List {
        /// List only pending ones
        #[arg(long)]
        pending: bool,
        #[arg(long)]
        json: bool,
    },
    /// Approve a call, this time only
    Approve {
        id: String,
        /// Approve it from now on for this caller, tool and recipient
        #[arg(long)]
        always: bool,
        #[arg(long)]
        json: bool,
    },
    /// Deny a call
    Deny {
        id: String,
        /// Reason that the agent gets
        #[arg(long)]
        reason: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// List the standing grants
    Grants {
        #[arg(long)]
        json: bool,
    },
    /// Revoke a standing grant
    Revoke {
        id: String,
        #[arg(long)]
        json: bool,
    },
    /// Print a one-time link to the console of the desk that runs on this data
    Open {
        /// The desk's port [default: found by itself]
        #[arg(long)]
        port: Option<u16>,
        #[arg(long)]
        json: bool,
    },
}
