//! A name for a process, under which it takes on work, and by which others see
//! that it is gone.

use std::any::Any;

const LENGTH: usize = 16;
/// Only of a name with this anybody can say that its owner is gone.
const MARKED: &str = "alive-";

/// Kept by its process for as long as it works in its name.
pub struct Presence {
    name: String,
    _mark: Option<Box<dyn Any + Send + Sync>>,
}

impl Presence {
    /// Of which nobody can tell whether it is still there: what it took on is
    /// its own until the time for it has run out.
    pub fn unmarked() -> Self {
        Self {
            name: crate::ids::random("", LENGTH),
            _mark: None,
        }
    }

    /// `mark` is what the process lets go of when it ends, however it ends.
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
