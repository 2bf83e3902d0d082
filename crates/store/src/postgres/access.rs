//! What a transaction may do.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

impl Access {
    /// The statements that begin such a transaction. All statements of a read see the
    /// same snapshot. Behind a pooler the search path isn't set yet.
    pub fn begin(self, is_pooled: bool) -> &'static str {
        match (self, is_pooled) {
            (Self::Read, false) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            (Self::Write, false) => "BEGIN",
            (Self::Read, true) => {
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path TO madoguchi"
            }
            (Self::Write, true) => "BEGIN; SET LOCAL search_path TO madoguchi",
        }
    }
}
