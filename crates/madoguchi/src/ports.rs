//! Counters whose documents give them a port of their own.

use std::path::Path;

use desk::settings::Listener;
use server::transport::{endpoint::Endpoints, own_port};

use crate::counters::Registration;

/// Which counter, where, and what its port offers besides the protocol.
pub struct OwnPort {
    pub counter: &'static str,
    /// Where it is configured.
    pub section: &'static str,
    /// What moves it, or switches it off, on the command line.
    pub flag: &'static str,
    pub port: u16,
    /// The name its document knows it by. Clients may use it where the operator
    /// puts it among the allowed hosts.
    pub host: Option<&'static str>,
    /// Whether it serves the files of `assets/` in the data directory.
    pub assets: bool,
    /// Whether it speaks WebSocket, and nothing else.
    pub socket: bool,
}

const INNERVOICE: OwnPort = OwnPort {
    counter: "innervoice",
    section: "innervoice_listener",
    flag: "--innervoice-port",
    port: 7777,
    host: Some("mcp.innervoice.app"),
    assets: false,
    socket: true,
};

const MERCHANT: OwnPort = OwnPort {
    counter: "merchant",
    section: "merchant_listener",
    flag: "--merchant-port",
    port: 8011,
    host: Some("merchant_agent_mcp"),
    assets: true,
    socket: false,
};

/// For tests, and off unless a flag says otherwise.
pub static FIXTURE: OwnPort = OwnPort {
    counter: "fixture",
    section: "fixture_listener",
    flag: "--fixture-port",
    port: 0,
    host: None,
    assets: true,
    socket: false,
};

static CONFIGURED: [OwnPort; 2] = [INNERVOICE, MERCHANT];

impl OwnPort {
    pub fn default_listener(&self) -> Listener {
        Listener {
            port: self.port,
            ..Listener::default()
        }
    }

    /// What is served there; `None` when the counter is not open.
    pub fn served(
        &self,
        endpoints: &Endpoints,
        listener: &Listener,
        data: Option<&Path>,
    ) -> Option<own_port::OwnPort> {
        let endpoint = endpoints.get(self.counter)?;
        let mut port = own_port::OwnPort::new(endpoint, self.section, listener);
        port.assets = data.filter(|_| self.assets).map(|data| data.join("assets"));
        port.socket = self.socket;
        Some(port)
    }
}

/// Of the counters that are registered.
pub fn configured(counters: &[Registration]) -> impl Iterator<Item = &'static OwnPort> {
    CONFIGURED
        .iter()
        .filter(|port| counters.iter().any(|counter| counter.name == port.counter))
}

pub fn of_section(section: &str) -> Option<&'static OwnPort> {
    CONFIGURED.iter().find(|port| port.section == section)
}
