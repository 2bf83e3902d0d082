//! Repetition in English.

use jiff::civil::DateTime;

use super::rule_text::{
    CODES, WORKDAYS, days, days_through, every, monthly, nth_weekday, weekly, yearly,
};
use crate::model::time_words;

pub fn read(text: &str, start: DateTime) -> Option<String> {
    let text = text.replace([',', '/', '&', '_'], " ");
    let filler = [
        "and", "on", "the", "of", "a", "every", "each", "repeat", "repeats", "in", "at", "per",
    ];
    let words: Vec<&str> = text
        .split_whitespace()
        .flat_map(undashed)
        .filter(|word| !filler.contains(word))
        .collect();
    let simple = match words.as_slice() {
        ["daily" | "day" | "everyday" | "morning" | "mornings" | "evening" | "night"] => {
            Some("FREQ=DAILY".to_owned())
        }
        ["weekday" | "weekdays" | "workday" | "workdays"] => Some(days(1, &WORKDAYS)),
        ["business" | "working" | "work", "day" | "days"] => Some(days(1, &WORKDAYS)),
        ["weekend" | "weekends"] => Some(days(1, &["SA", "SU"])),
        ["weekly" | "week"] => Some(weekly(1, start)),
        ["biweekly" | "fortnightly" | "fortnight"] | ["bi", "weekly"] => Some(weekly(2, start)),
        ["monthly" | "month"] => Some(monthly(1, start.day())),
        ["bimonthly"] => Some(monthly(2, start.day())),
        ["quarterly" | "quarter"] => Some(monthly(3, start.day())),
        ["yearly" | "annually" | "annual" | "year"] => Some(yearly(1, start)),
        ["hourly" | "hour"] => Some("FREQ=HOURLY".to_owned()),
        ["last", "day", "month"]
        | ["month", "last", "day"]
        | ["month", "end"]
        | ["end", "month"] => Some("FREQ=MONTHLY;BYMONTHDAY=-1".to_owned()),
        _ => None,
    };
    if simple.is_some() {
        return simple;
    }
    let of_month: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !matches!(*word, "month" | "monthly"))
        .collect();
    let names_month = of_month.len() < words.len();
    let nth_day = match of_month.as_slice() {
        [nth, day] => ordinal(nth).zip(english_day(day)),
        _ => None,
    };
    // Without a month, "every second Tuesday" is every other one.
    if let (Some((nth, day)), true) = (nth_day, names_month) {
        return Some(nth_weekday(nth, day));
    }
    let (interval, rest) = interval(&words);
    if interval > 1 {
        let by_unit = match rest {
            ["day" | "days"] => Some(every(interval, "DAILY")),
            ["week" | "weeks"] => Some(weekly(interval, start)),
            ["month" | "months"] => Some(monthly(interval, start.day())),
            ["year" | "years"] => Some(yearly(interval, start)),
            ["hour" | "hours"] => Some(every(interval, "HOURLY")),
            ["week" | "weeks", named @ ..] => Some(days(interval, &english_days(named)?)),
            // "Every other Monday".
            named => Some(days(interval, &english_days(named)?)),
        };
        return by_unit;
    }
    if let Some((nth, day)) = nth_day {
        return Some(nth_weekday(nth, day));
    }
    if let ([day], true) = (of_month.as_slice(), names_month)
        && let Some(day) = month_day(day)
    {
        return Some(monthly(1, day));
    }
    let named: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !matches!(*word, "week" | "weekly"))
        .collect();
    Some(days(1, &english_days(&named)?))
}

/// Splits `2 weeks` and `other day` into the number and the rest.
fn interval<'a>(words: &'a [&'a str]) -> (u32, &'a [&'a str]) {
    match words {
        ["other" | "second" | "2nd", rest @ ..] if !rest.is_empty() => (2, rest),
        ["two", rest @ ..] => (2, rest),
        ["three", rest @ ..] => (3, rest),
        ["four", rest @ ..] => (4, rest),
        [number, rest @ ..] => match number.parse::<u32>() {
            Ok(number) if (1..=1_000).contains(&number) => (number, rest),
            _ => (1, words),
        },
        [] => (1, words),
    }
}

/// `mon-fri` is a range; other dashes only join words.
fn undashed(word: &str) -> Vec<&str> {
    match word.split('-').collect::<Vec<_>>().as_slice() {
        ["", ""] => vec![TO],
        [first, last] if english_day(first).is_some() && english_day(last).is_some() => {
            vec![first, TO, last]
        }
        parts => parts.to_vec(),
    }
}

const TO: &str = "to";

fn english_days(words: &[&str]) -> Option<Vec<&'static str>> {
    match words {
        [] => None,
        [first, TO | "through" | "thru" | "till" | "until", last] => {
            days_through(english_day(first)?, english_day(last)?)
        }
        _ => words.iter().map(|word| english_day(word)).collect(),
    }
}

fn english_day(word: &str) -> Option<&'static str> {
    // `mondays`, but not `mons`.
    let singular = word.strip_suffix('s').filter(|day| day.ends_with("day"));
    let day = time_words::english_weekday(singular.unwrap_or(word))?;
    CODES
        .get(usize::try_from(day.to_monday_zero_offset()).ok()?)
        .copied()
}

fn ordinal(word: &str) -> Option<i8> {
    Some(match word {
        "first" | "1st" => 1,
        "second" | "2nd" => 2,
        "third" | "3rd" => 3,
        "fourth" | "4th" => 4,
        "last" => -1,
        _ => return None,
    })
}

fn month_day(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = word.get(digits.len()..)?;
    let is_ordinal = matches!(suffix, "" | "st" | "nd" | "rd" | "th");
    digits
        .parse::<i8>()
        .ok()
        .filter(|day| is_ordinal && (1..=31).contains(day))
}
