//! The address book.

use std::cmp::Reverse;

use kit::{Param, Result, Row, Sql, sql::values};

use crate::{
    errors::Candidate,
    model::{address::Platform, names, vcard::Card},
};

#[derive(Debug, Clone)]
pub struct Contact {
    pub id: String,
    pub name: String,
    /// In katakana.
    pub reading: Option<String>,
    /// In order of preference.
    pub addresses: Vec<(Platform, String)>,
}

impl Contact {
    pub fn address(&self, platform: Platform) -> Option<&str> {
        self.addresses
            .iter()
            .find(|(of, _)| *of == platform)
            .map(|(_, address)| address.as_str())
    }

    pub fn candidate(&self) -> Candidate {
        Candidate {
            contact_id: self.id.clone(),
            name: self.name.clone(),
            reading: self.reading.clone(),
            email: self.address(Platform::Email).map(str::to_owned),
            phone: self.address(Platform::Sms).map(str::to_owned),
        }
    }
}

/// Inserts a contact, or replaces it.
pub fn save(sql: &mut dyn Sql, id: &str, card: &Card, now: i64) -> Result<()> {
    let name = names::one_line(&card.name);
    sql.execute(
        "INSERT INTO innervoice_contacts (id, name, updated_at, reading) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, updated_at = excluded.updated_at, \
         reading = excluded.reading",
        &[
            Param::Text(id),
            Param::Text(&name),
            Param::Int(now),
            reading(card).as_deref().into(),
        ],
    )?;
    for table in ["innervoice_contact_names", "innervoice_contact_addresses"] {
        sql.execute(
            &format!("DELETE FROM {table} WHERE contact_id = $1"),
            &[Param::Text(id)],
        )?;
    }
    let mut folded: Vec<String> = std::iter::once(&card.name)
        .chain(&card.other_names)
        .map(|name| names::fold(name))
        .filter(|name| !name.is_empty())
        .collect();
    folded.sort_unstable();
    folded.dedup();
    if !folded.is_empty() {
        let params: Vec<Param<'_>> = folded
            .iter()
            .flat_map(|name| [Param::Text(id), Param::Text(name)])
            .collect();
        sql.execute(
            &format!(
                "INSERT INTO innervoice_contact_names (contact_id, folded) VALUES {}",
                values(folded.len(), 2)
            ),
            &params,
        )?;
    }
    for (position, (platform, address)) in card.addresses.iter().enumerate() {
        sql.execute(
            "INSERT INTO innervoice_contact_addresses (contact_id, platform, address, position) \
             VALUES ($1, $2, $3, $4)",
            &[
                Param::Text(id),
                Param::Text(platform.as_str()),
                Param::Text(address),
                Param::Int(i64::try_from(position).unwrap_or(i64::MAX)),
            ],
        )?;
    }
    Ok(())
}

/// The reading of the whole name: the longest of the names in kana, of which the
/// first has the order of the name.
fn reading(card: &Card) -> Option<String> {
    let is_kana = |name: &String| name.chars().all(|c| matches!(c, 'ァ'..='ヺ'));
    let names = card.other_names.iter().map(|name| names::fold(name));
    let readings = names.filter(|name| is_kana(name) && !name.is_empty());
    readings.min_by_key(|reading| Reverse(reading.chars().count()))
}

pub fn find(sql: &mut dyn Sql, id: &str) -> Result<Option<Contact>> {
    let rows = sql.query(
        "SELECT id, name, reading FROM innervoice_contacts WHERE id = $1",
        &[Param::Text(id)],
    )?;
    Ok(with_addresses(sql, &rows)?.into_iter().next())
}

/// Contacts with exactly this name.
pub fn named(sql: &mut dyn Sql, folded: &str, most: i64) -> Result<Vec<Contact>> {
    let rows = sql.query(
        "SELECT DISTINCT c.id, c.name, c.reading FROM innervoice_contacts c \
         JOIN innervoice_contact_names n ON n.contact_id = c.id \
         WHERE n.folded = $1 ORDER BY c.name, c.id LIMIT $2",
        &[Param::Text(folded), Param::Int(most)],
    )?;
    with_addresses(sql, &rows)
}

/// Contacts whose name or address contains this.
pub fn like(sql: &mut dyn Sql, folded: &str, most: i64) -> Result<Vec<Contact>> {
    let pattern = super::containing(folded);
    let rows = sql.query(
        "SELECT c.id, c.name, c.reading FROM innervoice_contacts c WHERE \
         EXISTS (SELECT 1 FROM innervoice_contact_names n \
                 WHERE n.contact_id = c.id AND n.folded LIKE $1 ESCAPE '!') \
         OR EXISTS (SELECT 1 FROM innervoice_contact_addresses a \
                 WHERE a.contact_id = c.id AND LOWER(a.address) LIKE $1 ESCAPE '!') \
         ORDER BY c.name, c.id LIMIT $2",
        &[Param::Text(&pattern), Param::Int(most)],
    )?;
    with_addresses(sql, &rows)
}

/// The contacts that have this address.
pub fn with_address(sql: &mut dyn Sql, address: &str, most: i64) -> Result<Vec<Contact>> {
    let rows = sql.query(
        "SELECT DISTINCT c.id, c.name, c.reading FROM innervoice_contacts c \
         JOIN innervoice_contact_addresses a ON a.contact_id = c.id \
         WHERE a.address = $1 ORDER BY c.name, c.id LIMIT $2",
        &[Param::Text(address), Param::Int(most)],
    )?;
    with_addresses(sql, &rows)
}

pub fn all_names(sql: &mut dyn Sql, most: i64) -> Result<Vec<(String, String)>> {
    let rows = sql.query(
        "SELECT contact_id, folded FROM innervoice_contact_names ORDER BY contact_id, folded \
         LIMIT $1",
        &[Param::Int(most)],
    )?;
    rows.iter()
        .map(|row| Ok((row.text(0)?, row.text(1)?)))
        .collect()
}

pub fn by_ids(sql: &mut dyn Sql, ids: &[&str]) -> Result<Vec<Contact>> {
    let mut found = Vec::new();
    for id in ids {
        found.extend(find(sql, id)?);
    }
    Ok(found)
}

fn with_addresses(sql: &mut dyn Sql, rows: &[Row]) -> Result<Vec<Contact>> {
    let mut contacts = Vec::new();
    for row in rows {
        let id = row.text(0)?;
        let addresses = sql.query(
            "SELECT platform, address FROM innervoice_contact_addresses WHERE contact_id = $1 \
             ORDER BY position",
            &[Param::Text(&id)],
        )?;
        let addresses = addresses.iter().map(|row| {
            let platform = match row.text(0)?.as_str() {
                "sms" => Platform::Sms,
                _ => Platform::Email,
            };
            Ok((platform, row.text(1)?))
        });
        contacts.push(Contact {
            reading: row.opt_text(2)?,
            addresses: addresses.collect::<Result<_>>()?,
            id,
            name: row.text(1)?,
        });
    }
    Ok(contacts)
}
