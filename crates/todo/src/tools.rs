//! The counter's tools, one file each: input, output, description, handler.
//!
//! A tool that changes something has a function `apply`, which `batch` calls too.

mod arguments;
pub mod batch;
mod check;
pub mod create_adr;
pub mod create_task;
pub mod declare;
pub mod delete_task;
pub mod edit_document;
mod file_search;
pub mod get_adr;
pub mod get_context;
pub mod get_task;
mod hints;
pub mod link_tasks;
pub mod list_adrs;
pub mod list_tasks;
mod listing;
pub mod next_tasks;
pub mod reorder_task;
pub mod search;
pub mod search_contexts;
pub mod search_tasks;
mod subtask_change;
pub mod undo;
pub mod update_adr_status;
pub mod update_context;
pub mod update_task;

pub use declare::published;
