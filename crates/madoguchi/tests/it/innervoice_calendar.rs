//! The calendar as other programs read it.
