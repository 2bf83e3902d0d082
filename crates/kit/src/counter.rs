//! What a counter is: its name, its tools, its prompts and resources, as data.

use std::{path::Path, sync::Arc};

use futures::future::BoxFuture;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use crate::{
    context::{Change, Context},
    error::Result,
    prompt::Prompt,
    resource::Resources,
    sql::Store,
    tool::Tool,
};
pub use crate::{error::Refusals, sql::Migrations};

/// What `serverInfo` and the docs say about a counter.
#[derive(Debug, Clone)]
pub struct About {
    /// The name in addresses and commands: `/mcp/NAME`, `madoguchi stdio NAME`.
    pub name: &'static str,
    /// The MCP server name its document gives it.
    pub server_name: &'static str,
    pub version: &'static str,
    pub title: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// What its document says it is, in the document's words, for `serverInfo`.
    pub description: &'static str,
    /// What a model is told when it connects.
    pub instructions: &'static str,
    /// Whether its tools and prompts can change while it is open.
    pub lists_change: bool,
    /// Where its document departs from what the desk does for all.
    pub ways: Ways,
}

/// What the desk does otherwise for a counter whose document says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ways {
    pub refusals: Refusals,
    /// Nobody comes in over a network without a key, whatever the listener says.
    pub always_needs_key: bool,
    /// How many requests a caller may make in a minute unless the configuration
    /// says otherwise.
    pub requests_per_minute: Option<u32>,
}

impl Ways {
    /// What nearly all counters have.
    pub const USUAL: Self = Self {
        refusals: Refusals::Nested,
        always_needs_key: false,
        requests_per_minute: None,
    };
}

/// One counter, ready to be served. Everything is built once, at start.
#[derive(Clone)]
pub struct Counter {
    pub about: About,
    /// Where it stands: what "tomorrow" means there.
    pub time_zone: TimeZone,
    /// In the order in which they are listed.
    pub tools: Vec<Arc<Tool>>,
    pub prompts: Vec<Arc<Prompt>>,
    pub resources: Option<Arc<dyn Resources>>,
    pub files: Option<Arc<dyn Files>>,
    /// Where its rows are kept, for counters that use SQL. The desk runs the
    /// counter's queries and transactions on it.
    pub store: Option<Arc<dyn Store>>,
    pub demo: Option<Arc<dyn Demo>>,
    pub import: Option<Arc<dyn Import>>,
    pub background: Option<Arc<dyn Background>>,
}

impl Counter {
    /// Finds a tool by its name or one of its aliases.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.iter().find(|tool| tool.answers_to(name))
    }
}

/// Files for programs that can't send a key in a header, such as calendars that
/// subscribe. Each address of one holds a key for that file alone.
pub trait Files: Send + Sync {
    fn names(&self) -> &'static [&'static str];
    /// One of those names.
    fn file<'a>(
        &'a self,
        context: &'a Context,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<File>>>;
}

pub struct File {
    /// As in `Content-Type`.
    pub kind: &'static str,
    pub bytes: Vec<u8>,
}

/// Work that goes on while the counter is open, beside the calls.
pub trait Background: Send + Sync {
    /// Called once, when the counter opens. `announce` tells subscribers of
    /// changes that no call made.
    fn start(&self, announce: Announce);
    /// Called once, before the program ends.
    fn stop(&self) -> BoxFuture<'_, ()>;
    /// What an operator wants to know of it, for `/readyz` and `doctor`.
    fn health(&self) -> Option<Value> {
        None
    }
    /// Whether the servers it needs answer, each by name, for `doctor`. Takes as
    /// long as they do.
    fn check(&self) -> BoxFuture<'_, Vec<(&'static str, Result<String>)>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

pub type Announce = Arc<dyn Fn(Change) + Send + Sync>;

/// Sample data that shows what the counter can do.
pub trait Demo: Send + Sync {
    /// Loads it. Returns a sentence for the person who asked.
    fn load<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<String>>;
    /// Removes it, and nothing else.
    fn remove<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<String>>;
    /// `true` when the counter holds no data at all, demo or real.
    fn is_empty<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<bool>>;
    /// Called at start and every hour: keeps loaded demo data current. Does
    /// nothing when no demo data is loaded.
    fn refresh<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<()>>;
}

/// Data of the operator's own, brought in from a file.
pub trait Import: Send + Sync {
    /// Takes in what `file` holds, and tells the context's client how far it
    /// is. Rows that can't be used are skipped and reported; the same file again
    /// goes on where it was interrupted.
    fn import<'a>(
        &'a self,
        context: &'a Context,
        file: &'a Path,
    ) -> BoxFuture<'a, Result<Imported>>;
}

/// What came of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// A sentence for the person who asked.
    pub message: String,
    pub imported: u64,
    pub skipped: u64,
    /// Rows that an earlier, interrupted run had already brought in.
    pub already_there: u64,
    /// The first of the rows that were skipped.
    pub problems: Vec<Problem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub line: u64,
    pub problem: String,
}
