//! What `madoguchi doctor` and the console's page about health check on this machine: the
//! data directory, its disk, the certificate, the ports.

mod disk;

use std::{net::SocketAddr, path::Path, sync::Arc};

use desk::settings::{Listener, Tls};
use kit::Blocking;
use server::{
    console::facts::Finding,
    transport::{listener::checked_address, tls},
};
use store::url::DatabaseUrl;

use crate::{cli::Global, config::Config, counters, location, probe};

/// Where a desk that runs looks.
pub struct Places {
    pub global: Global,
    pub config: Config,
    /// By their sections.
    pub listeners: Vec<(&'static str, Listener)>,
    /// For what waits for the disk.
    pub threads: Blocking,
}

/// All checks.
pub async fn all(places: Arc<Places>) -> Vec<Finding> {
    let on_disk = Arc::clone(&places);
    let read = places.threads.run(move || {
        let Places { global, config, .. } = &*on_disk;
        let data = data_directory(global, config);
        Ok((data, certificate(&config.settings.tls)))
    });
    let (data, certificate) = match read.await {
        Ok(read) => read,
        Err(error) => (Finding::bad("data", error.text()), None),
    };
    let mut findings = vec![data];
    findings.extend(disk(&places.global, &places.config).await);
    findings.extend(certificate);
    let encrypted = places.config.settings.tls.is_set();
    for (section, listener) in &places.listeners {
        findings.push(port(section, listener, encrypted).await);
    }
    findings
}

/// `None` if everything is on PostgreSQL.
pub async fn disk(global: &Global, config: &Config) -> Option<Finding> {
    match disk::examine(global, config).await {
        Ok(None) => None,
        Ok(Some((true, message))) => Some(Finding::good("disk", message)),
        Ok(Some((false, message))) => Some(Finding::bad("disk", message)),
        Err(error) => Some(Finding::bad("disk", error.text())),
    }
}

/// Whether it can be written to, and where the rows are.
pub fn data_directory(global: &Global, config: &Config) -> Finding {
    let directory = match location::data_directory(global.data.as_deref()) {
        Ok(directory) => directory,
        Err(error) => return Finding::bad("data", error.text()),
    };
    if let Err(what) = can_be_written(&directory) {
        let message = format!(
            "{} {what}. Name another directory with --data DIR.",
            directory.display()
        );
        return Finding::bad("data", message);
    }
    let database =
        match location::database_url(&config.settings.database.url, global.data.as_deref()) {
            Ok(DatabaseUrl::Sqlite(path)) => format!("database in {}", path.display()),
            Ok(DatabaseUrl::Postgres(_)) => "database on PostgreSQL".into(),
            Err(error) => return Finding::bad("data", error.text()),
        };
    Finding::good("data", format!("{}, {database}", directory.display()))
}

/// Whether the directory, or the nearest existing one above it, can be written to.
fn can_be_written(directory: &Path) -> std::result::Result<(), String> {
    let there = directory.ancestors().find(|path| path.exists());
    let Some(there) = there.filter(|path| path.is_dir()) else {
        return Err("can't be a directory: there is a file of that name".into());
    };
    tempfile_in(there).map_err(|error| format!("can't be written to: {error}"))
}

/// Writes a file, which reveals missing permissions, read-only mounts and full disks.
fn tempfile_in(directory: &Path) -> std::io::Result<()> {
    let name = format!(".madoguchi-doctor-{}", std::process::id());
    let path = directory.join(name);
    std::fs::write(&path, "")?;
    std::fs::remove_file(&path)
}

/// `None` without TLS.
pub fn certificate(settings: &Tls) -> Option<Finding> {
    let pair = match tls::read(settings) {
        Ok(pair) => pair?,
        Err(error) => return Some(Finding::bad("tls", error.text())),
    };
    let ends = pair
        .ends
        .map(|ends| format!(", ends on {}", tls::day(ends)));
    let mut message = format!("{}{}", settings.cert, ends.unwrap_or_default());
    for warning in &pair.warnings {
        message.push_str(&format!("; {warning}"));
    }
    Some(Finding::good("tls", message))
}

/// Good if the port is free, or if a desk answers there.
pub async fn port(section: &'static str, listener: &Listener, encrypted: bool) -> Finding {
    let own = counters::ports(counters::all()).find(|own| own.section == section);
    let (what, flag) = match own {
        Some(own) => (section, own.flag.as_str()),
        None => ("port", "--port"),
    };
    if listener.port == 0 {
        return Finding::good(what, "switched off");
    }
    let address = match checked_address(listener, section, encrypted) {
        Ok(address) => SocketAddr::new(address, listener.port),
        Err(error) => return Finding::bad(what, error.text()),
    };
    match tokio::net::TcpListener::bind(address).await {
        Ok(_) => Finding::good(what, format!("{address} is free")),
        Err(_) if answers(address).await => {
            Finding::good(what, format!("{address} is served by a desk"))
        }
        Err(error) => {
            let next = format!("Choose another: madoguchi serve {flag} PORT");
            Finding::bad(what, format!("{address}: {error}. {next}"))
        }
    }
}

async fn answers(address: SocketAddr) -> bool {
    let asked = probe::get(address, "/livez").await;
    asked.is_ok_and(|answer| answer.is_good())
}
