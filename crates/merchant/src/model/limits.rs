//! The limits of a cart.

/// How many items a plan may list, before equal ones are merged.
pub const MAX_ITEMS: usize = 1000;

/// A larger mandate is refused. An answer contains it twice, as text and as structured
/// content; clients want answers below 256 kB.
pub const MAX_MANDATE_BYTES: usize = 120_000;
