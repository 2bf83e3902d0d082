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
//! | module | what it does |
//! |---|---|
//! | `document`, `query` | the types of the interface |
//! | `parts` | cuts text into parts; `letters` folds spellings |
//! | `analysis` | turns text into the terms that are indexed and looked up |
//! | `schema` | says what is kept of a product |
//! | `segment`, `view` | read the index |
//! | `index` | opens and reloads it; `writer` changes it |
//! | `cascade` | decides how hard to look |
//! | `matching` | looks in one segment; `vocabulary` finds mistyped words |
//! | `order`, `facets` | make the answer |

mod analysis;
mod cascade;
mod document;
mod error;
mod facets;
mod index;
mod letters;
mod matching;
mod order;
mod parts;
mod query;
mod schema;
mod segment;
mod view;
mod vocabulary;
mod writer;

pub use document::{Change, Document};
pub use error::{Error, OpenError};
pub use index::{Index, Options};
pub use query::{Facets, Hits, Query, Sort, Strategy};
