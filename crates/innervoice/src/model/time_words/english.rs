//! Times in English.

use jiff::{
    SignedDuration, Span, ToSpan as _, Zoned,
    civil::{Date, Weekday},
};

use super::{
    days::{
        Days, coming, day_of_month, day_of_year, later, month, numeric_day, week, weekday_in,
        weekend, year,
    },
    parts::{Half, Parts, Reading, TimeOfDay, Unclear, colon_time},
};

/// Words that change nothing.
const FILLER: [&str; 7] = ["on", "the", "of", "o'clock", "by", "sharp", "this"];

pub fn read(text: &str, now: &Zoned) -> Reading<Parts> {
    let spaced = text
        .replace("p.m.", "pm")
        .replace("a.m.", "am")
        .replace([',', '(', ')'], " ");
    let mut words: Vec<&str> = spaced.split_whitespace().collect();
    // "this morning" is today, even if it has passed.
    for at in 1..words.len() {
        if let Some(["this", word]) = words.get(at - 1..=at)
            && half(word).is_some()
            && let Some(this) = words.get_mut(at - 1)
        {
            *this = "today";
        }
    }
    words.retain(|word| !FILLER.contains(word));
    let mut parts = Parts::default();
    let mut rest = words.as_slice();
    while !rest.is_empty() {
        let taken = take(&mut parts, rest, now)?;
        rest = rest.get(taken..).unwrap_or_default();
    }
    Ok(parts)
}

/// Reads the first words of `rest` and returns how many they were.
fn take(parts: &mut Parts, rest: &[&str], now: &Zoned) -> Reading<usize> {
    if let Some(taken) = relative(parts, rest, now) {
        return Ok(taken);
    }
    if parts.days.is_none()
        && let Some((days, taken)) = days(parts, rest, now)
    {
        parts.days = Some(days);
        return Ok(taken);
    }
    if let Some(weekday) = rest.first().and_then(|word| weekday(word))
        && parts.weekday.is_none()
        && !parts.by_weekday
    {
        parts.weekday = Some(weekday);
        return Ok(1);
    }
    if let Some(half) = rest.first().and_then(|word| half(word))
        && parts.half.is_none()
    {
        parts.half = Some(half);
        if rest.first() == Some(&"tonight") && parts.days.is_none() {
            parts.day(now.date());
        }
        return Ok(1);
    }
    // "in the morning".
    if let ["in", word, ..] = rest
        && half(word).is_some()
    {
        return Ok(1);
    }
    match clock(parts, rest)? {
        Some((time, taken)) if parts.time.is_none() => {
            parts.time = Some(time);
            Ok(taken)
        }
        _ => Err(Unclear::NotUnderstood),
    }
}

/// `in 30 minutes`, `+30m`, `2 hours from now`, `in 3 days`.
fn relative(parts: &mut Parts, rest: &[&str], now: &Zoned) -> Option<usize> {
    let (first, mut at, is_exact) = match rest {
        ["in", ..] => (1, 1, false),
        [word, ..] if word.starts_with('+') => (0, 0, true),
        _ if rest.ends_with(&["from", "now"]) || rest.ends_with(&["later"]) => (0, 0, false),
        _ => return None,
    };
    let (mut seconds, mut days) = (0, 0);
    while let Some((amount, taken)) = amount(rest.get(at..)?) {
        match amount {
            Amount::Seconds(more) => seconds += more,
            Amount::Days(more) => days += more,
        }
        at += taken;
    }
    if at == first || (seconds == 0 && days == 0) {
        return None;
    }
    at += match rest.get(at..)? {
        ["from", "now", ..] => 2,
        ["later", ..] => 1,
        _ => 0,
    };
    if seconds == 0 && !is_exact {
        parts.day(later(now, days)?);
        return Some(at);
    }
    let later = now.checked_add(Span::new().try_days(days).ok()?).ok()?;
    let later = later.checked_add(SignedDuration::from_secs(seconds)).ok()?;
    parts.at = Some(later.timestamp());
    Some(at)
}

enum Amount {
    Seconds(i64),
    Days(i32),
}

/// A number with its unit, and how many words they are: `30 minutes`, `30m`,
/// `an hour`, `half an hour`.
fn amount(words: &[&str]) -> Option<(Amount, usize)> {
    let joined = words.first()?.trim_start_matches('+');
    let digits = joined
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(joined.len());
    let (number, letters) = joined.split_at(digits);
    if !number.is_empty() && !letters.is_empty() {
        return Some((of_unit(number.parse().ok()?, letters)?, 1));
    }
    match words {
        ["and", rest @ ..] => amount(rest).map(|(amount, taken)| (amount, taken + 1)),
        ["half", "an", "hour", ..] => Some((Amount::Seconds(1_800), 3)),
        [number, unit, ..] => Some((of_unit(counted(number)?, unit)?, 2)),
        _ => None,
    }
}

fn counted(word: &str) -> Option<u16> {
    let words = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    match words.iter().position(|number| *number == word) {
        Some(at) => u16::try_from(at + 1).ok(),
        None if matches!(word, "a" | "an") => Some(1),
        None => word.parse().ok(),
    }
}

fn of_unit(number: u16, unit: &str) -> Option<Amount> {
    Some(match unit {
        "m" | "min" | "mins" | "minute" | "minutes" => Amount::Seconds(i64::from(number) * 60),
        "h" | "hr" | "hrs" | "hour" | "hours" => Amount::Seconds(i64::from(number) * 3_600),
        "d" | "day" | "days" => Amount::Days(number.into()),
        "w" | "week" | "weeks" => Amount::Days(i32::from(number) * 7),
        _ => return None,
    })
}

/// The days that the first words name, and how many words they are.
fn days(parts: &mut Parts, rest: &[&str], now: &Zoned) -> Option<(Days, usize)> {
    if let [name, rest @ ..] = rest
        && let Some(weekday) = weekday(name)
        && let Some((days, taken)) = dated(parts, rest, now)
    {
        parts.weekday = Some(weekday);
        return Some((days, taken + 1));
    }
    let one = |day: Date| (day, day);
    let found = match rest {
        ["today", ..] => (one(now.date()), 1),
        ["tomorrow" | "tmrw", ..] => (one(later(now, 1)?), 1),
        ["yesterday", ..] => (one(later(now, -1)?), 1),
        ["day", "after", "tomorrow", ..] => (one(later(now, 2)?), 3),
        ["day", "before", "yesterday", ..] => (one(later(now, -2)?), 3),
        ["next", "week", ..] => (week(now, 1)?, 2),
        ["next", "weekend", ..] => (weekend(now, 1)?, 2),
        ["next", "month", ..] => (month(now, 1)?, 2),
        ["next", "year", ..] => (year(now, 1)?, 2),
        ["week", ..] => (week(now, 0)?, 1),
        ["weekend", ..] => (weekend(now, 0)?, 1),
        ["end", rest @ ..] => {
            let ((_, last), taken) = match rest {
                ["month", ..] => (month(now, 0)?, 1),
                ["year", ..] => (year(now, 0)?, 1),
                [name, ..] if month_number(name).is_some() => {
                    let first = day_of_year(now, month_number(name)?, 28)?;
                    ((first, first.last_of_month()), 1)
                }
                _ => days(parts, rest, now)?,
            };
            (one(last), taken + 1)
        }
        ["next", name, ..] => (one(weekday_in(now, 1, weekday(name)?)?), 2),
        ["last", name, ..] => {
            let day = coming(now, weekday(name)?)?;
            (one(day.checked_sub(7.days()).ok()?), 2)
        }
        [name, "next", "week", ..] => (one(weekday_in(now, 1, weekday(name)?)?), 3),
        ["coming", name, ..] | [name, ..] if weekday(name).is_some() => {
            parts.by_weekday = true;
            let taken = 1 + usize::from(rest.first() == Some(&"coming"));
            (one(coming(now, weekday(name)?)?), taken)
        }
        _ => dated(parts, rest, now)?,
    };
    Some(found)
}

/// `november 20`, `20 november 2026`, `the 20th`, `11/20`, `2026-11-20`.
fn dated(parts: &mut Parts, rest: &[&str], now: &Zoned) -> Option<(Days, usize)> {
    let (month, day) = match rest {
        [name, day, ..] if month_number(name).is_some() => (month_number(name)?, ordinal(day)?),
        [day, name, ..] if month_number(name).is_some() => (month_number(name)?, ordinal(day)?),
        [day, ..] => {
            let day = match ordinal_only(day) {
                Some(day) => day_of_month(now, day)?,
                None => numeric_day(day, now)?,
            };
            return Some(((day, day), 1));
        }
        [] => return None,
    };
    let year = rest.get(2).and_then(|year| year.parse::<i16>().ok());
    let (day, taken) = match year.filter(|year| (1970..=2200).contains(year)) {
        Some(year) => (Date::new(year, month, day).ok()?, 3),
        None => {
            parts.has_no_year = true;
            (day_of_year(now, month, day)?, 2)
        }
    };
    Some(((day, day), taken))
}

fn half(word: &str) -> Option<Half> {
    Some(match word {
        "morning" => Half::Morning,
        "afternoon" | "evening" => Half::Afternoon,
        "night" | "tonight" => Half::Night,
        _ => return None,
    })
}

/// `3pm`, `3 pm`, `15:00`, `noon`, `at 15`; `at 3` only with a part of the day.
fn clock(parts: &Parts, rest: &[&str]) -> Reading<Option<(TimeOfDay, usize)>> {
    let (skipped, rest) = match rest {
        ["at", rest @ ..] => (1, rest),
        _ => (0, rest),
    };
    let Some(word) = rest.first() else {
        return Ok(None);
    };
    let whole = |hour| TimeOfDay { hour, minute: 0 };
    match *word {
        "noon" | "midday" => return Ok(Some((whole(12), skipped + 1))),
        "midnight" => return Ok(Some((whole(0), skipped + 1))),
        _ => {}
    }
    let joined = word.strip_suffix("am").or_else(|| word.strip_suffix("pm"));
    let suffix = match joined {
        Some(_) => word.get(word.len() - 2..),
        None => rest
            .get(1)
            .copied()
            .filter(|next| matches!(*next, "am" | "pm")),
    };
    let number = joined.unwrap_or(word);
    let time = match number.contains(':') {
        true => colon_time(number),
        false => number.parse().ok().map(whole),
    };
    // `25:00` is one o'clock on the next day.
    let latest = if number.contains(':') { 29 } else { 23 };
    let Some(time) = time.filter(|time| (0..=latest).contains(&time.hour)) else {
        return Ok(None);
    };
    let taken = skipped + 1 + usize::from(suffix.is_some() && joined.is_none());
    if let Some(suffix) = suffix {
        if !(1..=12).contains(&time.hour) {
            return Ok(None);
        }
        let hour = time.hour % 12 + if suffix == "pm" { 12 } else { 0 };
        return Ok(Some((TimeOfDay { hour, ..time }, taken)));
    }
    let names_part = parts.half.is_some() || rest.iter().any(|word| half(word).is_some());
    let is_clear = number.contains(':') || names_part || !(1..=12).contains(&time.hour);
    // A bare number is an hour only after "at" or a day.
    if skipped == 0 && !number.contains(':') && !names_part {
        return Ok(None);
    }
    match is_clear {
        true => Ok(Some((time, taken))),
        false => Err(Unclear::HalfOfDay),
    }
}

/// `monday`, `mon`.
pub fn weekday(word: &str) -> Option<Weekday> {
    let names = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let at = names
        .iter()
        .position(|name| word.len() >= 3 && name.starts_with(word))?;
    Weekday::from_monday_zero_offset(i8::try_from(at).ok()?).ok()
}

fn month_number(word: &str) -> Option<i8> {
    let names = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let at = names
        .iter()
        .position(|name| word.len() >= 3 && name.starts_with(word))?;
    i8::try_from(at + 1).ok()
}

/// `20` or `20th`.
fn ordinal(word: &str) -> Option<i8> {
    ordinal_only(word).or_else(|| word.parse().ok())
}

/// `20th`.
fn ordinal_only(word: &str) -> Option<i8> {
    let ends = ["st", "nd", "rd", "th"];
    let number = ends.iter().find_map(|end| word.strip_suffix(end))?;
    number.parse().ok()
}
