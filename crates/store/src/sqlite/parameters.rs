//! The parameters of a statement: `$1`, `$2` … as on PostgreSQL, and their values.

use std::borrow::Cow;

use kit::{Error, Param, Result};
use rusqlite::{Statement, types::Null};

use super::errors::failure_of;

/// To SQLite `$2` is a name, which is numbered by its first appearance and searched
/// linearly. `?2` is the second parameter, as `$2` is on PostgreSQL.
pub fn numbered(sql: &str) -> Cow<'_, str> {
    if !sql.contains('$') {
        return Cow::Borrowed(sql);
    }
    let mut text = String::with_capacity(sql.len());
    let mut pieces = sql.split('$');
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let is_number = piece.starts_with(|first: char| first.is_ascii_digit());
        text.push(if is_number { '?' } else { '$' });
        text.push_str(piece);
    }
    Cow::Owned(text)
}

pub fn bind(statement: &mut Statement<'_>, params: &[Param<'_>]) -> Result<()> {
    let highest = statement.parameter_count();
    if highest != params.len() {
        return Err(Error::internal(format!(
            "a statement with ${highest} was given {} parameters",
            params.len()
        )));
    }
    for (index, param) in (1..).zip(params) {
        match param {
            Param::Null => statement.raw_bind_parameter(index, Null),
            Param::Int(value) => statement.raw_bind_parameter(index, value),
            Param::Real(value) => statement.raw_bind_parameter(index, value),
            Param::Text(value) => statement.raw_bind_parameter(index, value),
        }
        .map_err(|error| failure_of(&error))?;
    }
    Ok(())
}
