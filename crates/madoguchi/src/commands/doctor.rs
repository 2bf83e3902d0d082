//! `madoguchi doctor`: checks the configuration, the data, the ports and the servers
//! that the counters need.

use std::{net::SocketAddr, path::Path, process::ExitCode};

use desk::settings::{Listener, Tls};
use kit::Result;
use serde_json::json;
use server::transport::{listener::checked_address, tls};
use store::url::DatabaseUrl;

use crate::{
    cli::{CounterOptions, Doctor, Global},
    config::Config,
    counters, location, open,
    output::{Look, Styled, pretty, print},
    probe, running,
    runtime::on_one_thread,
    usable,
};

struct Finding {
    what: &'static str,
    ok: bool,
    message: String,
}

pub fn run(global: &Global, arguments: &Doctor) -> Result<ExitCode> {
    let findings = on_one_thread(examine(global))?;
    let healthy = findings.iter().all(|finding| finding.ok);
    if arguments.json {
        let list: Vec<_> = findings
            .iter()
            .map(|f| json!({ "what": f.what, "ok": f.ok, "message": f.message }))
            .collect();
        let report = json!({ "healthy": healthy, "findings": list });
        print(&pretty(&report))?;
    } else {
        let mut text = Styled::default();
        for finding in &findings {
            let (look, word) = match finding.ok {
                true => (Look::Good, "ok  "),
                false => (Look::Bad, "FAIL"),
            };
            let rest = format!(" {:<14} {}\n", finding.what, finding.message);
            text.add(look, word).plain(&rest);
        }
        text.print()?;
    }
    Ok(if healthy {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn examine(global: &Global) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let options = CounterOptions::default();
    let config = match open::configuration(global, &options) {
        Ok(mut config) => {
            // Says at once what is away.
            config.settings.database.wait_for_primary = 0;
            config
        }
        Err(error) => {
            findings.push(bad("configuration", &error));
            return Ok(findings);
        }
    };
    if let Err(error) = usable::usable(global, &config) {
        findings.push(bad("configuration", &error));
        return Ok(findings);
    }
    findings.push(good("configuration", "valid".into()));
    findings.push(data_directory(global, &config));
    findings.extend(running_desks(global, &config).await);
    findings.extend(certificate(&config.settings.tls));
    let encrypted = config.settings.tls.is_set();
    for (section, listener) in config.listeners() {
        findings.push(port(section, &listener, encrypted).await);
    }
    match open::desk(global, config, &options, None).await {
        Ok(opened) => {
            match opened.check_store().await {
                Some(Ok(engine)) => {
                    findings.push(good("store", format!("{engine} reads and writes")));
                }
                Some(Err(error)) => findings.push(bad("store", &error)),
                None => {}
            }
            match opened.check_announcements().await {
                Some(Ok(message)) => findings.push(good("announcements", message)),
                Some(Err(error)) => findings.push(bad("announcements", &error)),
                None => {}
            }
            for window in &opened.desk.windows {
                // Before `health`, which reports what this finds.
                let answers = match &window.counter.background {
                    Some(background) => background.check().await,
                    None => Vec::new(),
                };
                let health = window.health().map(|health| format!(", {health}"));
                let tools = window.tools.len();
                findings.push(good(
                    window.counter.about.name,
                    format!("{tools} tools{}", health.unwrap_or_default()),
                ));
                for (what, answer) in answers {
                    findings.push(match answer {
                        Ok(message) => good(what, message),
                        Err(error) => bad(what, &error),
                    });
                }
            }
            opened.close().await?;
        }
        Err(error) => findings.push(bad("store", &error)),
    }
    Ok(findings)
}

fn data_directory(global: &Global, config: &Config) -> Finding {
    let directory = match location::data_directory(global.data.as_deref()) {
        Ok(directory) => directory,
        Err(error) => return bad("data", &error),
    };
    if let Err(what) = can_be_written(&directory) {
        let message = format!(
            "{} {what}. Name another directory with --data DIR.",
            directory.display()
        );
        return Finding {
            what: "data",
            ok: false,
            message,
        };
    }
    let database =
        match location::database_url(&config.settings.database.url, global.data.as_deref()) {
            Ok(DatabaseUrl::Sqlite(path)) => format!("database in {}", path.display()),
            Ok(DatabaseUrl::Postgres(_)) => "database on PostgreSQL".into(),
            Err(error) => return bad("data", &error),
        };
    good("data", format!("{}, {database}", directory.display()))
}

/// `None` if no desk runs on this data. A database that can't be opened is reported
/// later.
async fn running_desks(global: &Global, config: &Config) -> Option<Finding> {
    let own = open::own_rows(global, config);
    let desks = running::desks(global, config, &own.state).await;
    let _ = own.close().await;
    let words: Vec<String> = desks.ok()?.iter().map(|desk| desk.in_words()).collect();
    let is_any = !words.is_empty();
    is_any.then(|| good("desks", format!("running: {}", words.join(", "))))
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
fn certificate(settings: &Tls) -> Option<Finding> {
    let pair = match tls::read(settings) {
        Ok(pair) => pair?,
        Err(error) => return Some(bad("tls", &error)),
    };
    let ends = pair
        .ends
        .map(|ends| format!(", ends on {}", tls::day(ends)));
    let mut message = format!("{}{}", settings.cert, ends.unwrap_or_default());
    for warning in &pair.warnings {
        message.push_str(&format!("; {warning}"));
    }
    Some(good("tls", message))
}

/// Good if the port is free, or if a desk answers there.
async fn port(section: &'static str, listener: &Listener, encrypted: bool) -> Finding {
    let own = counters::ports(counters::all()).find(|own| own.section == section);
    let (what, flag) = match own {
        Some(own) => (section, own.flag.as_str()),
        None => ("port", "--port"),
    };
    if listener.port == 0 {
        return good(what, "switched off".into());
    }
    let address = match checked_address(listener, section, encrypted) {
        Ok(address) => SocketAddr::new(address, listener.port),
        Err(error) => return bad(what, &error),
    };
    match tokio::net::TcpListener::bind(address).await {
        Ok(_) => good(what, format!("{address} is free")),
        Err(_) if answers(address).await => good(what, format!("{address} is served by a desk")),
        Err(error) => Finding {
            what,
            ok: false,
            message: format!("{address}: {error}. Choose another: madoguchi serve {flag} PORT"),
        },
    }
}

async fn answers(address: SocketAddr) -> bool {
    let asked = probe::get(address, "/livez").await;
    asked.is_ok_and(|answer| answer.is_good())
}

fn good(what: &'static str, message: String) -> Finding {
    Finding {
        what,
        ok: true,
        message,
    }
}

fn bad(what: &'static str, error: &kit::Error) -> Finding {
    Finding {
        what,
        ok: false,
        message: error.text(),
    }
}
