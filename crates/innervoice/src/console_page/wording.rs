//! Times, and names with their values, as the page writes them.

use kit::{
    Context,
    console::{Cell, PageQuery, Part, Query, Section, pick},
};

use crate::{answers::timestamp, state::CounterState};

/// What the page shows besides the details of one thing.
const VIEWS: [&str; 5] = ["view", "on", "reminders", "messages", "who"];

/// The query of a link that changes this, and keeps the rest of the page.
pub fn keeping(query: &PageQuery, set: Query) -> Query {
    query.with(&VIEWS, set)
}

/// A time in the owner's zone.
pub fn time(state: &CounterState, at_ms: i64) -> Cell {
    Cell::Time(timestamp(at_ms).to_zoned(state.zone.clone()))
}

/// Names and values, without those that are empty.
pub struct Facts<'a> {
    context: &'a Context,
    facts: Vec<(String, Cell)>,
}

impl<'a> Facts<'a> {
    pub fn new(context: &'a Context) -> Self {
        Self {
            context,
            facts: Vec::new(),
        }
    }

    /// The name in English and Japanese.
    pub fn add(&mut self, (english, japanese): (&str, &str), cell: Cell) {
        let is_empty = match &cell {
            Cell::Text(text) | Cell::LongText(text) | Cell::Caller(text) => text.is_empty(),
            Cell::Link { .. } | Cell::Time(_) | Cell::Tag(_) => false,
        };
        if !is_empty {
            let name = pick(self.context, english, japanese);
            self.facts.push((name.to_owned(), cell));
        }
    }

    pub fn done(self) -> Part {
        Part::Facts(self.facts)
    }
}

/// A section that only says that something does not exist.
pub fn missing(title: &str, text: &str) -> Section {
    Section {
        title: title.into(),
        parts: vec![Part::Text(text.into())],
    }
}
