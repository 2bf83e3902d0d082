//! `madoguchi rooms names`: shows which key holds which agent's name, and lets a
//! person release or share a name.

use std::process::ExitCode;

use clap::{ArgMatches, Command, FromArgMatches, Subcommand};
use kit::{Error, Result};
use rooms::{HeldName, HeldNames, KeyRef};

use super::registration::{CommandContext, LocalBoxFuture, OwnCommand, typed};
use crate::{
    locale,
    output::{Cell, Look, Styled, pretty, print, table},
};

pub const COMMAND: OwnCommand = OwnCommand { define, run };

#[derive(Subcommand)]
enum Action {
    /// List which key holds which agent's name; release or share a name
    #[command(args_conflicts_with_subcommands = true)]
    Names {
        #[arg(long)]
        json: bool,
        #[command(subcommand)]
        action: Option<NamesAction>,
    },
}

#[derive(Subcommand)]
enum NamesAction {
    /// Release a name: the next key that uses it gets it
    Release {
        name: String,
        #[arg(long)]
        json: bool,
    },
    /// Let another key use a name too
    Share {
        name: String,
        /// The key's id or name
        key: String,
        #[arg(long)]
        json: bool,
    },
    /// Stop sharing a name with a key
    Unshare {
        name: String,
        /// The key's id or name
        key: String,
        #[arg(long)]
        json: bool,
    },
}

fn define(command: Command) -> Command {
    let command = command
        .about("Names of agents in rooms, and the keys that hold them")
        .subcommand_required(true)
        .arg_required_else_help(true);
    Action::augment_subcommands(command)
}

fn run<'a>(
    context: &'a CommandContext<'a>,
    matches: &'a ArgMatches,
) -> LocalBoxFuture<'a, Result<ExitCode>> {
    Box::pin(names(context, matches))
}

async fn names(context: &CommandContext<'_>, matches: &ArgMatches) -> Result<ExitCode> {
    let Action::Names { json, action } =
        Action::from_arg_matches(matches).map_err(Error::internal)?;
    let settings = typed("rooms", context.settings.clone())?;
    let names = HeldNames::new(&settings, context.store.clone());
    let Some(action) = action else {
        let held = names.list().await?;
        return match json {
            true => print(&pretty(&held)),
            false => list(&held).print(),
        };
    };
    let (held, json, message) = match action {
        NamesAction::Release { name, json } => {
            let held = names.release(&name).await?;
            let message = format!(
                "The name {} is free. The next key that uses it gets it.",
                held.name
            );
            (held, json, message)
        }
        NamesAction::Share { name, key, json } => {
            let (id, key) = (context.find_key)(key).await?;
            let shared = KeyRef {
                id,
                name: key.clone(),
            };
            let held = names.share(&name, &shared).await?;
            let message = format!("The key {key} may now use the name {} too.", held.name);
            (held, json, message)
        }
        NamesAction::Unshare { name, key, json } => {
            let held = names.unshare(&name, &key).await?;
            let message = format!("The key {key} may no longer use the name {}.", held.name);
            (held, json, message)
        }
    };
    match json {
        true => print(&pretty(&held)),
        false => print(&message),
    }
}

fn list(held: &[HeldName]) -> Styled {
    if held.is_empty() {
        return "No key holds a name. A key gets the names under which it enters rooms.".into();
    }
    let key = |key: &KeyRef| match key.id == key.name {
        true => key.name.clone(),
        false => format!("{} ({})", key.name, key.id),
    };
    let rows = held.iter().map(|held| {
        let shared: Vec<String> = held.shared_with.iter().map(key).collect();
        let since = kit::time::instant(&held.since).map(locale::written);
        [
            Cell::new(Look::Bold, &held.name),
            key(&held.key).into(),
            shared.join(", ").into(),
            since.map_or_else(|| held.since.as_str().into(), Cell::from),
        ]
    });
    table(["name", "key", "shared with", "since"], rows)
}
