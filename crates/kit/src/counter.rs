//! What a counter is: its name, its tools, its prompts and resources, as data.

use std::{path::Path, sync::Arc};

use futures::future::BoxFuture;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use crate::{
    console::ConsolePage,
    context::{Change, Context},
    error::{Error, Result},
    language::Language,
    prompt::Prompt,
    resource::Resources,
    sql::Store,
    tool::Tool,
    view::View,
};
pub use crate::{error::ErrorShape, sql::Migrations};

/// What `serverInfo` and the docs say about a counter.
#[derive(Debug, Clone)]
pub struct About {
    /// The name in addresses and commands: `/mcp/NAME`, `madoguchi stdio NAME`.
    pub name: &'static str,
    /// The MCP server name from its specification.
    pub server_name: &'static str,
    pub version: &'static str,
    pub title: &'static str,
    /// The title for Japanese readers of the console.
    pub japanese_title: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    pub japanese_summary: &'static str,
    /// The description from its specification, word for word, for `serverInfo`.
    pub description: &'static str,
    /// What a model reads when it connects.
    pub instructions: &'static str,
    /// Whether its tools and prompts can change while it runs.
    pub lists_change: bool,
    /// What its specification requires of the desk.
    pub conventions: Conventions,
}

impl About {
    pub fn title_in(&self, language: Language) -> &'static str {
        match language {
            Language::English => self.title,
            Language::Japanese => self.japanese_title,
        }
    }
}

/// What differs between counters in how the desk treats their callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conventions {
    pub error_shape: ErrorShape,
    /// Callers over a network always need a key, even on a listener without keys.
    pub always_needs_key: bool,
    /// Requests per minute for each caller, unless the configuration sets a limit.
    pub requests_per_minute: Option<u32>,
    pub language: AnswerLanguage,
}

/// In which language a counter answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerLanguage {
    Always(Language),
    /// The one that the client requests, else the one of the arguments.
    OfTheCall,
    /// For a counter that serves one person: the one that the client requests, else
    /// the one of the arguments in `spoken`, else the one found last. Before any is
    /// found: English if calls had English sentences and no Japanese text, else
    /// `otherwise`. A person may give an event a name in another language, so such
    /// texts never count more.
    OfThePerson {
        /// Arguments that repeat the person's own words.
        spoken: &'static [&'static str],
        otherwise: Language,
    },
}

impl Conventions {
    /// The usual rules.
    pub const USUAL: Self = Self {
        error_shape: ErrorShape::Nested,
        always_needs_key: false,
        requests_per_minute: None,
        language: AnswerLanguage::OfTheCall,
    };
}

/// One counter, ready to be served. Everything is built once, at start.
#[derive(Clone)]
pub struct Counter {
    pub about: About,
    /// The time zone that decides what "tomorrow" is.
    pub time_zone: TimeZone,
    /// In the order in which they are listed.
    pub tools: Vec<Arc<Tool>>,
    pub prompts: Vec<Arc<Prompt>>,
    pub resources: Option<Arc<dyn Resources>>,
    pub files: Option<Arc<dyn Files>>,
    /// The database of a counter that uses SQL. The desk runs the counter's queries
    /// and transactions on it.
    pub store: Option<Arc<dyn Store>>,
    pub demo: Option<Arc<dyn Demo>>,
    pub import: Option<Arc<dyn Import>>,
    pub export: Option<Arc<dyn Export>>,
    pub background: Option<Arc<dyn Background>>,
    /// Its own part of its page in the console.
    pub page: Option<Arc<dyn ConsolePage>>,
    /// What chat clients can show beside the answers of its tools.
    pub views: &'static [View],
}

impl Counter {
    /// Finds a tool by its name or one of its aliases.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.iter().find(|tool| tool.answers_to(name))
    }

    /// Whether clients can read anything here.
    pub fn is_readable(&self) -> bool {
        self.resources.is_some() || !self.views.is_empty()
    }
}

/// Files for programs that can't send a key in a header, such as calendar programs.
/// Each address of a file contains a key for that file alone.
pub trait Files: Send + Sync {
    fn names(&self) -> &'static [&'static str];
    /// The file of one of those names.
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

/// Background work while the counter is open.
pub trait Background: Send + Sync {
    /// Called once, when the counter opens. `announce` reports changes to subscribers.
    fn start(&self, announce: Announce);
    /// Called once, before the program ends.
    fn stop(&self) -> BoxFuture<'_, ()>;
    /// Its state, for `/readyz` and `doctor`.
    fn health(&self) -> Option<Value> {
        None
    }
    /// Checks the servers it needs, each by name, for `doctor`. Waits for their
    /// answers.
    fn check(&self) -> BoxFuture<'_, Vec<(&'static str, Result<String>)>> {
        Box::pin(std::future::ready(Vec::new()))
    }
    /// Sends a notice to the person whom the desk serves, for a counter that can reach
    /// them. Ends when the notice is stored; the same notice is sent once, however often
    /// it is given.
    fn notify(&self, _: Notice) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// What a person should know at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The same for the same notice.
    pub id: String,
    /// The channels to use: email, ntfy, webhook.
    pub channels: Vec<&'static str>,
    /// In English and in Japanese, one line without private text: it passes through
    /// servers of others.
    pub text: [String; 2],
    /// Where to go.
    pub url: String,
    /// For programs that receive it.
    pub data: Value,
}

pub type Announce = Arc<dyn Fn(Change) + Send + Sync>;

/// Sample data that shows what the counter can do.
pub trait Demo: Send + Sync {
    /// Loads it, and returns a sentence for the person who asked.
    fn load<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<String>>;
    /// Removes it, and nothing else.
    fn remove<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<String>>;
    /// `true` if the counter has no data at all, demo or real.
    fn is_empty<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<bool>>;
    /// Called at start and every hour: keeps loaded demo data current. Does
    /// nothing when no demo data is loaded.
    fn refresh<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<()>>;
}

/// Imports the operator's data from a file.
pub trait Import: Send + Sync {
    /// Imports `file`, and reports progress to the context's client. Rows that can't
    /// be used are reported. Importing the same file again continues after an
    /// interruption.
    fn import<'a>(
        &'a self,
        context: &'a Context,
        file: &'a Path,
        invalid: InvalidRows,
    ) -> BoxFuture<'a, Result<Imported>>;

    /// Imports a file of words that mean the same, for searches.
    fn import_synonyms<'a>(
        &'a self,
        _: &'a Context,
        _: &'a Path,
    ) -> BoxFuture<'a, Result<Imported>> {
        let error = Error::new("NO_SYNONYMS", "This counter takes no synonyms.");
        Box::pin(std::future::ready(Err(error)))
    }
}

/// What an import does with the rest of a file that has invalid rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidRows {
    /// What the counter does by itself.
    AsUsual,
    /// Imports the other rows.
    Skip,
}

/// Writes the counter's data to files that its import reads.
pub trait Export: Send + Sync {
    /// Writes to `target`, a file or a directory. Existing files are replaced only
    /// with `overwrite`.
    fn export<'a>(
        &'a self,
        context: &'a Context,
        target: &'a Path,
        format: Format,
        overwrite: bool,
    ) -> BoxFuture<'a, Result<Exported>>;
}

/// The format of exported files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Csv,
}

/// The result of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// A sentence for the person who asked.
    pub message: String,
    pub rows: u64,
    pub files: Vec<String>,
}

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// A sentence for the person who asked.
    pub message: String,
    pub imported: u64,
    pub skipped: u64,
    /// Rows that an earlier, interrupted run imported.
    pub already_there: u64,
    /// Nothing was imported, because some rows are invalid.
    pub refused: bool,
    /// The first of the rows that were skipped or invalid.
    pub problems: Vec<Problem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file's name, where several are imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub line: u64,
    pub problem: String,
}

impl Problem {
    pub fn new(line: u64, problem: impl Into<String>) -> Self {
        Self {
            file: None,
            line,
            problem: problem.into(),
        }
    }
}
