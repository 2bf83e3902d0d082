//! Embedded full-text search over products, in Japanese and Latin script.
//!
//! An [`Index`] is a directory that belongs to its caller's data: it can be
//! deleted at any time and built anew from there. The caller counts its changes
//! and hands them over in order with [`Index::apply`]; the count is kept with
//! them, so that after a crash [`Index::position`] says from where to repeat.
//!
//! One process at a time writes, for as long as it has something to write; every
//! process on the directory searches, and sees what another has committed with
//! its next search.
//!
//! ```
//! use search::{Change, Document, Index, Query};
//!
//! let index = Index::in_memory();
//! let product = Document { id: 1, name: "むぎぼーカレンダー2025".into(), ..Document::default() };
//! index.apply([Change::Put(product)], 1)?;
//! let hits = index.search(&Query { text: "ｶﾚﾝﾀﾞｰ".into(), ..Query::default() })?;
//! assert_eq!(hits.ids, [1]);
//! # Ok::<(), search::Error>(())
//! ```
//!
//! - `analysis` cuts text, `letters` folds it;
//! - `schema` says what is kept of a product;
//! - `index` opens, reads and reloads; `writer` changes;
//! - `cascade` decides how hard to look; `matching` looks in one segment,
//!   `words` finds mistyped ones;
//! - `order` and `facets` make the answer.

mod analysis;
mod cascade;
mod error;
mod facets;
mod index;
mod letters;
mod matching;
mod order;
mod schema;
mod segment;
mod words;
mod writer;

pub use error::{Error, OpenError};
pub use facets::Facets;
pub use index::{Index, Options};

/// A product as it is found. Text fields may hold anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    pub id: i64,
    pub sku: String,
    pub name: String,
    pub description: String,
    pub category: Option<String>,
    pub brand: Option<String>,
    pub keywords: Vec<String>,
    /// In whole yen.
    pub price: i64,
    pub in_stock: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Adds the product, or puts it in the place of the one with its id.
    Put(Document),
    Remove(i64),
}

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

/// What to look for. Empty text matches everything; text without any letter or
/// digit matches nothing. No character in it has a special meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub text: String,
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
    /// At least some hits differ from what was typed by a slip or two.
    Fuzzy,
    /// Nothing has every word; these have most of them.
    Relaxed,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Hits {
    pub ids: Vec<i64>,
    /// How many products match. A lower bound unless [`Hits::total_is_exact`]:
    /// counting stops when the page is full and there are plenty.
    pub total: usize,
    pub total_is_exact: bool,
    /// Over all matches, not only this page.
    pub facets: Option<Facets>,
    /// By which means anything was found; meaningless when nothing was.
    pub strategy: Strategy,
}
