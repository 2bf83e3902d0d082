//! Where a record stands in the whole trail.

use std::{fmt, str::FromStr, sync::Arc};

use kit::Result;

/// Records are in order of time; those of the same millisecond by segment and number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub at: i64,
    pub segment: Arc<str>,
    pub seq: u64,
}

impl Position {
    /// Before every record of this millisecond.
    pub fn at(at: i64) -> Self {
        Self {
            at,
            segment: "".into(),
            seq: 0,
        }
    }
}

/// As part of an address.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.at, self.seq, self.segment)
    }
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let mut parts = text.splitn(3, '.');
        let mut next = || parts.next().ok_or(());
        Ok(Self {
            at: next()?.parse().map_err(drop)?,
            seq: next()?.parse().map_err(drop)?,
            segment: next()?.into(),
        })
    }
}

/// One line of the trail.
#[derive(Debug)]
pub struct TrailLine {
    pub position: Position,
    pub line: String,
    pub arguments: ArgumentsOfLine,
}

#[derive(Debug)]
pub enum ArgumentsOfLine {
    /// Those that were wanted are read later.
    NotRead,
    Read(Option<String>),
}

/// The lines of all segments, newest first.
pub type NewestFirst<'a> = Box<dyn Iterator<Item = Result<TrailLine>> + 'a>;

/// The time of a line, without checking the line: that is left to its hash. Millions
/// of lines are passed over, so this does no more than it must.
pub fn at_of(line: &str) -> i64 {
    let text = line.split_once("\"at\":\"").map(|(_, rest)| rest);
    text.and_then(milliseconds).unwrap_or(0)
}

/// Of a text such as `2026-11-16T14:05:00.123Z`.
fn milliseconds(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.as_bytes().get(from..to)?;
        digits.iter().try_fold(0, |sum, digit| {
            let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
            Some(sum * 10 + digit)
        })
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    // Years begin in March here, so that the day that comes and goes is their last.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    // 1970-01-01 is this many days after the first of March of the year 0.
    let days = year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + number(11, 13)?) * 60 + number(14, 16)?) * 60 + number(17, 19)?;
    Some(seconds * 1000 + number(20, 23)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::record::time;

    #[test]
    fn the_time_of_a_line_is_read_as_it_was_written() {
        for at in [
            0,
            951_782_400_123,
            951_868_799_999,
            1_794_844_800_001,
            4_107_542_399_999,
        ] {
            let line = format!("{{\"seq\":1,\"prev\":\"0\",\"at\":\"{}\"}}", time(at));
            assert_eq!(at_of(&line), at, "{line}");
        }
        for damaged in ["", "{}", "\"at\":\"", "\"at\":\"2026-1x-16T00:00:00.000Z\""] {
            assert_eq!(at_of(damaged), 0, "{damaged}");
        }
    }

    #[test]
    fn a_position_survives_an_address() {
        let position = Position {
            at: 1_794_844_800_001,
            segment: "2026-11-16T14-05-00Z-abcdefgh".into(),
            seq: 7,
        };
        assert_eq!(position.to_string().parse(), Ok(position));
        for broken in ["", "1", "1.2", "x.2.s", "1.x.s", "1.-2.s"] {
            assert!(broken.parse::<Position>().is_err(), "{broken}");
        }
    }
}
