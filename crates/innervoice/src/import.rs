//! Imports an address book: vCard, CSV or JSON.

use std::{path::Path, sync::Arc};

use kit::{
    BoxFuture, Context, Error, Result, Sql,
    counter::{Import, Imported, InvalidRows, Problem},
    sql::Budget,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{
    bounds::{LONGEST_NAME, MOST_ADDRESSES, MOST_NAMES},
    model::{
        address::{self, Platform},
        names,
        vcard::{self, Card},
    },
    state::CounterState,
    store::contacts,
};

/// Cards in one transaction.
const BATCH: usize = 500;
/// Problems that are listed; the rest are only counted.
const MOST_PROBLEMS: usize = 100;
/// The largest file in bytes. No address book is larger.
const LARGEST: u64 = 64 * 1024 * 1024;

pub struct AddressBook {
    state: Arc<CounterState>,
}

impl AddressBook {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
        }
    }
}

impl Import for AddressBook {
    fn import<'a>(
        &'a self,
        context: &'a Context,
        file: &'a Path,
        _: InvalidRows,
    ) -> BoxFuture<'a, Result<Imported>> {
        Box::pin(import(&self.state, context, file))
    }
}

async fn import(state: &CounterState, context: &Context, path: &Path) -> Result<Imported> {
    let cards = read(path, &state.settings.country_code)?;
    let mut imported = Imported::default();
    let (mut usable, mut problems) = (Vec::new(), Vec::new());
    for mut card in cards {
        card.other_names
            .retain(|name| name.chars().count() <= LONGEST_NAME);
        card.other_names.truncate(MOST_NAMES);
        card.addresses.truncate(MOST_ADDRESSES);
        match problem(&card) {
            Some(why) => {
                imported.skipped += 1;
                problems.push(Problem::new(card.line, why));
            }
            None => usable.push(card),
        }
    }
    let total = usable.len();
    let now = context.clock.now().as_millisecond();
    for batch in usable.chunks(BATCH) {
        context.check_cancelled()?;
        let batch = batch.to_vec();
        let count = batch.len() as u64;
        let save = move |sql: &mut dyn Sql| {
            for card in &batch {
                contacts::save(sql, &id_of(card), card, now)?;
            }
            Ok(())
        };
        state.store.transaction(Budget::default(), save).await?;
        imported.imported += count;
        context
            .client
            .progress(
                imported.imported as f64,
                Some(total as f64),
                Some(format!("{} contacts", imported.imported)),
            )
            .await;
    }
    problems.truncate(MOST_PROBLEMS);
    imported.problems = problems;
    imported.message = match imported.skipped {
        0 => format!("{} contacts are in the address book.", imported.imported),
        skipped => format!(
            "{} contacts are in the address book; {skipped} could not be used.",
            imported.imported
        ),
    };
    Ok(imported)
}

fn problem(card: &Card) -> Option<String> {
    if card.name.trim().is_empty() {
        return Some("There is no name.".into());
    }
    if card.name.chars().count() > LONGEST_NAME {
        return Some(format!("The name is longer than {LONGEST_NAME} letters."));
    }
    if card.addresses.is_empty() {
        return Some(match card.unusable.first() {
            Some(address) => format!("{}: `{address}` can't be written to.", card.name),
            None => format!(
                "{} has neither an e-mail address nor a phone number.",
                card.name
            ),
        });
    }
    None
}

/// A card gets the same id each time it is imported.
fn id_of(card: &Card) -> String {
    let mut hash = Sha256::new();
    match &card.uid {
        Some(uid) => hash.update(format!("uid\n{uid}")),
        None => {
            hash.update(format!("name\n{}", kit::text::fold(&card.name)));
            let first = card.addresses.first();
            hash.update(first.map_or("", |(_, address)| address.as_str()));
        }
    }
    let digest = hash.finalize();
    let start = digest.iter().copied().take(10).collect::<Vec<u8>>();
    format!("con_{}", kit::text::hex(start))
}

fn read(path: &Path, country_code: &str) -> Result<Vec<Card>> {
    let unreadable = |why: String| {
        Error::new("FILE_UNREADABLE", format!("{}: {why}.", path.display()))
            .next("Give a vCard (.vcf), CSV or JSON file in UTF-8.")
    };
    let size = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if size.len() > LARGEST {
        return Err(unreadable("it is too large for an address book".into()));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".into()))?;
    let text = text.trim_start_matches('\u{feff}');
    let beginning = text.trim_start();
    let cards = if beginning
        .get(..11)
        .is_some_and(|b| b.eq_ignore_ascii_case("BEGIN:VCARD"))
    {
        vcard::read(text, country_code)
    } else if beginning.starts_with(['[', '{']) {
        json(text, country_code).map_err(unreadable)?
    } else {
        csv(text, country_code).map_err(unreadable)?
    };
    if cards.is_empty() {
        return Err(unreadable("there is no contact in it".into()));
    }
    Ok(cards)
}

/// `[{"name", "email", "phone", "reading"?, "id"?}, …]`; lists are allowed.
fn json(text: &str, country_code: &str) -> Result<Vec<Card>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let rows = match value {
        Value::Array(rows) => rows,
        Value::Object(mut object) => match object.remove("contacts") {
            Some(Value::Array(rows)) => rows,
            _ => return Err("it holds no list of contacts".into()),
        },
        _ => return Err("it holds no list of contacts".into()),
    };
    let cards = rows.iter().enumerate().map(|(at, row)| {
        let empty = Map::new();
        let row = row.as_object().unwrap_or(&empty);
        let texts = |names: &[&str]| -> Vec<String> {
            names
                .iter()
                .filter_map(|name| row.get(*name))
                .flat_map(|value| match value {
                    Value::Array(items) => items.clone(),
                    other => vec![other.clone()],
                })
                .filter_map(|value| value.as_str().map(str::to_owned))
                .collect()
        };
        card(at as u64 + 1, country_code, &texts)
    });
    Ok(cards.collect())
}

/// With a header; several addresses in one field are separated by `;`.
fn csv(text: &str, country_code: &str) -> Result<Vec<Card>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| error.to_string())?;
    let headers: Vec<String> = headers
        .iter()
        .map(|name| kit::text::narrow(name).to_lowercase())
        .collect();
    if !headers.iter().any(|name| NAME.contains(&name.as_str())) {
        return Err("its first line has no column `name`".into());
    }
    let mut cards = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| error.to_string())?;
        let line = row.position().map_or(0, csv::Position::line);
        let texts = |names: &[&str]| -> Vec<String> {
            headers
                .iter()
                .zip(row.iter())
                .filter(|(header, _)| names.contains(&header.as_str()))
                .flat_map(|(_, value)| value.split(';'))
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
                .collect()
        };
        cards.push(card(line, country_code, &texts));
    }
    Ok(cards)
}

const NAME: [&str; 4] = ["name", "fn", "氏名", "名前"];
const OTHER: [&str; 6] = [
    "reading",
    "nickname",
    "kana",
    "ふりがな",
    "フリガナ",
    "aliases",
];
const EMAIL: [&str; 5] = ["email", "emails", "e-mail", "mail", "メール"];
const PHONE: [&str; 6] = ["phone", "phones", "tel", "mobile", "電話", "携帯"];

fn card(line: u64, country_code: &str, texts: &dyn Fn(&[&str]) -> Vec<String>) -> Card {
    let name = texts(&NAME).into_iter().next().unwrap_or_default();
    let mut card = Card {
        line,
        uid: texts(&["id", "uid"]).into_iter().next(),
        other_names: texts(&OTHER),
        ..Card::default()
    };
    let readings: Vec<String> = card
        .other_names
        .iter()
        .flat_map(|name| names::parts(name))
        .collect();
    card.other_names.extend(readings);
    card.other_names.extend(names::parts(&name));
    card.name = name;
    for text in texts(&EMAIL) {
        match address::email(&text) {
            Some(address) => card.addresses.push((Platform::Email, address)),
            None => card.unusable.push(text),
        }
    }
    for text in texts(&PHONE) {
        match address::phone(&text, country_code) {
            Some(number) => card.addresses.push((Platform::Sms, number)),
            None => card.unusable.push(text),
        }
    }
    card.addresses
        .sort_by_key(|(platform, _)| platform.as_str());
    card.addresses.dedup();
    card
}
