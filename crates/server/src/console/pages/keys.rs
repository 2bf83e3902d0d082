//! API keys: make, rotate, revoke. A key itself is shown once, when it is made.

use desk::{
    Desk, key_change,
    keys::{self, NewKey, StoredKey},
};
use jiff::{ToSpan, civil::Date, tz::TimeZone};
use kit::{Caller, Error, Result};
use maud::{Markup, html};

use super::{
    super::{
        fields::Fields,
        handlers::Reaction,
        parts::{
            Notice, copyable, excerpt, field, form_token, notice, select, table, text_field, time,
        },
        view::{Page, View},
        words::Words,
    },
    agents::{scope, state},
};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// How long an old key stays valid after a rotation, in hours.
const GRACE: [(&str, &str, &str); 3] = [
    ("0", "the old one ends at once", "古いキーはすぐ無効"),
    (
        "1",
        "the old one ends in an hour",
        "古いキーは1時間後に無効",
    ),
    ("24", "the old one ends in a day", "古いキーは1日後に無効"),
];

pub async fn page(view: View) -> Result<Page> {
    listed(&view, html! {}).await
}

/// All keys, below what is to be said first.
async fn listed(view: &View, first: Markup) -> Result<Page> {
    let (desk, words) = (&view.desk, view.words);
    let now = desk.clock.now().as_millisecond();
    let keys = keys::list(desk.state.get().await?).await?;
    let (valid, over): (Vec<_>, Vec<_>) = keys.iter().partition(|key| is_valid(key, now));
    let title = words.pick("Keys", "キー");
    let columns = words.pick_all([
        ("Name", "名前"),
        ("State", "状態"),
        ("May use", "使えるもの"),
        ("Made", "作成"),
        ("Last use", "最後の利用"),
        ("Expires", "期限"),
        ("Change", "操作"),
    ]);
    let rows = |keys: &[&StoredKey]| keys.iter().map(|key| row(view, key, now)).collect();
    let main = html! {
        h1 { (title) }
        (first)
        @if valid.is_empty() {
            p { (words.pick("There is no valid key.", "有効なキーはありません。")) }
        } @else {
            (table(title, &columns, rows(&valid)))
        }
        @if !over.is_empty() {
            details {
                summary { (words.pick("Keys that are no longer valid", "無効になったキー")) }
                (table(title, &columns, rows(&over)))
            }
        }
        (new_key(view))
    };
    Ok(Page::new(title, main))
}

fn is_valid(key: &StoredKey, now: i64) -> bool {
    key.revoked_at.is_none() && key.expires_at.is_none_or(|at| at > now)
}

fn row(view: &View, key: &StoredKey, now: i64) -> Vec<Markup> {
    let words = view.words;
    let moment = |at: Option<i64>| {
        html! { @match at { Some(at) => (time(words, at)), None => "–" } }
    };
    let name = format!("key-{}", key.id);
    let grace = GRACE.map(|(value, english, japanese)| (value, words.pick(english, japanese)));
    let change = html! {
        @if is_valid(key, now) {
            details {
                summary { (words.pick("Rotate or revoke", "更新・失効")) }
                form method="post" action="/console/keys/rotate" {
                    (form_token(&view.form_token))
                    input type="hidden" name="id" value=(key.id);
                    (field(&format!("{name}-grace"), words.pick("A new secret", "新しいキーに更新"), None,
                        select(&format!("{name}-grace"), "grace", "0", &grace)))
                    button { (words.pick("Rotate", "更新")) }
                }
                form method="post" action="/console/keys/revoke" {
                    (form_token(&view.form_token))
                    input type="hidden" name="id" value=(key.id);
                    button class="danger" { (words.pick("Revoke for good", "完全に失効させる")) }
                }
            }
        }
    };
    vec![
        html! { (excerpt(&key.name, 100)) " " code { (key.id) } },
        state(words, key, now),
        html! {
            (scope(words, &key.counters, &key.tools, key.read_only))
            @if let Some(file) = &key.file { " " code { (file) } }
            @if key.trust_client_prompts {
                " " (words.pick("(its client may approve)", "（クライアントが承認可）"))
            }
        },
        time(words, key.created_at),
        moment(key.last_used_at),
        moment(key.expires_at),
        change,
    ]
}

fn new_key(view: &View) -> Markup {
    let words = view.words;
    html! {
        section aria-labelledby="new-title" {
            h2 id="new-title" { (words.pick("A new key", "新しいキー")) }
            form method="post" action="/console/keys" {
                (form_token(&view.form_token))
                div class="fields" {
                    (field("name", words.pick("Name", "名前"),
                        Some(words.pick("Who uses it, such as claude-desktop", "使う相手。例：claude-desktop")),
                        html! { input id="name" name="name" type="text" required maxlength="100" autocomplete="off"; }))
                    (field("tools", words.pick("Only these tools", "使えるツールを限る"),
                        Some(words.pick("Names, separated by commas; empty for all", "名前をコンマ区切りで。空ならすべて")),
                        text_field("tools", "tools", "")))
                    (field("expires", words.pick("Last day", "最後の日"),
                        Some(words.pick("Empty: it does not expire", "空なら無期限")),
                        html! { input id="expires" name="expires" type="date"; }))
                }
                fieldset {
                    legend { (words.pick("Counters that it may use; choose none to allow all", "使える窓口（何も選ばなければすべて）")) }
                    @for served in &view.desk.counters {
                        @let about = &served.counter.about;
                        label class="check" {
                            input type="checkbox" name="counter" value=(about.name);
                            (about.title_in(words.language()))
                        }
                    }
                }
                label class="check" {
                    input type="checkbox" name="read_only" value="yes";
                    (words.pick("May only read", "読み取りのみ"))
                }
                label class="check" {
                    input type="checkbox" name="trust" value="yes";
                    (words.pick(
                        "Its client's own prompt may approve for you; only for a client that you trust",
                        "クライアント自身の確認画面での承認を認める（信頼できるクライアントだけ）"
                    ))
                }
                button class="primary" { (words.pick("Make the key", "キーを作る")) }
            }
        }
    }
}

pub async fn create(view: View, fields: Fields) -> Result<Reaction> {
    let desk = &view.desk;
    let made = match wanted(desk, &fields) {
        Ok(wanted) => key_change::create(desk, Caller::console(), wanted).await,
        Err(error) => Err(error),
    };
    shown_once(&view, made).await
}

/// What the form asks for. Names of counters and tools must exist.
fn wanted(desk: &Desk, fields: &Fields) -> Result<NewKey> {
    let name = fields.get("name").trim().to_owned();
    let configured = &desk.settings.identity.keys;
    if configured.iter().any(|key| key.name == name) {
        let what = format!("A key in the configuration is called `{name}`.");
        return Err(Error::new("KEY_NAME_TAKEN", what)
            .next("Choose another name, so that people can tell the two apart.")
            .japanese(format!(
                "設定ファイルに「{name}」という名前のキーがあります。別の名前を選んでください。"
            )));
    }
    let counters: Vec<String> = fields.all("counter").map(str::to_owned).collect();
    let is_open = |name: &str| counters.is_empty() || counters.iter().any(|own| own == name);
    if let Some(unknown) = counters.iter().find(|name| desk.counter(name).is_none()) {
        return Err(unknown_name("counter", unknown));
    }
    let tools = fields.get("tools").split([',', '、']).map(str::trim);
    let tools: Vec<String> = tools
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect();
    let is_tool = |tool: &str| {
        let counters = desk.counters.iter().map(|served| &served.counter);
        let mut open = counters.filter(|counter| is_open(counter.about.name));
        open.any(|counter| counter.tool(tool).is_some())
    };
    if let Some(unknown) = tools.iter().find(|tool| !is_tool(tool)) {
        return Err(unknown_name("tool", unknown));
    }
    Ok(NewKey {
        name,
        counters,
        tools,
        read_only: fields.get("read_only") == "yes",
        trust_client_prompts: fields.get("trust") == "yes",
        expires_at: last_day(fields.get("expires"))?,
        file: None,
    })
}

fn unknown_name(what: &str, name: &str) -> Error {
    let text = format!("There is no {what} `{name}`.");
    let japanese = format!("「{name}」はありません。名前を確かめてください。");
    Error::new("UNKNOWN_NAME", text)
        .next("Check its name on the page of tools.")
        .japanese(japanese)
}

/// The end of a day in the zone of the desk.
fn last_day(text: &str) -> Result<Option<i64>> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let end = |text: &str| {
        let day: Date = text.trim().parse().ok()?;
        let next = day.checked_add(1.days()).ok()?;
        let begin = next.to_zoned(TimeZone::system()).ok()?;
        Some(begin.timestamp().as_millisecond())
    };
    let end = end(text).ok_or_else(|| {
        Error::new("INVALID_DATE", "The last day is not a day.")
            .next("Write it like 2026-11-16.")
            .japanese("最後の日が日付ではありません。2026-11-16 のように書いてください。")
    });
    end.map(Some)
}

pub async fn rotate(view: View, fields: Fields) -> Result<Reaction> {
    let hours: i64 = fields.get("grace").parse().unwrap_or(0);
    let desk = &view.desk;
    let grace = hours.clamp(0, 24) * HOUR_MS;
    let made = key_change::rotate(desk, Caller::console(), fields.get("id"), grace).await;
    // The old key ends before the page says so, not when the desk next looks. If that fails,
    // the new key is shown all the same: nobody could ever see it again.
    if let Err(error) = desk.keyring.refresh().await {
        tracing::warn!(cause = ?error.cause, "keys could not be read after one was rotated");
    }
    shown_once(&view, made).await
}

pub async fn revoke(view: View, fields: Fields) -> Result<Reaction> {
    let (desk, words) = (&view.desk, view.words);
    let revoked = key_change::revoke(desk, Caller::console(), fields.get("id")).await;
    desk.keyring.refresh().await?;
    let said = match revoked {
        Ok(key) => Notice::Good(match words.tag {
            "ja" => format!(
                "キー「{}」を失効させました。接続はすぐに閉じられます。",
                key.name
            ),
            _ => format!(
                "The key {} is revoked. Its connections close at once.",
                key.name
            ),
        }),
        Err(error) => failed(words, error)?,
    };
    Ok(Reaction::Page(listed(&view, notice(&said)).await?))
}

/// The page with the key itself, or with what is wrong.
async fn shown_once(view: &View, made: Result<(StoredKey, String)>) -> Result<Reaction> {
    let words = view.words;
    let is_made = made.is_ok();
    let first = match made {
        Ok((kept, key)) => {
            let text = match words.tag {
                "ja" => format!("「{}」のキーです。ここで一度だけ表示されます。", kept.name),
                _ => format!(
                    "The key of {}. It is shown here once, and nowhere again.",
                    kept.name
                ),
            };
            html! {
                (notice(&Notice::Good(text)))
                (copyable(words, words.pick("Key", "キー"), &key))
            }
        }
        Err(error) => notice(&failed(words, error)?),
    };
    let page = match listed(view, first.clone()).await {
        Err(_) if is_made => Page::new(words.pick("Keys", "キー"), first),
        page => page?,
    };
    Ok(Reaction::Page(page))
}

/// What is wrong with a form; trouble of the desk itself is passed on.
fn failed(words: &Words, error: Error) -> Result<Notice> {
    match error.is_internal() {
        true => Err(error),
        false => Ok(Notice::Bad(error.in_language(words.language()).text())),
    }
}
