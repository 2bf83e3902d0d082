//! Checks whether a desk would start with a configuration, without opening anything.
//! `serve`, `config check` and `doctor` use it.

use std::sync::Arc;

use desk::{
    settings::{Identity, Settings},
    state::{DeskState, Secret},
    stations::identify::Keyring,
};
use kit::{Result, time::Clock};
use server::transport::{guard, listener, proxies::Proxies, tls};

use crate::{
    cli::{CounterOptions, Global},
    config::{Config, invalid},
    descriptions::{check_names, described, known, tool_names},
    location::{database_options, database_url},
};

pub fn check(global: &Global, config: &Config) -> Result<()> {
    described(config, &CounterOptions::default(), None)?;
    check_names(config)?;
    database_url(&config.settings.database.url, global.data.as_deref())?;
    database_options(&config.settings.database, &Clock::system())?;
    tls::read(&config.settings.tls)?;
    let encrypted = config.settings.tls.is_set();
    for (section, listener) in config.listeners() {
        if listener.port != 0 {
            listener::checked_address(&listener, section, encrypted)?;
        }
        guard::check_names(&listener, section)?;
        Proxies::new(&listener, section)?;
    }
    keys(config, &config.settings.identity)?;
    limits(&config.settings)
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
    let options = CounterOptions {
        fixture: true,
        ..CounterOptions::default()
    };
    let all = described(config, &options, None)?;
    let counters = || all.iter().map(|counter| counter.about.name);
    for key in &identity.keys {
        for counter in &key.counters {
            known("counter", counter, counters())?;
        }
        for tool in &key.tools {
            known("tool", tool, all.iter().flat_map(tool_names))?;
        }
    }
    Ok(())
}

fn limits(settings: &Settings) -> Result<()> {
    let limits = &settings.limits.requests_per_minute;
    match limits.iter().find(|(_, limit)| **limit == 0) {
        None => Ok(()),
        Some((counter, _)) => Err(invalid(format!(
            "limits.requests_per_minute: {counter} = 0 would refuse every request."
        ))
        .next("Remove it for no limit, or exclude the counter's tools.")),
    }
}
