//! How much work the expansion of a rule may take.

use std::cell::Cell;

use jiff::Timestamp;

/// Counts down with every day examined and every time found, so that no rule
/// takes too long.
#[derive(Debug)]
pub struct Steps {
    left: Cell<u32>,
    ran_out: Cell<bool>,
}

impl Steps {
    pub fn new(most: u32) -> Self {
        Self {
            left: Cell::new(most),
            ran_out: Cell::new(false),
        }
    }

    /// `false` when fewer are left; then none are left.
    pub fn take(&self, count: u32) -> bool {
        match self.left.get().checked_sub(count) {
            Some(left) => self.left.set(left),
            None => {
                self.left.set(0);
                self.ran_out.set(true);
            }
        }
        !self.ran_out.get()
    }

    pub fn left(&self) -> u32 {
        self.left.get()
    }

    pub fn ran_out(&self) -> bool {
        self.ran_out.get()
    }
}

/// The steps ran out before enough times were found.
#[derive(Debug, PartialEq, Eq)]
pub struct TooCostly {
    /// The times found until then.
    pub found: Vec<Timestamp>,
}
