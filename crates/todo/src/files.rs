//! `.todo/` on disk.
//!
//! | module | what it does |
//! |---|---|
//! | `names` | names files relative to `.todo/` |
//! | `folder` | finds files |
//! | `stamp` | tells whether a file changed |
//! | `read` | reads complete files |
//! | `writers` | tells whether somebody has a file open for writing |
//! | `write` | puts new files in place |
//! | `replace` | does so while others save the same file |
//! | `lock` | keeps processes apart |
//! | `git` | finds the git directory |
//! | `numbers` | issues numbers across worktrees |
//! | `journal` | finishes a change that a crash interrupted |
//! | `undo_history` | keeps the last changes for `undo` |

pub mod folder;
pub mod git;
pub mod journal;
pub mod lock;
pub mod names;
pub mod numbers;
pub mod read;
pub mod replace;
pub mod stamp;
pub mod undo_history;
pub mod write;
pub mod writers;

pub use folder::Folder;
pub use names::{ADRS, CONTEXTS, INDEX, TASKS, adr_file, context_file};
pub use read::{LoadedFile, is_missing, is_writable};
pub use stamp::Stamp;
