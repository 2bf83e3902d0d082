//! Finds the recipient that is meant by an address, a number, a contact's id or a
//! name. If that is not certain, the caller gets candidates, never a guess.

use kit::{Result, Sql, text::similarity};

use crate::{
    bounds::LONGEST_COMPARED,
    errors::{self, Candidate},
    model::{
        address::{self, Platform},
        names::fold,
    },
    state::CounterState,
    store::contacts::{self, Contact},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    pub contact_id: Option<String>,
    pub name: Option<String>,
    pub platform: Platform,
    pub address: String,
}

impl Recipient {
    /// `田中 太郎 <taro@example.com>`: the recipient of a standing grant.
    pub fn in_full(&self) -> String {
        match &self.name {
            Some(name) => format!("{name} <{}>", self.address),
            None => self.address.clone(),
        }
    }

    pub fn spoken(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.address)
    }
}

const CANDIDATES: i64 = 10;
/// How similar a name must be to be proposed.
const NEAR: f64 = 0.5;
const LOOKED_THROUGH: i64 = 20_000;

/// Suffixes that people add to a name.
const HONORIFICS: [&str; 9] = [
    "さん",
    "サン",
    "様",
    "さま",
    "サマ",
    "くん",
    "君",
    "ちゃん",
    "氏",
];

pub fn resolve(
    state: &CounterState,
    sql: &mut dyn Sql,
    to: &str,
    platform: Option<Platform>,
) -> Result<Recipient> {
    if let Some(address) = address::email(to) {
        return direct(Platform::Email, address, platform);
    }
    if let Some(number) = address::phone(to, &state.settings.country_code) {
        return direct(Platform::Sms, number, platform);
    }
    let contact = contact(sql, to)?;
    let chosen = platform.unwrap_or_else(|| {
        if contact.address(Platform::Email).is_some() {
            Platform::Email
        } else {
            Platform::Sms
        }
    });
    let Some(address) = contact.address(chosen) else {
        return Err(errors::no_address(&contact.name, chosen.as_str()));
    };
    Ok(Recipient {
        platform: chosen,
        address: address.to_owned(),
        contact_id: Some(contact.id),
        name: Some(contact.name),
    })
}

fn direct(of: Platform, address: String, wanted: Option<Platform>) -> Result<Recipient> {
    if let Some(wanted) = wanted
        && wanted != of
    {
        return Err(errors::wrong_platform(&address, wanted.as_str()));
    }
    Ok(Recipient {
        contact_id: None,
        name: None,
        platform: of,
        address,
    })
}

/// The one contact of that id or exact name.
fn contact(sql: &mut dyn Sql, to: &str) -> Result<Contact> {
    if let Some(contact) = contacts::find(sql, &kit::text::narrow(to))? {
        return Ok(contact);
    }
    let folded = fold(to);
    let mut found = contacts::named(sql, &folded, CANDIDATES)?;
    let bare = without_honorific(&folded);
    if found.is_empty() && bare != folded {
        found = contacts::named(sql, &bare, CANDIDATES)?;
    }
    if found.len() > 1 {
        return Err(errors::recipient_ambiguous(to, &candidates(&found)));
    }
    match found.pop() {
        Some(one) => Ok(one),
        None => {
            let near = near(sql, &bare)?;
            Err(errors::recipient_not_found(to, &candidates(&near)))
        }
    }
}

fn without_honorific(folded: &str) -> String {
    let bare = HONORIFICS
        .iter()
        .map(|honorific| fold(honorific))
        .find_map(|honorific| folded.strip_suffix(&honorific).map(str::to_owned));
    bare.filter(|bare| !bare.is_empty())
        .unwrap_or_else(|| folded.to_owned())
}

/// Contacts whose names contain this, else similar ones.
fn near(sql: &mut dyn Sql, folded: &str) -> Result<Vec<Contact>> {
    if folded.is_empty() {
        return Ok(Vec::new());
    }
    let parts = contacts::like(sql, folded, CANDIDATES)?;
    if !parts.is_empty() {
        return Ok(parts);
    }
    if folded.chars().nth(LONGEST_COMPARED).is_some() {
        return Ok(Vec::new());
    }
    let names = contacts::all_names(sql, LOOKED_THROUGH)?;
    let mut scored: Vec<(f64, &str)> = names
        .iter()
        .map(|(id, name)| (similarity(folded, name), id.as_str()))
        .filter(|(score, _)| *score >= NEAR)
        .collect();
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    let mut ids: Vec<&str> = Vec::new();
    for (_, id) in scored {
        if !ids.contains(&id) && ids.len() < 5 {
            ids.push(id);
        }
    }
    contacts::by_ids(sql, &ids)
}

pub fn search(sql: &mut dyn Sql, query: &str, most: i64) -> Result<Vec<Contact>> {
    let bare = without_honorific(&fold(query));
    if bare.is_empty() {
        return contacts::like(sql, "", most);
    }
    let mut found = contacts::like(sql, &bare, most)?;
    if found.is_empty() {
        found = near(sql, &bare)?;
    }
    Ok(found)
}

fn candidates(contacts: &[Contact]) -> Vec<Candidate> {
    contacts.iter().map(Contact::candidate).collect()
}
