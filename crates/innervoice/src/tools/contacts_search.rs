//! `contacts.search`: searches the address book.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Language, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{OK, arguments, first_step};
use crate::{
    answers::{AsListed, by_name},
    model::address::Platform,
    recipients,
    state::CounterState,
    store::{self, RowKind, contacts::Contact},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Part of a name, reading (Tanaka finds 田中) or address; everybody unless given
    #[schemars(length(max = 320))]
    query: Option<String>,
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    // One sentence to read out; the instructions say so.
    message: String,
    contacts: Vec<View>,
    // Why it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AsListed>")]
    details: Option<Map<String, Value>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = by_name)]
struct View {
    contact_id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reading: Option<String>,
    emails: Vec<String>,
    phones: Vec<String>,
}

const LIMIT: i64 = 20;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "contacts.search",
            title: "Find contacts",
            description: "Find people in the address book; message_send takes contact_id as to.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .in_japanese("連絡先の検索")
    .aliases(&["contacts_search"])
    .normalise(|_, arguments| {
        arguments::text(arguments, "query");
        arguments::integer(arguments, "limit");
    })
    .personal(&["query"])
}

fn handle(_: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let query = input.query.unwrap_or_default();
    let found = recipients::search(sql, &query, input.limit.unwrap_or(LIMIT))?;
    let mut message = message(context.language, &found);
    let mut details = None;
    if found.is_empty() {
        if store::is_empty(sql, RowKind::Contact)? {
            message = match context.language {
                Language::English => "The address book is empty.".into(),
                Language::Japanese => "アドレス帳は空です。".into(),
            };
        }
        details = Some(first_step::details(sql, RowKind::Contact)?);
    }
    Ok(Output {
        status: OK,
        message,
        details,
        contacts: found.iter().map(view).collect(),
    })
}

fn view(contact: &Contact) -> View {
    let of = |platform: Platform| {
        let own = contact.addresses.iter().filter(|(of, _)| *of == platform);
        own.map(|(_, address)| address.clone()).collect()
    };
    View {
        contact_id: contact.id.clone(),
        name: contact.name.clone(),
        reading: contact.reading.clone(),
        emails: of(Platform::Email),
        phones: of(Platform::Sms),
    }
}

fn message(language: Language, found: &[Contact]) -> String {
    let names: Vec<&str> = found.iter().take(3).map(|one| one.name.as_str()).collect();
    match (language, found.len()) {
        (Language::English, 0) => "I found nobody.".into(),
        (Language::English, 1..=3) => format!("I found {}.", names.join(", ")),
        (Language::English, count) => {
            format!("I found {count} people, {} and others.", names.join(", "))
        }
        (Language::Japanese, 0) => "見つかりませんでした。".into(),
        (Language::Japanese, 1..=3) => format!("{}が見つかりました。", names.join("、")),
        (Language::Japanese, count) => {
            format!("{}など{count}人が見つかりました。", names.join("、"))
        }
    }
}
