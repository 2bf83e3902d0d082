//! The name under which a process claims work. Other processes can detect by it that
//! the process has ended.

use std::any::Any;

const LENGTH: usize = 16;
/// Prefix of names whose owner's exit can be detected.
const MARKED: &str = "alive-";

/// Kept by its process for as long as it works under the name.
pub struct Presence {
    name: String,
    _mark: Option<Box<dyn Any + Send + Sync>>,
}

impl Presence {
    /// A name whose owner's exit can't be detected: its claims last until they
    /// expire.
    pub fn unmarked() -> Self {
        Self {
            name: crate::ids::random("", LENGTH),
            _mark: None,
        }
    }

    /// `mark` is something that is released when the process ends, however it ends.
    pub fn marked(name: String, mark: impl Any + Send + Sync) -> Self {
        Self {
            name,
            _mark: Some(Box::new(mark)),
        }
    }

    /// A name for [`Presence::marked`].
    pub fn new_name() -> String {
        crate::ids::random(MARKED, LENGTH)
    }

    pub fn is_marked(name: &str) -> bool {
        name.starts_with(MARKED)
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}
