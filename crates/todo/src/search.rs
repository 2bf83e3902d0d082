//! Full-text search over contexts, records and every other Markdown file under
//! `.todo/`.
//!
//! Every text is kept folded, the first megabyte in memory and the rest in a
//! temporary file. A signature for each text rules out words that it cannot
//! contain. The remaining texts are scanned completely, so nothing is missed;
//! tens of megabytes take milliseconds. `catalog` keeps the texts current,
//! `texts` stores them, `fold` makes them comparable, `rank` scores them,
//! `excerpt` shows the match.

mod catalog;
mod excerpt;
mod fold;
mod rank;
mod reader;
mod reports;
mod signature;
mod texts;
mod walk;

pub use catalog::{Catalog, FileKind, Hit};
pub use excerpt::{excerpt, excerpt_at};
pub use fold::{fold, fold_bytes};
pub use rank::{MatchMode, Query};
pub use reports::Fence;
