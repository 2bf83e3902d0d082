//! `madoguchi rooms names`: which key holds which agent's name, and what a
//! person does about it.

use std::process::ExitCode;

use desk::keys;
use kit::{Error, Result, text::visible};
use rooms::{HeldName, HeldNames, KeyRef};

use super::{
    on_one_thread,
    output::{pretty, print, table},
};
use crate::{
    cli::{Global, NamesAction, Offer, RoomsAction},
    config::Config,
    counters, open,
};

pub fn run(global: &Global, action: &RoomsAction) -> Result<ExitCode> {
    let config = open::configuration(global, &Offer::default())?;
    let settings = config.counters.get("rooms").cloned().unwrap_or_default();
    let names = HeldNames::new(counters::typed("rooms", settings)?);
    let RoomsAction::Names { json, action } = action;
    let Some(action) = action else {
        let held = names.list()?;
        return match json {
            true => print(&pretty(&held)),
            false => print(&shown(&held)),
        };
    };
    let (held, json, said) = match action {
        NamesAction::Release { name, json } => {
            let held = names.release(name)?;
            let said = format!(
                "The name {} is free. The next key that uses it gets it.",
                held.name
            );
            (held, json, said)
        }
        NamesAction::Share { name, key, json } => {
            let key = find_key(global, &config, key)?;
            let held = names.share(name, &key)?;
            let said = format!("The key {} may use the name {} too.", key.name, held.name);
            (held, json, said)
        }
        NamesAction::Unshare { name, key, json } => {
            let held = names.unshare(name, key)?;
            let said = format!("The key {key} may not use the name {} any more.", held.name);
            (held, json, said)
        }
    };
    match json {
        true => print(&pretty(&held)),
        false => print(&said),
    }
}

/// A key of the configuration by its name, or one that was made, by id or name.
fn find_key(global: &Global, config: &Config, wanted: &str) -> Result<KeyRef> {
    let mut configured = config.settings.identity.keys.iter();
    if let Some(key) = configured.find(|key| key.name == wanted) {
        return Ok(KeyRef {
            id: key.name.clone(),
            name: key.name.clone(),
        });
    }
    on_one_thread(async {
        let own = open::own_rows(global, config);
        let made = keys::list(own.state().await?).await;
        own.close().await?;
        let made = made?.into_iter().filter(|key| key.revoked_at.is_none());
        let mut fitting = made.filter(|key| key.id == wanted || key.name == wanted);
        fitting.next().map_or_else(
            || Err(unknown_key()),
            |key| {
                Ok(KeyRef {
                    id: key.id,
                    name: key.name,
                })
            },
        )
    })
}

fn unknown_key() -> Error {
    Error::new("KEY_NOT_FOUND", "There is no key of that id or name.")
        .next("See what there is with: madoguchi keys list")
}

fn shown(held: &[HeldName]) -> String {
    if held.is_empty() {
        return "No key holds a name. A key gets the names under which it enters rooms.".into();
    }
    let key = |key: &KeyRef| match key.id == key.name {
        true => key.name.clone(),
        false => format!("{} ({})", key.name, key.id),
    };
    let rows = held.iter().map(|held| {
        let shared: Vec<String> = held.shared_with.iter().map(key).collect();
        [
            visible(&held.name),
            key(&held.key),
            shared.join(", "),
            held.since.clone(),
        ]
    });
    table(["name", "key", "shared with", "since"], rows)
}
