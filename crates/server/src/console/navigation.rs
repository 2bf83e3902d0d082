//! The list of pages, which is on all of them.

use desk::Desk;
use maud::{Markup, html};

use super::words::Words;

/// Address, English and Japanese name of each page.
const PAGES: [(&str, &str, &str); 10] = [
    ("/console/", "Overview", "概要"),
    (APPROVALS, "Approvals", "確認"),
    ("/console/connect", "Connect", "接続"),
    ("/console/agents", "Agents", "エージェント"),
    ("/console/tools", "Tools", "ツール"),
    ("/console/audit", "Audit", "監査"),
    ("/console/keys", "Keys", "キー"),
    ("/console/policies", "Policies", "ポリシー"),
    ("/console/settings", "Settings", "設定"),
    ("/console/health", "Health", "状態"),
];

const APPROVALS: &str = "/console/approvals";

/// How many questions wait, beside the link to them. `None`: it is not to be told yet, or
/// not known; a script fills it in.
fn waiting(words: &Words, count: Option<i64>) -> Markup {
    let count = count.unwrap_or_default();
    html! {
        span id="waiting" class="count" hidden[count == 0] {
            b { (count) } span class="unseen" { (words.pick(" waiting", "件が確認待ち")) }
        }
    }
}

/// `path`: that of the page that shows it. `count`: how many questions wait.
pub fn navigation(desk: &Desk, words: &Words, path: &str, count: Option<i64>) -> Markup {
    let is_here = |address: &str| {
        let below = path.strip_prefix(address);
        let is_overview = address == "/console/";
        (is_overview && path == "/")
            || below.is_some_and(|rest| rest.is_empty() || (!is_overview && rest.starts_with('/')))
    };
    let entry = |address: &str, name: &str| {
        html! {
            li {
                a href=(address) aria-current=[is_here(address).then_some("page")] {
                    (name)
                    @if address == APPROVALS { " " (waiting(words, count)) }
                }
            }
        }
    };
    html! {
        nav aria-label=(words.pick("Pages", "ページ")) {
            ul role="list" {
                @for (address, english, japanese) in PAGES {
                    (entry(address, words.pick(english, japanese)))
                }
            }
            ul role="list" aria-label=(words.pick("Counters", "窓口")) {
                @for served in &desk.counters {
                    @let about = &served.counter.about;
                    (entry(&format!("/console/{}", about.name), about.title_in(words.language())))
                }
            }
        }
    }
}
