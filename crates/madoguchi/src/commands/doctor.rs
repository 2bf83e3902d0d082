//! `madoguchi doctor`: what is reachable and healthy.

use std::process::ExitCode;

use kit::Result;
use serde_json::json;
use store::url::DatabaseUrl;

use super::{on_one_thread, print};
use crate::{
    cli::{Doctor, Global, Offer},
    config::Config,
    open,
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
        print(&serde_json::to_string_pretty(&report).unwrap_or_default())?;
    } else {
        let text: String = findings
            .iter()
            .map(|f| {
                format!(
                    "{} {:<14} {}\n",
                    if f.ok { "ok  " } else { "FAIL" },
                    f.what,
                    f.message
                )
            })
            .collect();
        print(&text)?;
    }
    Ok(if healthy {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn examine(global: &Global) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let offer = Offer::default();
    let config = match open::configuration(global, &offer) {
        Ok(config) => {
            findings.push(good("configuration", "valid".into()));
            config
        }
        Err(error) => {
            findings.push(bad("configuration", &error));
            return Ok(findings);
        }
    };
    findings.push(data_directory(global, &config));
    findings.push(port(&config).await);
    match open::desk(global, config, &offer, None).await {
        Ok(opened) => {
            match opened.check_store().await {
                Some(Ok(engine)) => {
                    findings.push(good("store", format!("{engine} reads and writes")));
                }
                Some(Err(error)) => findings.push(bad("store", &error)),
                None => {}
            }
            for window in &opened.desk.windows {
                findings.push(good(
                    window.counter.about.name,
                    format!("{} tools", window.tools.len()),
                ));
            }
            opened.close().await?;
        }
        Err(error) => findings.push(bad("store", &error)),
    }
    Ok(findings)
}

fn data_directory(global: &Global, config: &Config) -> Finding {
    match open::database_url(global, config) {
        Ok(DatabaseUrl::Sqlite(path)) => good("data", format!("{}", path.display())),
        Ok(DatabaseUrl::Postgres(_)) => good("data", "in PostgreSQL".into()),
        Err(error) => bad("data", &error),
    }
}

/// Free, or held by a desk that answers: both are well.
async fn port(config: &Config) -> Finding {
    let http = &config.settings.http;
    let address = format!("{}:{}", http.address, http.port);
    match tokio::net::TcpListener::bind(&address).await {
        Ok(_) => good("port", format!("{address} is free")),
        Err(_) if answers(&address).await => good("port", format!("{address} is served by a desk")),
        Err(error) => Finding {
            what: "port",
            ok: false,
            message: format!("{address}: {error}. Choose another with --port PORT."),
        },
    }
}

async fn answers(address: &str) -> bool {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect(address).await?;
        let request =
            format!("GET /livez HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer.starts_with(b"HTTP/1.1 200"))
    };
    tokio::time::timeout(std::time::Duration::from_secs(2), ask)
        .await
        .is_ok_and(|answer| answer.unwrap_or(false))
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
