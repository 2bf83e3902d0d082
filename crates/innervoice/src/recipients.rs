//! Finds the recipient that is meant by an address, a number, a contact's id or a
//! name. If that is not certain, the caller gets candidates, never a guess.

use kit::{Result, Sql, text::similarity};

use crate::{
    bounds::{LONGEST_COMPARED, MOST_RECIPIENTS},
    errors::{self, Candidate},
    model::{
        address::{self, Platform},
        names::fold,
        romaji,
    },
    state::CounterState,
    store::{
        self, RowKind,
        contacts::{self, Contact},
    },
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    pub contact_id: Option<String>,
    pub name: Option<String>,
    pub platform: Platform,
    pub address: String,
    /// Other addresses of the same contact.
    pub others: Vec<String>,
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

/// All recipients: one, or several with commas between them.
pub fn resolve_all(
    state: &CounterState,
    sql: &mut dyn Sql,
    to: &str,
    platform: Option<Platform>,
) -> Result<Vec<Recipient>> {
    let parts = to.split([',', '，', '、', ';', '；', '\n']);
    let mut parts: Vec<&str> = parts
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    // A name may have a comma: "Lee, Ann".
    let is_one = parts.len() < 2 || contacts::named(sql, &fold(to), CANDIDATES)?.len() == 1;
    if is_one {
        parts = vec![to];
    }
    if parts.len() > MOST_RECIPIENTS {
        return Err(errors::too_many_recipients(MOST_RECIPIENTS));
    }
    let mut all: Vec<Recipient> = Vec::new();
    for part in parts {
        let one = resolve(state, sql, part, platform)?;
        if all.iter().all(|other| other.address != one.address) {
            all.push(one);
        }
    }
    Ok(all)
}

fn resolve(
    state: &CounterState,
    sql: &mut dyn Sql,
    to: &str,
    platform: Option<Platform>,
) -> Result<Recipient> {
    if let Some(address) = address::email(to) {
        return direct(sql, Platform::Email, address, platform);
    }
    if let Some(number) = address::phone(to, &state.settings.country_code) {
        return direct(sql, Platform::Sms, number, platform);
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
    Ok(of_contact(chosen, address.to_owned(), &contact))
}

fn of_contact(platform: Platform, address: String, contact: &Contact) -> Recipient {
    let all = contact.addresses.iter().map(|(_, other)| other);
    Recipient {
        platform,
        others: all.filter(|other| **other != address).cloned().collect(),
        address,
        contact_id: Some(contact.id.clone()),
        name: Some(contact.name.clone()),
    }
}

/// An address that was given. If it is one contact's, the contact is named.
fn direct(
    sql: &mut dyn Sql,
    of: Platform,
    address: String,
    wanted: Option<Platform>,
) -> Result<Recipient> {
    if let Some(wanted) = wanted
        && wanted != of
    {
        return Err(errors::wrong_platform(&address, wanted.as_str()));
    }
    let known = contacts::with_address(sql, &address, 2)?;
    Ok(match known.as_slice() {
        [contact] => of_contact(of, address, contact),
        _ => Recipient {
            contact_id: None,
            name: None,
            platform: of,
            address,
            others: Vec::new(),
        },
    })
}

/// The one contact of that id or exact name.
fn contact(sql: &mut dyn Sql, to: &str) -> Result<Contact> {
    if let Some(contact) = contacts::find(sql, &kit::text::narrow(to))? {
        return Ok(contact);
    }
    let folded = fold(to);
    let bare = without_honorific(&folded);
    let mut found = contacts::named(sql, &folded, CANDIDATES)?;
    if found.is_empty() && bare != folded {
        found = contacts::named(sql, &bare, CANDIDATES)?;
    }
    add_by_reading(sql, &bare, &mut found, |name, reading| name == reading)?;
    if found.len() > 1 {
        return Err(errors::recipient_ambiguous(to, &candidates(&found)));
    }
    match found.pop() {
        Some(one) => Ok(one),
        None => {
            if store::is_empty(sql, RowKind::Contact)? {
                return Err(errors::empty_address_book(to));
            }
            let near = near(sql, &bare)?;
            Err(errors::recipient_not_found(to, &candidates(&near)))
        }
    }
}

/// Adds the contacts whose name has this reading, in kana, Latin letters or kanji.
fn add_by_reading(
    sql: &mut dyn Sql,
    folded: &str,
    found: &mut Vec<Contact>,
    is_meant: fn(&str, &str) -> bool,
) -> Result<()> {
    let Some(reading) = romaji::reading(folded) else {
        return Ok(());
    };
    let most = usize::try_from(CANDIDATES).unwrap_or_default();
    let mut ids: Vec<String> = Vec::new();
    for (id, name) in contacts::all_names(sql, LOOKED_THROUGH)? {
        let known = romaji::reading(&name);
        let is_read = match known {
            Some(known) => is_meant(&known, &reading),
            None => romaji::is_read(&name, &reading),
        };
        let is_new = |id: &String| !ids.contains(id) && found.iter().all(|it| it.id != *id);
        if is_read && is_new(&id) {
            ids.push(id);
        }
        if ids.len() >= most {
            break;
        }
    }
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    found.extend(contacts::by_ids(sql, &ids)?);
    found.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    Ok(())
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
    add_by_reading(sql, &bare, &mut found, |name, reading| {
        name.contains(reading)
    })?;
    found.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    if found.is_empty() {
        found = near(sql, &bare)?;
    }
    Ok(found)
}

fn candidates(contacts: &[Contact]) -> Vec<Candidate> {
    contacts.iter().map(Contact::candidate).collect()
}
