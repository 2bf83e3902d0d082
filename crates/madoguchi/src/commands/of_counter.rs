//! `madoguchi COUNTER …`: a counter's own command.

use std::process::ExitCode;

use desk::keys;
use kit::{Error, Result};

use crate::{
    cli::{CounterCommand, CounterOptions, Global},
    config::Config,
    counters::{self, CommandContext},
    open,
    own_state::Databases,
    runtime::on_one_thread,
};

pub fn run(global: &Global, called: &CounterCommand) -> Result<ExitCode> {
    let config = open::configuration(global, &CounterOptions::default())?;
    let settings = config.counters.get(called.counter).cloned();
    on_one_thread(async {
        let databases = Databases::default();
        let mut counters = counters::all().iter();
        let counter = counters.find(|counter| counter.name == called.counter);
        let store = match counter {
            Some(counter) => open::moved_store(global, &config, counter, &databases).await?,
            None => None,
        };
        let context = CommandContext {
            settings: settings.unwrap_or_default(),
            store,
            find_key: &|wanted| Box::pin(find_key(global, &config, wanted)),
        };
        let done = (called.command.run)(&context, &called.arguments).await;
        open::close(&databases).await?;
        done
    })
}

/// A key of the configuration by its name, or one that was created, by id or name.
async fn find_key(global: &Global, config: &Config, wanted: String) -> Result<(String, String)> {
    let mut configured = config.settings.identity.keys.iter();
    if let Some(key) = configured.find(|key| key.name == wanted) {
        return Ok((key.name.clone(), key.name.clone()));
    }
    let own = open::own_rows(global, config);
    let created = keys::list(own.state().await?).await;
    own.close().await?;
    let mut valid = created?.into_iter().filter(|key| key.revoked_at.is_none());
    let found = valid.find(|key| key.id == wanted || key.name == wanted);
    found.map(|key| (key.id, key.name)).ok_or_else(|| {
        Error::new("KEY_NOT_FOUND", "No key has that id or name.")
            .next("List them with: madoguchi keys list")
    })
}
