//! The ports of a desk: the main one and the counters' own.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    sync::Arc,
};

use desk::settings;
use kit::{Error, Result};
use server::transport::{
    listener::{self, Listener},
    tls::Tls,
};

use crate::{
    cli::{Global, Serve},
    config::Config,
    counters::{self, OwnPort},
    invocation, running,
};

/// How far from a taken port a free one is looked for.
const NEARBY: u16 = 100;

pub struct BoundPorts {
    pub main: Option<Listener>,
    pub own: Vec<BoundOwnPort>,
}

pub struct BoundOwnPort {
    pub port: &'static OwnPort,
    pub settings: settings::Listener,
    pub listener: Listener,
}

impl BoundPorts {
    /// Binds all ports except those that are switched off.
    pub async fn bind(
        global: &Global,
        config: &Config,
        arguments: &Serve,
        tls: Option<&Arc<Tls>>,
    ) -> Result<Self> {
        let main = config.settings.http.listener();
        let main = match main.port {
            0 => None,
            port => Some(
                Listener::bind(&main, "http", "--port", tls)
                    .await
                    .map_err(|error| explained(error, global, config, "--port", port))?,
            ),
        };
        let fixture = arguments.options.fixture.then(counters::fixture).flatten();
        let all = counters::all().iter().chain(fixture);
        let mut own = Vec::new();
        for port in all.filter_map(|counter| counter.own_port.as_ref()) {
            let mut settings = config.own_listener(port);
            if let Some(given) = arguments.own_ports.0.get(port.counter) {
                settings.port = *given;
            }
            if settings.port != 0 {
                let bound = Listener::bind(&settings, &port.section, &port.flag, tls).await;
                let listener = bound
                    .map_err(|error| explained(error, global, config, &port.flag, settings.port))?;
                own.push(BoundOwnPort {
                    port,
                    settings,
                    listener,
                });
            }
        }
        if main.is_none() && own.is_empty() {
            return Err(
                Error::new("NOTHING_TO_SERVE", "Every listener is switched off.")
                    .next("Give one a port: madoguchi serve --port 8010"),
            );
        }
        Ok(Self { main, own })
    }
}

impl BoundOwnPort {
    pub fn address(&self) -> String {
        let address = reachable(self.listener.address);
        match self.port.port.only_websocket {
            true => format!("{}://{address}", self.listener.scheme("ws")),
            false => format!("{}://{address}/mcp", self.listener.scheme("http")),
        }
    }
}

/// An address that a client on this machine can use.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip().is_unspecified() {
        true => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port()),
        false => address,
    }
}

/// Adds who has the port, if it is a desk on the same data, and the command that
/// helps.
fn explained(error: Error, global: &Global, config: &Config, flag: &str, port: u16) -> Error {
    if error.code != listener::PORT_TAKEN {
        return error;
    }
    let desks = running::desks_beside(global, config);
    let has_it = |address: &String| {
        let authority = address.split('/').nth(2).unwrap_or_default();
        authority.ends_with(&format!(":{port}"))
    };
    let known = desks.iter().find(|desk| desk.addresses.iter().any(has_it));
    if let Some(desk) = known {
        let desk = desk.in_words();
        let open = invocation::command(global, "approvals open");
        return error.next(format!(
            "A desk already runs there on this data: {desk}. To run another, move its ports, \
             such as {flag}. To open the console of the one that runs: {open}"
        ));
    }
    let serve = invocation::command(global, &format!("serve {flag} {}", free_port(port)));
    error.next(format!(
        "To do without this port, add {flag} 0. To use another: {serve}"
    ))
}

/// A port that nobody uses now.
fn free_port(taken: u16) -> u16 {
    let first = taken.saturating_add(1).max(8020);
    let mut nearby = first..=first.saturating_add(NEARBY);
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    nearby.find(is_free).unwrap_or(first)
}
