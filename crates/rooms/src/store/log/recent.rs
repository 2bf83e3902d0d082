//! How many messages an agent sent to a room in the last minute, through any
//! process: counted from the log.

use std::io;

use jiff::Timestamp;

use super::index::{Files, Index, Reader};
use crate::model::message::MINUTE_MS;

/// How long `agent` has to wait, in milliseconds, if it has sent `most` messages
/// in the minute before `now`.
pub fn wait(
    index: &Index,
    files: &Files,
    agent: &str,
    most: usize,
    now: Timestamp,
) -> io::Result<Option<i64>> {
    if index.sent_by(agent) < most as u64 {
        return Ok(None);
    }
    let mut reader = index.reader(files);
    let now = now.as_millisecond();
    // What comes from the future was written before a clock was set right.
    let is_recent = |time: &i64| (0..MINUTE_MS).contains(&(now - time));
    // Back to where a minute ago was; in a quiet room the first look is enough.
    let mut back = most;
    let from = loop {
        let from = index.count().saturating_sub(back);
        let recent = time(&mut reader, from)?.filter(is_recent);
        if recent.is_none() || from == 0 {
            break from;
        }
        back *= 2;
    };
    let Some(first) = index.by(agent, from).rev().nth(most - 1) else {
        return Ok(None);
    };
    let recent = time(&mut reader, first)?.filter(is_recent);
    Ok(recent.map(|time| time + MINUTE_MS - now))
}

fn time(reader: &mut Reader<'_>, number: usize) -> io::Result<Option<i64>> {
    let line = reader.line(number)?;
    Ok(line
        .and_then(|line| line.time())
        .map(Timestamp::as_millisecond))
}
