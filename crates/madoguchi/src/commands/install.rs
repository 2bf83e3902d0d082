//! `madoguchi install` and `madoguchi uninstall`: entries for this program in the
//! configuration files of MCP clients.
//!
//! - `add`, `remove`: the two commands; `selection`: what their command line names; `ask`:
//!   their questions; `report`: what they print; `setups`: the same for the console
//! - `clients`: the table of clients; `paths`: where each keeps its files; `entries`: how
//!   each writes a server
//! - `wanted_entries`: what a client gets for each counter; `own_command`: the command that
//!   starts this program
//! - `edit`: what changes in a file; `format/`: the three file formats; `file`: reads and
//!   writes

mod add;
mod ask;
mod clients;
mod edit;
mod entries;
mod file;
mod format;
mod own_command;
mod paths;
mod remove;
mod report;
mod selection;
mod setups;
mod wanted_entries;

pub use add::install;
pub use remove::uninstall;
pub use setups::setups;
