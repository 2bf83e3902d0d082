//! Embedded full-text search over products, in Japanese and Latin script.
//!
//! An [`Index`] is a directory that is derived from the caller's data. It can
//! be deleted and rebuilt at any time. The caller counts its changes and
//! applies them in order with [`Index::apply`]. The count is stored with them,
//! so that after a crash [`Index::position`] says where to resume.
//!
//! One process at a time writes. All processes can search, and every search
//! sees the latest commit.
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
mod directory;
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
pub use index::{Bulk, Index, Options};
pub use query::{Facets, Hits, Query, Sort, Strategy};
