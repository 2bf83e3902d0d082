//! Compares the stored arguments of a record with the record.

use super::report::Report;
use crate::audit::record::{Record, Salted, StoredArguments};

/// What is expected of the arguments of one record.
pub struct ExpectedArguments {
    /// Whether the record was made with arguments.
    pub exist: bool,
    pub erasure_is_recorded: bool,
    /// Whether they may be missing without an erasure.
    pub may_be_missing: bool,
}

/// The stored arguments must match the record, or be erased.
pub fn check_arguments(
    record: &Record<'_>,
    stored: Option<&str>,
    expected: &ExpectedArguments,
    report: &mut Report,
) -> std::result::Result<(), &'static str> {
    let Some(stored) = stored else {
        match expected {
            ExpectedArguments { exist: false, .. } => {}
            // A half erased line can't be read.
            _ if expected.erasure_is_recorded => report.not_yet_erased += 1,
            _ if expected.may_be_missing => report.without_arguments += 1,
            _ => return Err("its arguments are missing, but no erasure is recorded"),
        }
        return Ok(());
    };
    let stored: StoredArguments =
        serde_json::from_str(stored).map_err(|_| "its stored arguments can't be read")?;
    let matches = |stored: &Option<Salted>, commitment: Option<&str>| {
        stored.as_ref().map(Salted::commitment).as_deref() == commitment
    };
    if stored.erased && expected.exist && stored.arguments.is_none() && stored.personal.is_none() {
        report.erased += 1;
        return match expected.erasure_is_recorded {
            true => Ok(()),
            false => Err("its arguments were erased, but no erasure is recorded"),
        };
    }
    if stored.erased
        || !matches(&stored.arguments, record.arguments.as_deref())
        || !matches(&stored.personal, record.personal.as_deref())
    {
        return Err("its stored arguments do not match it");
    }
    report.not_yet_erased += u64::from(expected.erasure_is_recorded);
    Ok(())
}
