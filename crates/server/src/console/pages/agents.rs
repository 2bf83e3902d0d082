//! Who calls, and what each of them did.

use desk::{
    keys::{self, StoredKey},
    stations::identify::configured_caller,
};
use kit::{Caller, Result};
use maud::{Markup, html};

use super::{
    super::{
        parts::{Tone, excerpt, table, tag, time},
        view::{Page, View, link},
        words::Words,
    },
    audit::{AuditQuery, Extent, results},
};

pub async fn page(view: View) -> Result<Page> {
    match view.address.get("caller") {
        Some(caller) => timeline(&view, caller).await,
        None => list(&view).await,
    }
}

async fn list(view: &View) -> Result<Page> {
    let (desk, words) = (&view.desk, view.words);
    let now = desk.clock.now().as_millisecond();
    let keys = keys::list(desk.state.get().await?).await?;
    let mut rows: Vec<_> = keys.iter().map(|key| key_row(words, key, now)).collect();
    for configured in &desk.settings.identity.keys {
        let Some(caller) = configured_caller(configured) else {
            continue;
        };
        let kind = words.pick("in the configuration", "設定ファイルのキー");
        rows.push(vec![
            caller_link(&caller),
            tag(Tone::Neutral, kind),
            html! { (scope(words, &configured.counters, &configured.tools, false)) },
            html! { "–" },
        ]);
    }
    let others = [
        (Caller::anonymous(), words.pick("without a key", "キーなし")),
        (
            Caller::local_user(),
            words.pick("a program that you started", "利用者が起動したプログラム"),
        ),
        (
            Caller::console(),
            words.pick("people at this console", "このコンソールを使う人"),
        ),
    ];
    for (caller, kind) in others {
        let may_use = match caller == Caller::anonymous() {
            true => without_key(view),
            false => words.pick("all counters", "すべての窓口").to_owned(),
        };
        rows.push(vec![
            caller_link(&caller),
            tag(Tone::Neutral, kind),
            html! { (may_use) },
            html! { a href=(timeline_of(&caller)) { (words.pick("its timeline", "履歴")) } },
        ]);
    }
    let title = words.pick("Agents", "エージェント");
    let columns = words.pick_all([
        ("Name", "名前"),
        ("Key", "キー"),
        ("May use", "使えるもの"),
        ("Last use", "最後の利用"),
    ]);
    let main = html! {
        h1 { (title) }
        p class="hint" { (words.pick(
            "Everybody who may call this desk. A name leads to all that it did.",
            "この窓口を呼び出せるものの一覧です。名前を選ぶと、その履歴が見られます。"
        )) }
        (table(title, &columns, rows))
    };
    Ok(Page::new(title, main))
}

/// What callers without a key may use.
fn without_key(view: &View) -> String {
    let (desk, words) = (&view.desk, view.words);
    let names = desk.counters.iter().map(|served| served.counter.about.name);
    let open: Vec<&str> = names.filter(|name| !desk.needs_key(name)).collect();
    let open = match open.is_empty() {
        true => words.pick("nothing", "なし").to_owned(),
        false => open.join(", "),
    };
    // A counter's own port has a setting of its own.
    format!("{}{open}", words.pick("main port: ", "メインポート："))
}

fn timeline_of(caller: &Caller) -> String {
    link("/console/agents", &[("caller", &caller.id)])
}

fn caller_link(caller: &Caller) -> Markup {
    html! { a href=(timeline_of(caller)) { (excerpt(&caller.name, 100)) } }
}

fn key_row(words: &Words, key: &StoredKey, now: i64) -> Vec<Markup> {
    vec![
        caller_link(&Caller::with_key(&key.id, &key.name)),
        state(words, key, now),
        html! { (scope(words, &key.counters, &key.tools, key.read_only)) },
        html! { @match key.last_used_at { Some(at) => (time(words, at)), None => "–" } },
    ]
}

/// Whether a key is valid.
pub fn state(words: &Words, key: &StoredKey, now: i64) -> Markup {
    let is_over = key.expires_at.is_some_and(|at| at <= now);
    match (key.revoked_at, is_over) {
        (Some(_), _) => tag(Tone::Bad, words.pick("Revoked", "失効")),
        (None, true) => tag(Tone::Warning, words.pick("Expired", "期限切れ")),
        (None, false) => tag(Tone::Good, words.pick("Valid", "有効")),
    }
}

/// What a key opens, in words.
pub fn scope(words: &Words, counters: &[String], tools: &[String], read_only: bool) -> String {
    let counters = match counters.is_empty() {
        true => words.pick("all counters", "すべての窓口").to_owned(),
        false => counters.join(", "),
    };
    let tools = match tools.is_empty() {
        true => String::new(),
        false => format!(": {}", tools.join(", ")),
    };
    let reads = match read_only {
        true => words.pick(" (read-only)", "（読み取りのみ）"),
        false => "",
    };
    format!("{counters}{tools}{reads}")
}

/// Everything that one caller did, newest first.
async fn timeline(view: &View, caller: &str) -> Result<Page> {
    let (desk, words) = (&view.desk, view.words);
    let wanted = AuditQuery {
        caller: caller.to_owned(),
        ..AuditQuery::default()
    };
    let keys = keys::list(desk.state.get().await?).await?;
    let key = keys
        .iter()
        .find(|key| *Caller::with_key(&key.id, &key.name).id == *caller);
    let name = key.map_or(caller, |key| &key.name);
    let now = desk.clock.now().as_millisecond();
    let title = words.pick("Agent", "エージェント");
    let main = html! {
        h1 { (excerpt(name, 100)) }
        @if let Some(key) = key {
            p {
                (state(words, key, now)) " "
                (scope(words, &key.counters, &key.tools, key.read_only)) " "
                a href="/console/keys" { (words.pick("Its key", "キーの管理")) }
            }
        }
        (results(view, &wanted, Extent::PAGE, false).await?)
    };
    Ok(Page::new(
        format!("{title}: {}", kit::text::visible(name)),
        main,
    ))
}
