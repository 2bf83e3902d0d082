//! `contacts.search`: who is in the address book.

use std::sync::Arc;

use kit::{Context, Effect, Result, Run, Sql, Tool, context::Language};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LOOKS, OK, arguments, first_step};
use crate::{
    model::address::Platform,
    recipients,
    store::{Kind, contacts::Contact},
    voice::Voice,
};

#[derive(Deserialize)]
pub struct Input {
    query: Option<String>,
    limit: Option<i64>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "Part of a name, a reading or an e-mail address; everybody unless given",
                "maxLength": 320
            },
            "limit": {
                "type": "integer",
                "description": "At most so many contacts",
                "minimum": 1,
                "maximum": 100
            }
        }
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    // One sentence to read out; the instructions say so.
    message: String,
    contacts: Vec<View>,
}

#[derive(Serialize, JsonSchema)]
struct View {
    /// What message_send takes as `to`.
    contact_id: String,
    name: String,
    emails: Vec<String>,
    phones: Vec<String>,
}

const LIMIT: i64 = 20;

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "contacts.search",
        aliases: &["contacts_search"],
        title: "Search the address book",
        description: "Find people in the address book by a part of their name, its reading, or \
            their address.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: LOOKS,
        effect: Effect::Read,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            arguments::text(arguments, "query");
            arguments::integer(arguments, "limit");
        },
        meta: None,
        personal: &["query"],
        card: None,
        inner_calls: None,
        run: Run::query(voice, handle),
    }
}

fn handle(_: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let query = input.query.unwrap_or_default();
    let found = recipients::search(sql, &query, input.limit.unwrap_or(LIMIT))?;
    let mut message = message(context.language, &found);
    if found.is_empty() {
        message.push_str(first_step::after(sql, Kind::Contact, context.language)?);
    }
    Ok(Output {
        status: OK,
        message,
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
