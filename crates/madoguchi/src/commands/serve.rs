//! `madoguchi serve`: all counters over HTTP and WebSocket.

mod hand_over;
mod page;
mod ports;
mod signals;

use std::{io::IsTerminal, process::ExitCode, sync::Arc};

use desk::{Desk, background, log, notices};
use kit::{Blocking, Result};
use server::{
    console::{
        self,
        facts::{Facts, MachineChecks},
    },
    transport::{
        endpoint, http,
        listener::{self, Site},
        own_port,
        tls::Tls,
    },
    wire::{definitions::PublishedCounter, seal},
};

use crate::{
    checks::{self, Places},
    cli::{Global, Serve},
    commands::install::setups,
    config::Config,
    config_check, counters, invocation,
    locale::{self, pick},
    location, open, outgoing_hold,
    running::{self, RunningDesk},
    runtime,
};

use hand_over::HandOver;
use page::{CounterAddresses, FirstKey, Page};
use ports::BoundPorts;

pub fn run(global: &Global, arguments: &Serve) -> Result<ExitCode> {
    let mut config = open::configuration(global, &arguments.options)?;
    if let Some(port) = arguments.port {
        config.settings.http.port = port;
    }
    config_check::check(global, &config)?;
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
    let for_clients = global.clone();
    let facts = Facts {
        settings: config.in_force()?,
        clients: Box::new(move || setups(&for_clients)),
        machine: machine(global, &config, arguments),
    };
    let mut opened = open::desk(global, config, &arguments.options, None).await?;
    opened.export();
    let state = opened.desk.state.get().await?;
    seal::share(&state.secret);
    if let Some(held) = outgoing_hold::notice(global, &state.store).await {
        tracing::warn!("{held}");
    }
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
    if ports.main.is_some() {
        tokio::spawn(notices::run(Arc::clone(&desk)));
    }
    signals::stop(&desk, hand_over.is_page())?;
    let addresses = counter_addresses(&desk, &ports);
    log_addresses(&desk, &ports);
    let console = match ports.main.is_some() {
        true => hand_over.console_link(global, &desk).await?,
        false => None,
    };
    let announcement = announce(&desk, &database, &ports, &addresses).await;
    if hand_over.is_page() {
        page(global, &desk, &ports, addresses, console, first_keys)
            .text()
            .print()?;
    }
    let sites = sites(global, &desk, ports, facts);
    tracing::info!("ready");
    listener::serve(desk, sites).await;
    announcement.withdraw().await;
    opened.close().await?;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// What the console's page about health looks at besides the desk.
fn machine(global: &Global, config: &Config, arguments: &Serve) -> MachineChecks {
    let mut listeners = config.listeners();
    for (section, listener) in &mut listeners {
        let mut own = counters::ports(counters::all());
        let counter = own
            .find(|own| own.section == *section)
            .map(|own| own.counter);
        let given = counter.and_then(|counter| arguments.own_ports.0.get(counter));
        listener.port = given.copied().unwrap_or(listener.port);
    }
    let places = Arc::new(Places {
        global: global.clone(),
        config: config.clone(),
        listeners,
        threads: Blocking::new(1),
    });
    Box::new(move || Box::pin(checks::all(Arc::clone(&places))))
}

/// What is served at which addresses.
fn counter_addresses(desk: &Desk, ports: &BoundPorts) -> Vec<CounterAddresses> {
    let base = ports.main.as_ref().map(|_| desk.settings.console_url());
    let counters = desk.counters.iter();
    let addresses = counters.map(|served| {
        let about = &served.counter.about;
        let main = base.iter().map(|base| format!("{base}/mcp/{}", about.name));
        let own = ports
            .own
            .iter()
            .filter(|own| own.port.counter == about.name);
        let registered = counters::all().iter().find(|it| it.name == about.name);
        let in_short = registered.and_then(|it| it.in_short);
        CounterAddresses {
            name: about.name,
            about: in_short.map_or(about.title, |[english, japanese]| pick(english, japanese)),
            addresses: main.chain(own.map(|own| own.address())).collect(),
            needs_key: desk.needs_key(about.name),
        }
    });
    addresses.filter(|it| !it.addresses.is_empty()).collect()
}

fn log_addresses(desk: &Desk, ports: &BoundPorts) {
    for served in desk.counters.iter().filter(|_| ports.main.is_some()) {
        let (base, about) = (desk.settings.console_url(), &served.counter.about);
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
    counters: &[CounterAddresses],
) -> running::Announcement {
    let console = ports.main.as_ref().map(|_| desk.settings.console_url());
    let addresses = counters.iter().flat_map(|it| it.addresses.iter().cloned());
    let now = desk.clock.now().as_millisecond();
    let this = RunningDesk::of_this_process(console, addresses.collect(), now);
    running::announce(database, &desk.state, &this).await
}

fn page<'a>(
    global: &'a Global,
    desk: &Desk,
    ports: &BoundPorts,
    counters: Vec<CounterAddresses>,
    console: Option<String>,
    first_keys: Vec<FirstKey>,
) -> Page<'a> {
    Page {
        language: locale::language(),
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

fn sites(global: &Global, desk: &Arc<Desk>, ports: BoundPorts, facts: Facts) -> Vec<Site> {
    let endpoints = endpoint::endpoints(desk, PublishedCounter::new);
    let mut sites = Vec::new();
    if let Some(main) = ports.main {
        sites.push(Site {
            listener: main,
            router: http::router(desk, &endpoints, console::router(desk, facts)),
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
