//! How each client on this machine is connected, and which have called.

use std::{collections::BTreeMap, sync::Arc};

use kit::{Error, Result};
use maud::{Markup, html};

use super::super::{
    facts::{ClientSetup, Facts},
    parts::{Tone, copyable, excerpt, tag, time},
    view::{Page, View},
    words::Words,
};

/// Where the page learns of calls.
pub const EVENTS: &str = "/console/connect/events";

pub async fn page(view: View, facts: Arc<Facts>) -> Result<Page> {
    let words = view.words;
    let title = words.pick("Connect a client", "クライアントの接続");
    let setups = tokio::task::spawn_blocking(move || (facts.clients)());
    let setups = setups.await.map_err(Error::internal)?;
    let first_calls = view.desk.clients.first_calls().borrow().clone();
    let (here, elsewhere): (Vec<ClientSetup>, Vec<ClientSetup>) =
        setups.into_iter().partition(|setup| setup.is_present);
    let drawn = |setup: &ClientSetup| client(words, setup, &first_calls);
    let main = html! {
        h1 { (title) }
        p class="hint" { (words.pick(
            "Run the command, or paste the text into the client's file. A client is marked here when its first call arrives.",
            "コマンドを実行するか、テキストをクライアントのファイルに貼り付けてください。最初の呼び出しが届くと、ここに表示されます。"
        )) }
        div data-watch=(EVENTS) {
            @if here.is_empty() {
                p { (words.pick(
                    "No MCP client was found on this machine.",
                    "このマシンにMCPクライアントは見つかりませんでした。"
                )) }
            }
            @for setup in &here { (drawn(setup)) }
        }
        details {
            summary { (words.pick("Clients that were not found here", "このマシンで見つからなかったクライアント")) }
            @for setup in &elsewhere { (drawn(setup)) }
        }
        (others(words, &here, &elsewhere, &first_calls))
    };
    Ok(Page::new(title, main))
}

fn client(words: &Words, setup: &ClientSetup, first_calls: &BTreeMap<String, i64>) -> Markup {
    let mut called = first_calls.iter().filter(|(name, _)| setup.is_named(name));
    let first = called.next().map(|(_, at)| *at);
    let first = called.map(|(_, at)| *at).chain(first).min();
    let id = setup.title.to_lowercase().replace(' ', "-");
    html! {
        section {
            h2 { (setup.title) }
            p id=(id) data-live role="status" {
                @match first {
                    Some(at) => {
                        (tag(Tone::Good, words.pick("connected", "接続済み"))) " "
                        (words.pick("First call: ", "最初の呼び出し: ")) (time(words, at))
                    },
                    None => (tag(Tone::Neutral, words.pick("no call yet", "まだ呼び出しなし"))),
                }
            }
            (copyable(words, words.pick("Command", "コマンド"), &setup.command))
            details {
                summary {
                    (words.pick("Or add it by hand to ", "または手動で追加: "))
                    code { (setup.file) }
                }
                (copyable(words, words.pick("Text", "テキスト"), &setup.snippet))
            }
            @if !setup.next.is_empty() {
                p class="hint" lang="en" { (setup.next) }
            }
        }
    }
}

/// Clients that have called and are none of the known ones.
fn others(
    words: &Words,
    here: &[ClientSetup],
    elsewhere: &[ClientSetup],
    first_calls: &BTreeMap<String, i64>,
) -> Markup {
    let is_known = |name: &str| here.iter().chain(elsewhere).any(|it| it.is_named(name));
    let others: Vec<_> = first_calls
        .iter()
        .filter(|(name, _)| !is_known(name))
        .collect();
    html! {
        section id="others" data-live {
            h2 { (words.pick("Other clients that have called", "呼び出しのあったほかのクライアント")) }
            @if others.is_empty() { p class="hint" { (words.pick("None.", "ありません。")) } }
            ul {
                @for (name, at) in others {
                    li { (excerpt(name, 100)) " · " (time(words, *at)) }
                }
            }
        }
    }
}
