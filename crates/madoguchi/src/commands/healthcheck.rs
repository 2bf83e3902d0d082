//! `madoguchi healthcheck`: asks the desk that runs with this configuration whether it is
//! ready. Container images use it, since they contain no other program.

use std::{net::SocketAddr, process::ExitCode};

use kit::{Error, Result};
use server::transport::listener::checked_address;

use crate::{
    cli::{CounterOptions, Global, Healthcheck},
    open,
    output::print,
    probe,
    runtime::on_one_thread,
};

pub fn run(global: &Global, arguments: &Healthcheck) -> Result<ExitCode> {
    let mut config = open::configuration(global, &CounterOptions::default())?;
    if let Some(port) = arguments.port {
        config.settings.http.port = port;
    }
    // Only the main port knows /readyz; the others tell that the desk runs.
    let listeners = config.listeners().into_iter();
    let mut open = listeners.filter(|(_, listener)| listener.port != 0);
    let Some((section, listener)) = open.next() else {
        return Err(Error::new(
            "NOTHING_TO_SERVE",
            "Every listener is switched off.",
        ));
    };
    let path = if section == "http" {
        "/readyz"
    } else {
        "/livez"
    };
    let address = checked_address(&listener, section, config.settings.tls.is_set())?;
    let address = SocketAddr::new(address, listener.port);
    let asked = on_one_thread(async { Ok(probe::get(address, path).await) })?;
    match asked {
        Ok(answer) if answer.is_good() => print("ready"),
        Ok(answer) => Err(Error::new(
            "NOT_READY",
            format!("The desk at {address} is not ready: {}", answer.body()),
        )),
        Err(error) => Err(Error::new(
            "UNREACHABLE",
            format!("No desk answers at {address}: {error}."),
        )
        .next("Start one with `madoguchi serve`, or name its port with --port PORT.")),
    }
}
