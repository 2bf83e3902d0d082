//! What a search engine answers.

use search::Facets;

/// The engine that answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Embedded,
    Meilisearch,
}

impl Engine {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Meilisearch => "meilisearch",
        }
    }
}

/// Products that match, best first. The database knows which are in stock.
#[derive(Debug)]
pub struct Candidates {
    pub ids: Vec<i64>,
    pub facets: Option<Facets>,
    pub engine: Engine,
    /// Why the configured engine did not answer.
    pub degraded: Option<&'static str>,
}

/// No engine can answer now; the reason is for the caller.
#[derive(Debug)]
pub struct Unavailable(pub &'static str);
