//! The query and its answer.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// Best match first; without text, by id.
    #[default]
    Relevance,
    PriceAsc,
    PriceDesc,
    /// Highest id first.
    Newest,
    /// By folded name, in the order of code points.
    Name,
}

/// A query. Empty text matches everything; text without any letter or digit
/// matches nothing. There is no query syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub text: String,
    /// Other texts with the same meaning. Their exact matches come after those of
    /// `text`.
    pub alternatives: Vec<String>,
    /// Any of these; empty for all. Spelling may differ in width and case.
    pub category: Vec<String>,
    pub brand: Vec<String>,
    pub min_price: Option<i64>,
    pub max_price: Option<i64>,
    pub in_stock_only: bool,
    pub sort: Sort,
    pub offset: usize,
    pub limit: usize,
    pub facets: bool,
}

impl Default for Query {
    fn default() -> Query {
        Query {
            text: String::new(),
            alternatives: Vec::new(),
            category: Vec::new(),
            brand: Vec::new(),
            min_price: None,
            max_price: None,
            in_stock_only: false,
            sort: Sort::Relevance,
            offset: 0,
            limit: 20,
            facets: false,
        }
    }
}

/// How the hits were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strategy {
    /// There was no text to look for.
    All,
    /// Every word, as written up to folding.
    Exact,
    /// Some hits differ from the query by one or two typos.
    Fuzzy,
    /// No product has every word; these have most of them.
    Relaxed,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Hits {
    pub ids: Vec<i64>,
    /// How many products match. A lower bound unless
    /// [`Hits::total_is_exact`]: counting stops early if there are many.
    pub total: usize,
    pub total_is_exact: bool,
    /// Counts over all matches, not only this page.
    pub facets: Option<Facets>,
    /// How the hits were found; meaningless if there are none.
    pub strategy: Strategy,
}

/// Counts over all matches; the most frequent values first, at most 100 of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    pub category: Vec<(String, u64)>,
    pub brand: Vec<(String, u64)>,
    /// `None` if nothing matches.
    pub price_min: Option<i64>,
    pub price_max: Option<i64>,
}
