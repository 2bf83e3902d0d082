//! The file that `backup` writes: a plain tar archive that any `tar` can read.
//!
//! | entry | content |
//! |---|---|
//! | `manifest.json` | what this is, the moment it shows, and name, size and SHA-256 of every part |
//! | the parts | `audit/…`, `rooms/…`, `assets/…`, `desk.secret`, `madoguchi.db` |
//! | `manifest.sha256` | the SHA-256 of the manifest, as `sha256sum` writes it |
//!
//! Every byte follows from the manifest and the parts: the headers, the padding and the
//! end are compared with what this program would write. So a file that was changed, cut
//! off or made by hand with links, special files or other surprises is refused, and the
//! only names that matter are those in the manifest.

mod entry;
mod manifest;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use manifest::Manifest;
pub use read::Archive;
pub use write::{Content, Part, write};
