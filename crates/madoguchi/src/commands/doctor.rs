//! `madoguchi doctor`: checks the configuration, the data, the ports and the servers
//! that the counters need.

use std::process::ExitCode;

use kit::Result;
use serde_json::json;
use server::console::facts::Finding;

use crate::{
    checks,
    cli::{CounterOptions, Doctor, Global},
    config::Config,
    config_check, open, outgoing_hold,
    output::{Look, Styled, pretty, print},
    running,
    runtime::on_one_thread,
};

pub fn run(global: &Global, arguments: &Doctor) -> Result<ExitCode> {
    let findings = on_one_thread(examine(global))?;
    let healthy = findings.iter().all(|finding| finding.is_good);
    if arguments.json {
        let list: Vec<_> = findings
            .iter()
            .map(|f| json!({ "what": f.what, "ok": f.is_good, "message": f.message }))
            .collect();
        let report = json!({ "healthy": healthy, "findings": list });
        print(&pretty(&report))?;
    } else {
        let mut text = Styled::default();
        for finding in &findings {
            let (look, word) = match finding.is_good {
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
            findings.push(Finding::bad("configuration", error.text()));
            return Ok(findings);
        }
    };
    if let Err(error) = config_check::check(global, &config) {
        findings.push(Finding::bad("configuration", error.text()));
        return Ok(findings);
    }
    findings.push(Finding::good("configuration", "valid"));
    findings.push(checks::data_directory(global, &config));
    findings.extend(checks::disk(global, &config).await);
    findings.extend(running_desks(global, &config).await);
    findings.extend(held_back(global, &config).await);
    findings.extend(checks::certificate(&config.settings.tls));
    let encrypted = config.settings.tls.is_set();
    for (section, listener) in config.listeners() {
        findings.push(checks::port(section, &listener, encrypted).await);
    }
    match open::desk(global, config, &options, None).await {
        Ok(opened) => {
            match opened.check_store().await {
                Some(Ok(engine)) => {
                    findings.push(Finding::good("store", format!("{engine} reads and writes")));
                }
                Some(Err(error)) => findings.push(Finding::bad("store", error.text())),
                None => {}
            }
            match opened.check_announcements().await {
                Some(Ok(message)) => findings.push(Finding::good("announcements", message)),
                Some(Err(error)) => findings.push(Finding::bad("announcements", error.text())),
                None => {}
            }
            for served in &opened.desk.counters {
                // Before `health`, which reports what this finds.
                let answers = match &served.counter.background {
                    Some(background) => background.check().await,
                    None => Vec::new(),
                };
                let health = served.health().map(|health| format!(", {health}"));
                let tools = served.tools.len();
                findings.push(Finding::good(
                    served.counter.about.name,
                    format!("{tools} tools{}", health.unwrap_or_default()),
                ));
                for (what, answer) in answers {
                    findings.push(match answer {
                        Ok(message) => Finding::good(what, message),
                        Err(error) => Finding::bad(what, error.text()),
                    });
                }
            }
            opened.close().await?;
        }
        Err(error) => findings.push(Finding::bad("store", error.text())),
    }
    Ok(findings)
}

/// `None` if nothing is held back.
async fn held_back(global: &Global, config: &Config) -> Option<Finding> {
    let own = open::own_rows(global, config);
    let held = match own.state().await {
        Ok(state) => outgoing_hold::notice(global, &state.store).await,
        Err(_) => None,
    };
    let _ = own.close().await;
    held.map(|message| Finding::bad("held", message))
}

/// `None` if no desk runs on this data. A database that can't be opened is reported
/// later.
async fn running_desks(global: &Global, config: &Config) -> Option<Finding> {
    let own = open::own_rows(global, config);
    let desks = running::desks(global, config, &own.state).await;
    let _ = own.close().await;
    let words: Vec<String> = desks.ok()?.iter().map(|desk| desk.in_words()).collect();
    let is_any = !words.is_empty();
    is_any.then(|| Finding::good("desks", format!("running: {}", words.join(", "))))
}
