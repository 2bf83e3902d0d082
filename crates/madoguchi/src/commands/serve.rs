//! `madoguchi serve`: all counters over HTTP and WebSocket.

mod hand_over;

use std::{process::ExitCode, sync::Arc};

use desk::{background, log, settings};
use kit::{Error, Result};
use server::{
    console,
    transport::{
        endpoint, http,
        listener::{self, Listener, Site},
        own_port,
        tls::Tls,
    },
    wire::{definitions::PublishedCounter, seal},
};

use crate::{
    cli::{Global, Serve},
    config::Config,
    counters::{self, OwnPort},
    location, open, runtime, usable,
};

use hand_over::HandOver;

pub fn run(global: &Global, arguments: &Serve) -> Result<ExitCode> {
    let mut config = open::configuration(global, &arguments.options)?;
    if let Some(port) = arguments.port {
        config.settings.http.port = port;
    }
    usable::usable(global, &config)?;
    log::init(&config.settings.log);
    config.warn();
    let runtime = runtime::on_all_processors()?;
    let result = runtime.block_on(async {
        let tls = Tls::open(&config.settings.tls)?;
        if let Some(tls) = &tls {
            reload_on_signal(Arc::clone(tls))?;
        }
        let main = config.settings.http.listener();
        let main = match main.port {
            0 => None,
            _ => Some(Listener::bind(&main, "http", "--port", tls.as_ref()).await?),
        };
        let own = bind_own_ports(&config, arguments, tls.as_ref()).await?;
        if main.is_none() && own.is_empty() {
            return Err(
                Error::new("NOTHING_TO_SERVE", "Every listener is switched off.")
                    .next("Give one a port: --port 8010."),
            );
        }
        let opened = open::desk(global, config, &arguments.options, None).await?;
        seal::share(&opened.desk.state.get().await?.secret);
        opened.first_demo().await?;
        let hand_over = HandOver::new(global)?;
        for (port, ..) in &own {
            hand_over.first_key(&opened.desk, port.counter).await?;
        }
        background::once(&opened.desk).await;
        background::finish_erasures(&opened.desk).await;
        let desk = Arc::clone(&opened.desk);
        background::start(&desk);
        tokio::spawn(stop_on_signal(desk.stopping.clone()));
        let endpoints = endpoint::endpoints(&desk, PublishedCounter::new);
        let mut sites = Vec::new();
        if let Some(main) = main {
            announce(&main, &desk);
            hand_over.console_link(&desk).await?;
            sites.push(Site {
                listener: main,
                router: http::router(&desk, &endpoints, console::router(&desk)),
                needs_key: desk.settings.http.require_key,
            });
        }
        let data = location::data_directory(global.data.as_deref()).ok();
        for (own, settings, listener) in own {
            let Some(endpoint) = endpoints.get(own.counter) else {
                continue;
            };
            announce_own_port(own, &listener);
            let mut port = own_port::OwnPort::new(endpoint, &own.section, &settings);
            let assets = data.as_ref().filter(|_| own.port.assets);
            port.assets = assets.map(|data| data.join("assets"));
            port.socket = own.port.only_websocket;
            sites.push(Site {
                listener,
                needs_key: port.guard.key_required,
                router: own_port::router(port),
            });
        }
        tracing::info!("ready");
        listener::serve(desk, sites).await;
        opened.close().await?;
        tracing::info!("stopped");
        Ok(ExitCode::SUCCESS)
    });
    runtime.shutdown_timeout(runtime::LAST_WAIT);
    result
}

/// Binds the counters' own ports, except those that are switched off.
async fn bind_own_ports(
    config: &Config,
    arguments: &Serve,
    tls: Option<&Arc<Tls>>,
) -> Result<Vec<(&'static OwnPort, settings::Listener, Listener)>> {
    let fixture = arguments.options.fixture.then(counters::fixture).flatten();
    let mut bound = Vec::new();
    for own in counters::all()
        .iter()
        .chain(fixture)
        .filter_map(|counter| counter.own_port.as_ref())
    {
        let mut settings = config.own_listener(own);
        if let Some(port) = arguments.own_ports.0.get(own.counter) {
            settings.port = *port;
        }
        if settings.port != 0 {
            let listener = Listener::bind(&settings, &own.section, &own.flag, tls).await?;
            bound.push((own, settings, listener));
        }
    }
    Ok(bound)
}

fn announce(listener: &Listener, desk: &desk::Desk) {
    let address = listener.address;
    let (http, ws) = (listener.scheme("http"), listener.scheme("ws"));
    for window in &desk.windows {
        let about = &window.counter.about;
        tracing::info!(
            "{}: {http}://{address}/mcp/{} and {ws}://{address}/ws/{}",
            about.title,
            about.name,
            about.name
        );
    }
}

fn announce_own_port(own: &OwnPort, listener: &Listener) {
    let (counter, address) = (own.counter, listener.address);
    if own.port.only_websocket {
        tracing::info!("{counter}: {}://{address}", listener.scheme("ws"));
    } else {
        tracing::info!("{counter}: {}://{address}/mcp", listener.scheme("http"));
    }
}

/// Reloads the certificate on SIGHUP. Open connections keep the old one.
#[cfg(unix)]
fn reload_on_signal(tls: Arc<Tls>) -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // Installed at once: until then the signal would end the program.
    let mut asked = signal(SignalKind::hangup()).map_err(Error::internal)?;
    tokio::spawn(async move {
        while asked.recv().await.is_some() {
            let tls = Arc::clone(&tls);
            let reloaded = tokio::task::spawn_blocking(move || tls.reload()).await;
            match reloaded.unwrap_or_else(|error| Err(Error::internal(error))) {
                Ok(()) => tracing::info!("TLS: the certificate was read again"),
                Err(error) => {
                    let what = error.text();
                    tracing::error!("TLS: the old certificate stays in use. {what}");
                }
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn reload_on_signal(_: Arc<Tls>) -> Result<()> {
    Ok(())
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
    tracing::info!("stopping after the calls in flight are answered");
    stopping.cancel();
}
