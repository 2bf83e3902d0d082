//! What the system says when too many files are open.

use std::io;

/// Whether this process, or the system, may not open another file.
pub fn is_out_of_handles(error: &io::Error) -> bool {
    // ENFILE and EMFILE, for which the standard library has no names yet.
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}
