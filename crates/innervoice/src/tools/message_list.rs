//! `message.list`: lists messages and their status.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Language, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{OK, arguments, first_step};
use crate::{
    answers::{AsListed, MessageView},
    model::address::Platform,
    state::CounterState,
    store::{
        RowKind,
        outbox::{self, OutboxItem},
    },
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(extend("enum" = ["queued", "sending", "sent", "failed", "unknown", "cancelled"]))]
    status: Option<String>,
    #[schemars(range(min = 1, max = 200))]
    limit: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    // One sentence to read out; the instructions say so.
    message: String,
    messages: Vec<MessageView>,
    has_more: bool,
    // Why it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AsListed>")]
    details: Option<Map<String, Value>>,
}

const LIMIT: i64 = 20;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "message.list",
            title: "List messages",
            description: "List the newest messages and what became of them.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .in_japanese("メッセージの一覧")
    .aliases(&["message_list"])
    .normalise(|_, arguments| {
        arguments::narrow(arguments, "status");
        arguments::integer(arguments, "limit");
    })
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let limit = input.limit.unwrap_or(LIMIT);
    let mut found = outbox::messages(sql, input.status.as_deref(), limit + 1)?;
    let has_more = super::cut_to(&mut found, limit);
    let views: Vec<MessageView> = found
        .iter()
        .map(|item| MessageView::of(item, is_configured(state, item), &state.zone))
        .collect();
    let held = views.iter().filter(|view| view.held.is_some()).count();
    let mut details = None;
    if found.is_empty() {
        let mut why = first_step::details(sql, RowKind::Message)?;
        if input.status.is_some() {
            let newest = outbox::messages(sql, None, 1)?.into_iter().next();
            why.insert(
                "newest".into(),
                json!(newest.map(|item| (item.id, item.status))),
            );
        }
        details = Some(why);
    }
    Ok(Output {
        status: OK,
        message: message(
            context.language,
            &found,
            held,
            has_more,
            input.status.as_deref(),
        ),
        messages: views,
        has_more,
        details,
    })
}

fn is_configured(state: &CounterState, item: &OutboxItem) -> bool {
    Platform::read(&item.channel).is_some_and(|platform| state.sends(platform))
}

fn message(
    language: Language,
    found: &[OutboxItem],
    held: usize,
    has_more: bool,
    status: Option<&str>,
) -> String {
    let with = |status: &str| found.iter().filter(|item| item.status == status).count();
    let waiting = with("queued");
    let count = found.len();
    let undelivered = undelivered(language, with("failed"), with("unknown"));
    let english = match (count, has_more) {
        (_, true) => format!("The newest {count} messages"),
        (0, false) => "No messages".into(),
        (1, false) => "One message".into(),
        (_, false) => format!("{count} messages"),
    };
    let japanese = match has_more {
        true => format!("最新のメッセージ{count}件のうち"),
        false => format!("メッセージは{count}件、うち"),
    };
    match (language, held) {
        (Language::English, _) if count == 0 => match status {
            Some(status) => format!("{english} are {status}."),
            None => format!("{english}."),
        },
        (Language::English, 0) => {
            format!("{english}, {waiting} waiting to be sent.{undelivered}")
        }
        (Language::English, _) => format!(
            "{english}, {held} kept in the outbox because sending is not configured.{undelivered}"
        ),
        (Language::Japanese, _) if count == 0 && status.is_some() => {
            "その状態のメッセージはありません。".into()
        }
        (Language::Japanese, _) if count == 0 => "メッセージはありません。".into(),
        (Language::Japanese, 0) => format!("{japanese}送信待ちは{waiting}件です。{undelivered}"),
        (Language::Japanese, _) => format!(
            "{japanese}{held}件は送信が設定されていないため送信箱に残っています。{undelivered}"
        ),
    }
}

/// Whoever only hears the sentence learns of these too.
fn undelivered(language: Language, failed: usize, unknown: usize) -> String {
    let failed = match (language, failed) {
        (_, 0) => String::new(),
        (Language::English, 1) => " One could not be sent.".into(),
        (Language::English, _) => format!(" {failed} could not be sent."),
        (Language::Japanese, _) => format!("送信できなかったものが{failed}件あります。"),
    };
    let unknown = match (language, unknown) {
        (_, 0) => String::new(),
        (Language::English, 1) => " One may not have arrived.".into(),
        (Language::English, _) => format!(" {unknown} may not have arrived."),
        (Language::Japanese, _) => format!("届いたか分からないものが{unknown}件あります。"),
    };
    failed + &unknown
}
