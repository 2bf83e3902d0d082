//! A page: what it is asked for, and the sections that it consists of.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{
    action::Action, board::Board, calendar::Calendar, cell_table::CellTable, cells::Cell,
    link::PageLink, list::ListItem, messages::Messages, receipt::Receipt, search::Search,
};
use crate::{
    context::{Context, Language},
    error::Result,
    tool::Tool,
};

/// The page of a counter. The context says in which language to write.
pub trait ConsolePage: Send + Sync {
    fn show<'a>(
        &'a self,
        context: &'a Context,
        query: &'a PageQuery,
    ) -> BoxFuture<'a, Result<Vec<Section>>>;

    /// Tools for the page alone. Agents can neither see nor call them.
    fn tools(&self) -> Vec<Arc<Tool>> {
        Vec::new()
    }

    /// How often to look again, in seconds, for what changes without an announcement.
    fn look_again_seconds(&self) -> Option<u32> {
        None
    }
}

/// What a link or a form of the page asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageQuery(pub Vec<(String, String)>);

impl PageQuery {
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Clone, Default)]
pub struct Section {
    pub title: String,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone)]
pub enum Part {
    /// A paragraph.
    Text(String),
    /// A document, as its readers see it. HTML in it is text.
    Markdown(String),
    /// A text as it is in its file.
    Code(String),
    /// A list of links to other views of the page.
    Links(Vec<PageLink>),
    List(Vec<ListItem>),
    Messages(Messages),
    Board(Board),
    /// A form that calls a tool.
    Action(Action),
    /// The same, filled in with how something is now. Of its lines, dates and choices only
    /// those that the person changes are sent, so the rest stays as somebody else may have
    /// made it meanwhile.
    Edit(Action),
    CellTable(CellTable),
    /// Names and what they stand for.
    Facts(Vec<(String, Cell)>),
    Search(Search),
    /// Links beside each other, such as to the next page of a list, and what they are.
    Pager(String, Vec<PageLink>),
    Calendar(Calendar),
    Receipt(Receipt),
}

impl Part {
    /// A table, or a sentence in its place if it has no rows.
    pub fn table_or_text(table: CellTable, text: &str) -> Self {
        match table.rows.is_empty() {
            true => Self::Text(text.into()),
            false => Self::CellTable(table),
        }
    }

    /// Cuts a list. Returns the sentence that says so if it was longer.
    pub fn cut<T>(context: &Context, list: &mut Vec<T>, most: usize) -> Option<Self> {
        let is_longer = list.len() > most;
        list.truncate(most);
        is_longer.then(|| Self::there_are_more(context, most))
    }

    /// Says that a list has more than is shown.
    pub fn there_are_more(context: &Context, shown: usize) -> Self {
        Self::Text(match context.language {
            Language::English => format!("There are more; the first {shown} are shown."),
            Language::Japanese => format!("ほかにもあります。先頭の{shown}件を表示しています。"),
        })
    }
}
