//! `madoguchi serve`: all counters over HTTP and WebSocket.

use std::{process::ExitCode, sync::Arc};

use host::{
    background, log,
    transport::{http, listener::Listener},
};
use kit::{Error, Result};

use crate::{
    cli::{Global, Serve},
    open,
};

pub fn run(global: &Global, arguments: &Serve) -> Result<ExitCode> {
    let mut config = open::configuration(global, &arguments.offer)?;
    if let Some(port) = arguments.port {
        config.settings.http.port = port;
    }
    log::init(&config.settings.log);
    let runtime = tokio::runtime::Runtime::new().map_err(Error::internal)?;
    let result = runtime.block_on(async {
        if config.settings.http.port == 0 {
            return Err(
                Error::new("NOTHING_TO_SERVE", "Every listener is switched off.")
                    .next("Give one a port: --port 8010."),
            );
        }
        let listener = Listener::bind(&config.settings.http, "--port").await?;
        let opened = open::desk(global, config, &arguments.offer, None).await?;
        opened.first_demo().await?;
        background::once(&opened.desk).await;
        let desk = Arc::clone(&opened.desk);
        background::start(&desk);
        tokio::spawn(stop_on_signal(desk.stopping.clone()));
        announce(&listener, &desk);
        let router = http::router(Arc::new(http::Shared::new(Arc::clone(&desk))));
        listener.serve(desk, router).await;
        opened.close().await?;
        tracing::info!("stopped");
        Ok(ExitCode::SUCCESS)
    });
    runtime.shutdown_timeout(super::LAST_WAIT);
    result
}

fn announce(listener: &Listener, desk: &host::Desk) {
    let address = listener.address;
    for window in &desk.windows {
        let about = &window.counter.about;
        tracing::info!(
            "{}: http://{address}/mcp/{} and ws://{address}/ws/{}",
            about.title,
            about.name,
            about.name
        );
    }
    tracing::info!(%address, "ready");
}

async fn stop_on_signal(stopping: tokio_util::sync::CancellationToken) {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = interrupt => {}
                    _ = terminate.recv() => {}
                }
            }
            Err(_) => drop(interrupt.await),
        }
    }
    #[cfg(not(unix))]
    drop(interrupt.await);
    tracing::info!("stopping: calls under way are finished first");
    stopping.cancel();
}
