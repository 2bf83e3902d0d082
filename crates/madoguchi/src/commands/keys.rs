//! `madoguchi keys`: creates, lists, rotates and revokes API keys.

use std::{process::ExitCode, sync::Arc};

use desk::{
    Desk, key_change,
    keys::{self, NewKey, StoredKey},
};
use jiff::{Span, Timestamp, Zoned, civil::Date, tz::TimeZone};
use kit::{Caller, Error, Result, context::Language, text::visible};
use serde_json::{Value, json};

use crate::{
    cli::{CounterOptions, CreateKey, Global, KeysAction},
    config::Config,
    descriptions,
    locale::{self, pick},
    open,
    output::{Cell, Look, Styled, pretty, table},
    running,
    runtime::on_one_thread,
};

pub fn run(global: &Global, action: &KeysAction) -> Result<ExitCode> {
    let mut config = open::configuration(global, &CounterOptions::default())?;
    running::use_its_console(global, &mut config);
    if let KeysAction::Create(create) = action {
        check_names(&config, create)?;
    }
    let desk_url = config.settings.console_url();
    on_one_thread(async {
        let opened = open::own_desk(global, config)?;
        let text = act(&opened.desk, action, &desk_url).await;
        opened.close().await?;
        text?.print()
    })
}

async fn act(desk: &Arc<Desk>, action: &KeysAction, desk_url: &str) -> Result<Styled> {
    let (state, user) = (desk.state.get().await?, Caller::local_user());
    let now = state.store.clock().now();
    let now_ms = now.as_millisecond();
    match action {
        KeysAction::Create(create) => {
            let file = create.file.as_deref().and_then(|file| file.split_once('/'));
            let wanted = NewKey {
                name: create.name.clone(),
                counters: match file {
                    Some((counter, _)) => vec![counter.into()],
                    None => create.counters.clone(),
                },
                file: file.map(|(_, file)| file.into()),
                tools: create.tools.clone(),
                read_only: create.read_only,
                trust_client_prompts: create.trust_client_prompts,
                expires_at: create
                    .expires
                    .as_deref()
                    .map(|text| moment(text, now))
                    .transpose()?,
            };
            let (kept, key) = key_change::create(desk, user, wanted).await?;
            Ok(shown_once(&kept, &key, desk_url, create.json, "made"))
        }
        KeysAction::List { json, all } => {
            let mut kept = keys::list(state).await?;
            kept.retain(|key| *all || status(key, now_ms) == "valid");
            Ok(if *json {
                let kept: Vec<Value> = kept.iter().map(|key| described(key, now_ms)).collect();
                pretty(&Value::Array(kept)).into()
            } else {
                listed(&kept, now_ms)
            })
        }
        KeysAction::Rotate { key, grace, json } => {
            let until = grace.as_deref().map(|text| moment(text, now)).transpose()?;
            let grace = until.map_or(0, |until| until - now_ms);
            let (kept, secret) = key_change::rotate(desk, user, key, grace).await?;
            Ok(shown_once(&kept, &secret, desk_url, *json, "rotated"))
        }
        KeysAction::Revoke { key, json } => {
            let kept = key_change::revoke(desk, user, key).await?;
            Ok(if *json {
                pretty(&described(&kept, now_ms)).into()
            } else {
                format!(
                    "The key {} ({}) is revoked. Its open connections close within a second.",
                    visible(&kept.name),
                    kept.id
                )
                .into()
            })
        }
    }
}

fn check_names(config: &Config, create: &CreateKey) -> Result<()> {
    let configured = &config.settings.identity.keys;
    if configured.iter().any(|key| key.name == create.name.trim()) {
        return Err(Error::new(
            "KEY_NAME_TAKEN",
            format!(
                "A key in the configuration is called `{}`.",
                create.name.trim()
            ),
        )
        .next("Choose another name, so that people can tell the two apart."));
    }
    let options = CounterOptions {
        fixture: true,
        ..CounterOptions::default()
    };
    let all = descriptions::described(config, &options, None)?;
    if let Some(file) = &create.file {
        let files = all.iter().flat_map(|counter| {
            let names = counter
                .files
                .as_ref()
                .map_or(&[][..], |files| files.names());
            names
                .iter()
                .map(|name| format!("{}/{name}", counter.about.name))
        });
        let files: Vec<String> = files.collect();
        descriptions::known("file", file, files.iter().map(String::as_str))?;
    }
    for counter in &create.counters {
        descriptions::known("counter", counter, all.iter().map(|c| c.about.name))?;
    }
    let within =
        |name: &str| create.counters.is_empty() || create.counters.iter().any(|c| c == name);
    let tools = all.iter().filter(|counter| within(counter.about.name));
    for tool in &create.tools {
        descriptions::known(
            "tool",
            tool,
            tools.clone().flat_map(descriptions::tool_names),
        )?;
    }
    Ok(())
}

/// `30d`, `12h`, `2027-01-31` (the end of that day, local time) or a full time.
fn moment(text: &str, now: Timestamp) -> Result<i64> {
    let invalid = || {
        Error::new("INVALID_TIME", format!("`{text}` is not a time in the future."))
            .next("Write a duration like 30d or 12h, a day like 2027-01-31, or a full time like 2027-01-31T12:00:00Z.")
    };
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at.as_millisecond());
    }
    let zone = TimeZone::system();
    if let Ok(day) = text.parse::<Date>() {
        let next = day.tomorrow().map_err(|_| invalid())?;
        let end = next.to_zoned(zone).map_err(|_| invalid())?;
        return Ok(end.timestamp().as_millisecond());
    }
    let span: Span = text.parse().map_err(|_| invalid())?;
    let from = Zoned::new(now, zone);
    let at = from.checked_add(span).map_err(|_| invalid())?;
    if at <= from {
        return Err(invalid());
    }
    Ok(at.timestamp().as_millisecond())
}

fn status(key: &StoredKey, now: i64) -> &'static str {
    match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(at)) if at <= now => "expired",
        _ => "valid",
    }
}

fn described(key: &StoredKey, now: i64) -> Value {
    json!({
        "id": key.id,
        "name": key.name,
        "status": status(key, now),
        "counters": key.counters,
        "tools": key.tools,
        "file": key.file,
        "read_only": key.read_only,
        "trust_client_prompts": key.trust_client_prompts,
        "created_at": locale::utc(key.created_at),
        "expires_at": key.expires_at.map(locale::utc),
        "revoked_at": key.revoked_at.map(locale::utc),
        "last_used_at": key.last_used_at.map(locale::utc),
    })
}

/// Prints the key itself; it can't be shown again.
fn shown_once(kept: &StoredKey, key: &str, desk_url: &str, as_json: bool, what: &str) -> Styled {
    let url = kept.path(key).map(|path| format!("{desk_url}{path}"));
    if as_json {
        let mut all = described(kept, Timestamp::now().as_millisecond());
        if let Some(all) = all.as_object_mut() {
            all.insert("key".into(), key.into());
            if let Some(url) = url {
                all.insert("url".into(), url.into());
            }
        }
        return pretty(&all).into();
    }
    let scope = scope(kept);
    let (name, id) = (visible(&kept.name), &kept.id);
    let mut text = Styled::default();
    match url {
        Some(url) => text.add(Look::Action, &url).plain(&format!(
            "\n\nThe address {name} ({id}) was {what}. Anyone who knows it can read {scope}. It is shown only once: subscribe to it now, and revoke it when it is no longer needed."
        )),
        None => text.add(Look::Action, key).plain(&format!(
            "\n\nThe key {name} ({id}) was {what}. It allows {scope}. It is shown only once: store it where its agent can read it.\nAuthorization: Bearer KEY"
        )),
    };
    text
}

fn scope(key: &StoredKey) -> String {
    let list = |names: &[String], all: &str| match names {
        [] => all.to_owned(),
        names => names.join(", "),
    };
    if let (Some(file), Some(counter)) = (&key.file, key.counters.first()) {
        return format!("{counter}/{file}");
    }
    let mut text = list(&key.counters, "all counters");
    if !key.tools.is_empty() {
        text.push_str(&format!(" (only {})", key.tools.join(", ")));
    }
    if key.read_only {
        text.push_str(", read-only");
    }
    text
}

fn listed(keys: &[StoredKey], now: i64) -> Styled {
    if keys.is_empty() {
        return pick(
            "There are no keys. Create one with: madoguchi keys create NAME",
            "キーはありません。作成するには: madoguchi keys create NAME",
        )
        .into();
    }
    let rows = keys.iter().map(|key| {
        let used = |at: i64| format!("{} ({})", locale::written(at), locale::distance(at, now));
        let look = match status(key, now) {
            "valid" => Look::Good,
            _ => Look::Bad,
        };
        let expires = key.expires_at.map(locale::written);
        [
            Cell::new(Look::Bold, &key.id),
            Cell::from(&*key.name),
            Cell::new(look, status(key, now)),
            scope(key).into(),
            expires.map_or_else(|| pick("never", "なし").into(), Cell::from),
            key.last_used_at
                .map_or_else(|| "-".into(), |at| used(at).into()),
        ]
    });
    let head = match locale::language() {
        Language::English => ["id", "name", "status", "opens", "expires", "last used"],
        Language::Japanese => ["ID", "名前", "状態", "使える窓口", "期限", "最終使用"],
    };
    table(head, rows)
}
