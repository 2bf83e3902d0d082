//! Draws cells, tables of them, and names with their values.

use jiff::Zoned;
use kit::console::{Cell, CellRow, CellTable, RowAction};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{
    super::{
        parts::{excerpt, table_of_rows},
        text::shown,
        view::{View, link},
    },
    links::{address, label, tags},
    names::FIXED,
};

/// Texts are cut beyond this.
const LONGEST: usize = 2_000;

/// The same for texts that are shown whole. Nobody reads more on a page.
const LONGEST_WHOLE: usize = 100_000;

pub fn cell(view: &View, counter: &str, cell: &Cell) -> Markup {
    match cell {
        Cell::Text(text) => excerpt(text, LONGEST),
        Cell::LongText(text) => {
            let (text, more) = kit::text::cut(text, LONGEST_WHOLE);
            html! { p class="whole" dir="auto" { (shown(text)) @if more > 0 { "…" } } }
        }
        Cell::Link { label: text, query } => {
            html! { a href=(address(counter, query)) { (label(text)) } }
        }
        Cell::Time(at) => time(view, at),
        Cell::Caller(id) => caller(view, id),
        Cell::Tag(tag) => tags(std::slice::from_ref(tag)),
    }
}

/// By the name that people gave it.
fn caller(view: &View, id: &str) -> Markup {
    let name = view.desk.keyring.name_of(id);
    let name = name.as_deref().unwrap_or(id);
    html! {
        @if !id.is_empty() {
            a href=(link("/console/agents", &[("caller", id)])) { (excerpt(name, 100)) }
        }
    }
}

/// In the reader's zone, and in its own beside it where their clocks differ.
fn time(view: &View, at: &Zoned) -> Markup {
    let (language, here) = (view.words.language(), at.with_time_zone(view.zone.clone()));
    let differs = here.offset() != at.offset();
    let there = match here.date() == at.date() {
        true => at.strftime("%H:%M").to_string(),
        false => kit::time::written(at, language),
    };
    html! {
        time datetime=(at.timestamp()) {
            (kit::time::written(&here, language)) " " (here.strftime("%Z (UTC%:z)"))
        }
        @if differs { " " span class="there" { (there) " " (place_of(at)) } }
    }
}

/// The last part of the name of its zone, such as `Tokyo`.
pub fn place_of(at: &Zoned) -> String {
    let name = at.time_zone().iana_name().unwrap_or("UTC");
    name.rsplit('/').next().unwrap_or(name).replace('_', " ")
}

pub fn facts(view: &View, counter: &str, facts: &[(String, Cell)]) -> Markup {
    html! {
        dl {
            @for (name, it) in facts {
                div { dt { (label(name)) } dd dir="auto" { (cell(view, counter, it)) } }
            }
        }
    }
}

/// If the table has a tool, this goes into a form that calls it.
pub fn drawn_table(view: &View, counter: &str, caption: &str, cells: &CellTable) -> Markup {
    let columns: Vec<&str> = cells.columns.iter().map(String::as_str).collect();
    let row = |row: &CellRow| {
        let mut drawn: Vec<Markup> = row.cells.iter().map(|it| cell(view, counter, it)).collect();
        if cells.tool.is_some() {
            drawn.push(row.action.as_ref().map_or_else(Markup::default, button));
        }
        (row.action.as_ref().map(row_id), drawn)
    };
    table_of_rows(caption, &columns, cells.rows.iter().map(row).collect())
}

/// A row is what can be done with it: a button must not become that of another row while
/// somebody presses it.
fn row_id(action: &RowAction) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let values = action.arguments.iter().map(|(_, value)| value.to_string());
    let values = values.map(|value| value.chars().filter(is_plain).collect::<String>());
    format!("row-{}", values.collect::<Vec<_>>().join("-"))
}

fn button(action: &RowAction) -> Markup {
    let RowAction {
        label,
        about,
        arguments,
    } = action;
    let arguments = arguments.iter();
    let arguments = arguments.map(|(name, value)| ((*name).to_owned(), value.clone()));
    let arguments = Value::Object(arguments.collect::<Map<_, _>>());
    let name = format!("{label}: {}", kit::text::visible(about));
    html! { button name=(FIXED) value=(arguments) aria-label=(name) { (label) } }
}
