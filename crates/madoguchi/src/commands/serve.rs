//! `madoguchi serve`: all counters over HTTP and WebSocket.

mod hand_over;
mod page;
mod ports;
mod signals;

use std::{io::IsTerminal, process::ExitCode, sync::Arc};

use desk::{Desk, background, log};
use kit::Result;
use server::{
    console,
    transport::{
        endpoint, http,
        listener::{self, Site},
        own_port,
        tls::Tls,
    },
    wire::{definitions::PublishedCounter, seal},
};

use crate::{
    cli::{Global, Serve},
    config::Config,
    counters, invocation, location, open,
    reader::{self, pick},
    running::{self, RunningDesk},
    runtime, usable,
};

use hand_over::HandOver;
use page::{FirstKey, Page, ServedCounter};
use ports::BoundPorts;

pub fn run(global: &Global, arguments: &Serve) -> Result<ExitCode> {
    let mut config = open::configuration(global, &arguments.options)?;
    if let Some(port) = arguments.port {
        config.settings.http.port = port;
    }
    usable::usable(global, &config)?;
    let hand_over = HandOver::new(global)?;
    // Log lines would run through the page.
    if hand_over.is_page() && std::io::stderr().is_terminal() {
        config.log_less();
    }
    log::init(&config.settings.log);
    config.warn();
    let runtime = runtime::on_all_processors()?;
    let result = runtime.block_on(serve(global, arguments, config, hand_over));
    runtime.shutdown_timeout(runtime::LAST_WAIT);
    result
}

async fn serve(
    global: &Global,
    arguments: &Serve,
    config: Config,
    hand_over: HandOver,
) -> Result<ExitCode> {
    let tls = Tls::open(&config.settings.tls)?;
    if let Some(tls) = &tls {
        signals::reload(Arc::clone(tls))?;
    }
    let ports = BoundPorts::bind(global, &config, arguments, tls.as_ref()).await?;
    let database = location::database_url(&config.settings.database.url, global.data.as_deref())?;
    let mut opened = open::desk(global, config, &arguments.options, None).await?;
    opened.export();
    seal::share(&opened.desk.state.get().await?.secret);
    opened.first_demo().await?;
    let mut first_keys = Vec::new();
    for own in &ports.own {
        first_keys.extend(
            hand_over
                .first_key(global, &opened.desk, own.port.counter)
                .await?,
        );
    }
    background::once(&opened.desk).await;
    background::finish_erasures(&opened.desk).await;
    let desk = Arc::clone(&opened.desk);
    background::start(&desk);
    signals::stop(&desk, hand_over.is_page())?;
    let served = served(&desk, &ports);
    log_addresses(&desk, &ports);
    let console = match ports.main.is_some() {
        true => hand_over.console_link(global, &desk).await?,
        false => None,
    };
    let announcement = announce(&desk, &database, &ports, &served).await;
    if hand_over.is_page() {
        page(global, &desk, &ports, served, console, first_keys)
            .text()
            .print()?;
    }
    let sites = sites(global, &desk, ports);
    tracing::info!("ready");
    listener::serve(desk, sites).await;
    announcement.withdraw().await;
    opened.close().await?;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// What is served at which addresses.
fn served(desk: &Desk, ports: &BoundPorts) -> Vec<ServedCounter> {
    let base = ports.main.as_ref().map(|_| desk.settings.console_url());
    let windows = desk.windows.iter();
    let served = windows.map(|window| {
        let about = &window.counter.about;
        let main = base.iter().map(|base| format!("{base}/mcp/{}", about.name));
        let own = ports
            .own
            .iter()
            .filter(|own| own.port.counter == about.name);
        let registered = counters::all().iter().find(|it| it.name == about.name);
        let in_short = registered.and_then(|it| it.in_short);
        ServedCounter {
            name: about.name,
            about: in_short.map_or(about.title, |[english, japanese]| pick(english, japanese)),
            addresses: main.chain(own.map(|own| own.address())).collect(),
            needs_key: about.conventions.always_needs_key || desk.settings.http.require_key,
        }
    });
    served.filter(|it| !it.addresses.is_empty()).collect()
}

fn log_addresses(desk: &Desk, ports: &BoundPorts) {
    for window in desk.windows.iter().filter(|_| ports.main.is_some()) {
        let (base, about) = (desk.settings.console_url(), &window.counter.about);
        let (title, name) = (about.title, about.name);
        let sockets = base.replacen("http", "ws", 1);
        tracing::info!("{title}: {base}/mcp/{name} and {sockets}/ws/{name}");
    }
    for own in &ports.own {
        tracing::info!("{}: {}", own.port.counter, own.address());
    }
}

/// Lets commands on the same data find this desk.
async fn announce(
    desk: &Desk,
    database: &store::url::DatabaseUrl,
    ports: &BoundPorts,
    served: &[ServedCounter],
) -> running::Announcement {
    let console = ports.main.as_ref().map(|_| desk.settings.console_url());
    let addresses = served.iter().flat_map(|it| it.addresses.iter().cloned());
    let now = desk.clock.now().as_millisecond();
    let this = RunningDesk::of_this_process(console, addresses.collect(), now);
    running::announce(database, &desk.state, &this).await
}

fn page<'a>(
    global: &'a Global,
    desk: &Desk,
    ports: &BoundPorts,
    counters: Vec<ServedCounter>,
    console: Option<String>,
    first_keys: Vec<FirstKey>,
) -> Page<'a> {
    Page {
        language: reader::language(),
        global,
        counters,
        main: ports.main.as_ref().map(|_| desk.settings.console_url()),
        needs_key: desk.settings.http.require_key,
        console,
        first_keys,
        data: location::data_directory(global.data.as_deref())
            .ok()
            .and_then(|data| std::path::absolute(data).ok()),
        alias: invocation::alias(),
    }
}

fn sites(global: &Global, desk: &Arc<Desk>, ports: BoundPorts) -> Vec<Site> {
    let endpoints = endpoint::endpoints(desk, PublishedCounter::new);
    let mut sites = Vec::new();
    if let Some(main) = ports.main {
        sites.push(Site {
            listener: main,
            router: http::router(desk, &endpoints, console::router(desk)),
            needs_key: desk.settings.http.require_key,
        });
    }
    let data = location::data_directory(global.data.as_deref()).ok();
    for own in ports.own {
        let Some(endpoint) = endpoints.get(own.port.counter) else {
            continue;
        };
        let mut port = own_port::OwnPort::new(endpoint, &own.port.section, &own.settings);
        let assets = data.as_ref().filter(|_| own.port.port.assets);
        port.assets = assets.map(|data| data.join("assets"));
        port.socket = own.port.port.only_websocket;
        sites.push(Site {
            listener: own.listener,
            needs_key: port.guard.key_required,
            router: own_port::router(port),
        });
    }
    sites
}
