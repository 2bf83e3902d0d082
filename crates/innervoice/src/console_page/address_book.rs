//! The address book, with a search.

use kit::{
    Context, Result, Sql,
    console::{Cell, CellRow, CellTable, PageQuery, Part, Search, Section, pick, pick_all},
};

use super::wording::keeping;
use crate::{model::address::Platform, recipients, store::contacts::Contact};

const MOST: usize = 20;

/// Characters of a search.
const LONGEST_SEARCH: usize = 200;

pub fn section(context: &Context, sql: &mut dyn Sql, query: &PageQuery) -> Result<Section> {
    let wanted = query.get("who").unwrap_or_default().trim();
    let wanted: String = wanted.chars().take(LONGEST_SEARCH).collect();
    let mut found = recipients::search(sql, &wanted, MOST as i64 + 1)?;
    let more = Part::cut(context, &mut found, MOST);
    let is_empty = wanted.is_empty();
    let mut parts = vec![Part::Search(Search {
        parameter: "who",
        label: pick(context, "Search the address book", "連絡先を検索").into(),
        value: wanted,
        button: pick(context, "Search", "検索").into(),
        kept: keeping(query, vec![("who", String::new())]),
    })];
    let nobody = match is_empty {
        true => pick(
            context,
            "The address book is empty. To fill it: madoguchi import innervoice FILE",
            "連絡先はまだありません。取り込むには：madoguchi import innervoice FILE",
        ),
        false => pick(context, "Nobody was found.", "見つかりませんでした。"),
    };
    parts.push(Part::table_or_text(
        CellTable {
            columns: pick_all(
                context,
                &[
                    ("Name", "名前"),
                    ("Reading", "読み"),
                    ("E-mail", "メール"),
                    ("Phone", "電話"),
                ],
            ),
            rows: found.iter().map(row).collect(),
            tool: None,
        },
        nobody,
    ));
    parts.extend(more);
    Ok(Section {
        title: pick(context, "Address book", "アドレス帳").into(),
        parts,
    })
}

fn row(contact: &Contact) -> CellRow {
    let of = |platform: Platform| {
        let own = contact.addresses.iter().filter(|(of, _)| *of == platform);
        let own: Vec<&str> = own.map(|(_, address)| address.as_str()).collect();
        Cell::Text(own.join(", "))
    };
    CellRow::new(vec![
        Cell::text(&contact.name),
        Cell::text(contact.reading.as_deref().unwrap_or_default()),
        of(Platform::Email),
        of(Platform::Sms),
    ])
}
