//! `madoguchi install` and `madoguchi uninstall`: entries for this program in the
//! configuration files of MCP clients.
//!
//! `clients.rs` is the table of clients; `format/` edits the three file formats;
//! `edit.rs` decides what changes; `file.rs` writes.

mod add;
mod ask;
mod clients;
mod edit;
mod entries;
mod file;
mod format;
mod launch;
mod paths;
mod program;
mod remove;
mod report;
mod selection;

pub use add::install;
pub use remove::uninstall;
