//! Moves an installation from SQLite and files to PostgreSQL, and back.
//!
//! The source is stopped and does not change. The target is empty, and nobody can use it
//! before everything is there and the source is marked as moved: on PostgreSQL a hold
//! says that data is arriving, in a directory a mark does.
//!
//! | file | content |
//! |---|---|
//! | `tables.rs` | which tables there are, in an order in which they can be filled |
//! | `rows.rs` | copies all rows of all tables between the engines |
//! | `same_tables.rs` | brings source and target to the same version |
//! | `to_postgres.rs`, `to_directory.rs` | the two directions |
//! | `folder.rs` | the files of rooms, which become tables |
//! | `only_files.rs` | these files alone |
//! | `outcome.rs` | what was moved |

mod folder;
mod only_files;
mod outcome;
mod rows;
mod same_tables;
mod tables;
mod to_directory;
mod to_postgres;

pub use folder::Folder;
pub use only_files::{files_to_postgres, postgres_to_files};
pub use outcome::MovedData;
pub use to_directory::{to_directory, unmark_interrupted};
pub use to_postgres::to_postgres;
