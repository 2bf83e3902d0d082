//! A counter's own page in the console, as data. The console draws it, so pages of all
//! counters look alike, and no text of an agent can become anything but text.
//!
//! What a person does on the page is a call of one of the counter's tools. It passes
//! the same stations as every other call.

mod action;
mod board;
mod calendar;
mod cell_table;
mod cells;
mod kept_query;
mod link;
mod list;
mod messages;
mod number_input;
mod page;
mod plan;
mod receipt;
mod search;
mod tag;
mod text_input;
mod words;

pub use action::{Action, Input};
pub use board::{Board, Card, CardMove, Column};
pub use calendar::{Calendar, CalendarEntry, EntryTime};
pub use cell_table::{CellRow, CellTable, RowAction};
pub use cells::Cell;
pub use link::{PageLink, Query};
pub use list::ListItem;
pub use messages::{Message, Messages};
pub use number_input::NumberInput;
pub use page::{ConsolePage, PageQuery, Part, Section};
pub use plan::{Place, PlaceState, Plan, PlanRow};
pub use receipt::{Receipt, ReceiptLine};
pub use search::Search;
pub use tag::{Tag, Tone};
pub use text_input::{Choice, TextInput, TextKind};
pub use words::{pick, pick_all};
