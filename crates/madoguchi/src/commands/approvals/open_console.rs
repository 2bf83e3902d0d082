//! `madoguchi approvals open`: one-time links to the consoles of the desks that run
//! on this data.

use kit::{Error, Result, context::Language};
use serde_json::json;
use server::console::links;

use crate::{
    cli::Global,
    config::Config,
    invocation, locale,
    open::OwnRows,
    output::{Look, Styled, pretty, tell},
    running::{self, RunningDesk},
};

/// A link for each desk with a console; without any, for the address that is
/// configured.
pub async fn links(
    global: &Global,
    config: &Config,
    own: &OwnRows,
    port: Option<u16>,
    as_json: bool,
) -> Result<Styled> {
    let running = running::desks(global, config, &own.state).await?;
    let consoles = consoles(global, config, port, &running)?;
    let state = own.state().await?;
    let now = state.store.clock().now().as_millisecond();
    let mut urls = Vec::new();
    for console in &consoles {
        urls.push(links::address(console, &links::create(state, now).await?));
    }
    if as_json {
        let expires_at = locale::utc(now + links::LASTS_MS);
        let all = json!({
            "url": urls.first(), "expires_at": expires_at, "urls": urls, "desks": running,
        });
        return Ok(pretty(&all).into());
    }
    let mut text = Styled::default();
    for url in &urls {
        text.add(Look::Action, url).plain("\n");
    }
    Ok(text)
}

/// The addresses of consoles to make links for. Says on stderr what the reader
/// should know about them.
fn consoles(
    global: &Global,
    config: &Config,
    port: Option<u16>,
    running: &[RunningDesk],
) -> Result<Vec<String>> {
    let mut settings = config.settings.clone();
    settings.http.port = port.unwrap_or(settings.http.port);
    if port.is_some() {
        return Ok(vec![settings.console_url()]);
    }
    let serve = invocation::command(global, "serve");
    if running.is_empty() {
        tell(&match locale::language() {
            Language::English => {
                format!("No desk runs on this data now. The link works once one does: {serve}")
            }
            Language::Japanese => format!(
                "このデータで動いている窓口はありません。次のコマンドで起動するとリンクが使えます: {serve}"
            ),
        });
        return Ok(vec![settings.console_url()]);
    }
    let mut found: Vec<String> = Vec::new();
    for console in running.iter().filter_map(|desk| desk.console.as_ref()) {
        // Desks behind one proxy have the same address.
        if !found.contains(console) {
            found.push(console.clone());
        }
    }
    if found.is_empty() {
        let message = "The desk that runs on this data has no console: its main port is off.";
        let next = format!("Start another with: {serve} --port 8010");
        return Err(Error::new("NO_CONSOLE", message).next(next));
    }
    if running.len() > 1 {
        let list: Vec<String> = running
            .iter()
            .map(|desk| {
                let since = locale::written(desk.started_at);
                match locale::language() {
                    Language::English => format!("  {}, since {since}", desk.in_words()),
                    Language::Japanese => format!("  {}、{since}から", desk.in_words()),
                }
            })
            .collect();
        let head = match locale::language() {
            Language::English => format!("{} desks run on this data:", running.len()),
            Language::Japanese => {
                format!("このデータで{}つの窓口が動いています:", running.len())
            }
        };
        tell(&format!("{head}\n{}", list.join("\n")));
    }
    Ok(found)
}
