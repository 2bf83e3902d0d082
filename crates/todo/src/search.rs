//! Full-text search over contexts, records and every other Markdown file under
//! `.todo/`.
//!
//! Every text is kept folded, the first megabyte in memory and the rest in a
//! temporary file, with a signature that says which words it certainly lacks.
//! The others are looked through from one end to the other: tens of megabytes
//! take milliseconds, and nothing is missed. `catalog` keeps them current,
//! `texts` holds them, `fold` makes texts comparable, `rank` says how well they
//! match, `excerpt` shows where.

mod catalog;
mod excerpt;
mod fold;
mod rank;
mod reader;
mod signature;
mod texts;
mod walk;

pub use catalog::{Catalog, Hit, Kind};
pub use excerpt::excerpt;
pub use fold::{fold, fold_bytes};
pub use rank::{Query, Strength};
