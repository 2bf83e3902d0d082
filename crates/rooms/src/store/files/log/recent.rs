//! How many messages an agent sent to a room in the last minute, through any
//! process: counted from the log.

use std::io;

use jiff::Timestamp;
use kit::minute_limit::MINUTE_MS;

use super::index::{Files, Index, Reader};

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
    // Times in the future were written before a clock was corrected.
    let is_recent = |time: &i64| (0..MINUTE_MS).contains(&(now - time));
    // Go back until a message is a minute old; in a quiet room the first step is enough.
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
