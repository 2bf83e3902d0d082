//! `madoguchi stdio COUNTER`: what a desktop client launches.

use std::{process::ExitCode, sync::Arc};

use desk::{
    background, log,
    stations::identify::{Credentials, Unidentified},
};
use kit::{Error, Result};
use server::transport;

use crate::{
    cli::{Global, Stdio},
    counters, marks, open, outgoing_hold, running,
    runtime::on_one_thread,
};

pub fn run(global: &Global, arguments: &Stdio) -> Result<ExitCode> {
    let mut config = open::configuration(global, &arguments.options)?;
    let has_console = running::use_its_console(global, &mut config);
    log::init(&config.settings.log);
    config.warn();
    on_one_thread(async {
        let mut opened =
            open::desk(global, config, &arguments.options, Some(&arguments.counter)).await?;
        opened.export();
        let desk = Arc::clone(&opened.desk);
        if has_console {
            desk.clients.is_watched();
        }
        let served = Arc::clone(
            desk.counter(&arguments.counter)
                .ok_or_else(|| Error::internal("the counter that was opened is missing"))?,
        );
        // The process acts for the user who started it; a key limits it further.
        let credentials = match std::env::var("MADOGUCHI_KEY") {
            Ok(key) if !key.is_empty() => Credentials::LocalUserWith(key),
            _ => Credentials::LocalUser,
        };
        if desk.keyring.admit(&credentials).await == Err(Unidentified::InvalidKey) {
            tracing::warn!(
                "MADOGUCHI_KEY is not a valid key, so every request will be refused. Make one: \
                 madoguchi keys create NAME"
            );
        }
        if let Some(store) = &served.counter.store
            && let Some(held) = outgoing_hold::notice(global, store).await
        {
            tracing::warn!("{held}");
        }
        background::once(&desk).await;
        background::start(&desk);
        let mut counters = counters::all().iter();
        let tables = counters.any(|it| it.name == arguments.counter && it.on_postgres.is_some());
        let ended = tokio::select! {
            () = transport::stdio::serve(Arc::clone(&desk), served, credentials) => Ok(()),
            error = marks::moved_away(opened.stores(), tables) => Err(error),
        };
        opened.close().await?;
        ended.map(|()| ExitCode::SUCCESS)
    })
}
