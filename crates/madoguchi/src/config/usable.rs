//! Whether a desk would start with a configuration, found out without opening
//! anything. `serve`, `config check` and `doctor` all ask here.

use std::sync::Arc;

use desk::{
    settings::{Identity, Listener, Settings},
    state::{DeskState, Secret},
    stations::identify::Keyring,
};
use kit::{Result, time::Clock};
use server::transport::{guard, listener, tls};

use super::{Config, invalid};
use crate::{
    cli::{Global, Offer},
    counters, open, ports,
};

pub fn usable(global: &Global, config: &Config) -> Result<()> {
    open::described(config, &Offer::default(), None)?;
    open::check_names(config)?;
    open::database_url(&config.settings.database.url, global.data.as_deref())?;
    tls::read(&config.settings.tls)?;
    let encrypted = config.settings.tls.is_set();
    for (section, listener) in listeners(config) {
        if listener.port != 0 {
            listener::checked_address(&listener, section, encrypted)?;
        }
        guard::check_names(&listener, section)?;
    }
    keys(config, &config.settings.identity)?;
    limits(&config.settings)
}

/// Every listener, with the section that configures it.
pub fn listeners(config: &Config) -> Vec<(&'static str, Listener)> {
    let counters = counters::all();
    let own = ports::configured(&counters).filter_map(|port| {
        let listener = config.listeners.get(port.counter)?;
        Some((port.section, listener.clone()))
    });
    std::iter::once(("http", config.settings.http.listener()))
        .chain(own)
        .collect()
}

fn keys(config: &Config, identity: &Identity) -> Result<()> {
    Keyring::new(
        identity,
        &[],
        &Arc::new(DeskState::none()),
        &Clock::system(),
    )?;
    if !identity.secret.is_empty() {
        Secret::of_text(&identity.secret)?;
    }
    if identity
        .keys
        .iter()
        .all(|key| key.counters.is_empty() && key.tools.is_empty())
    {
        return Ok(());
    }
    let offer = Offer {
        fixture: true,
        ..Offer::default()
    };
    let all = open::described(config, &offer, None)?;
    let counters = || all.iter().map(|counter| counter.about.name);
    for key in &identity.keys {
        for counter in &key.counters {
            open::known("counter", counter, counters())?;
        }
        for tool in &key.tools {
            open::known("tool", tool, all.iter().flat_map(open::tool_names))?;
        }
    }
    Ok(())
}

fn limits(settings: &Settings) -> Result<()> {
    let limits = &settings.limits.requests_per_minute;
    match limits.iter().find(|(_, limit)| **limit == 0) {
        None => Ok(()),
        Some((counter, _)) => Err(invalid(format!(
            "limits.requests_per_minute: {counter} = 0 would let nobody in."
        ))
        .next("Leave it out for no limit, or exclude its tools.")),
    }
}
