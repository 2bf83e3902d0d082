//! Full-text search over contexts, records and every other Markdown file under
//! `.todo/`.
//!
//! Small projects are held in memory, folded. Beyond a budget a file leaves only
//! a signature behind, which says for nearly every file that lacks a word that it
//! lacks it; the rest are read again. `catalog` keeps both current, `fold` makes
//! texts comparable, `rank` says how well they match, `excerpt` shows where.

mod catalog;
mod excerpt;
mod fold;
mod rank;
mod signature;
mod walk;

pub use catalog::{Catalog, Kind};
pub use excerpt::excerpt;
pub use fold::{fold, fold_bytes};
pub use rank::{Query, Strength};
