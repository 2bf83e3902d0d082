//! `madoguchi stdio COUNTER`: what a desktop client launches.

use std::{process::ExitCode, sync::Arc};

use desk::{background, log, stations::identify::Credentials};
use kit::{Error, Result};
use server::transport;

use crate::{
    cli::{Global, Stdio},
    open, running,
    runtime::on_one_thread,
};

pub fn run(global: &Global, arguments: &Stdio) -> Result<ExitCode> {
    let mut config = open::configuration(global, &arguments.options)?;
    running::use_its_console(global, &mut config);
    log::init(&config.settings.log);
    config.warn();
    on_one_thread(async {
        let mut opened =
            open::desk(global, config, &arguments.options, Some(&arguments.counter)).await?;
        opened.export();
        let desk = Arc::clone(&opened.desk);
        let window = Arc::clone(
            desk.window(&arguments.counter)
                .ok_or_else(|| Error::internal("the counter that was opened is missing"))?,
        );
        // The process acts for the user who started it; a key limits it further.
        let credentials = match std::env::var("MADOGUCHI_KEY") {
            Ok(key) if !key.is_empty() => Credentials::LocalUserWith(key),
            _ => Credentials::LocalUser,
        };
        if !desk.keyring.admits(&credentials).await {
            tracing::warn!(
                "MADOGUCHI_KEY is not a valid key, so every request will be refused. Make one: \
                 madoguchi keys create NAME"
            );
        }
        background::once(&desk).await;
        background::start(&desk);
        transport::stdio::serve(Arc::clone(&desk), window, credentials).await;
        opened.close().await?;
        Ok(ExitCode::SUCCESS)
    })
}
