//! The end of a repetition in words: `until the end of the year`, `5回`.

use jiff::{
    Span, ToSpan as _, Zoned,
    civil::{Date, DateTime},
};

use crate::model::time_words::{self, SaidTime};

/// Ways to split a text into a repetition and the end of its rule: `COUNT=5` or
/// `UNTIL=20261231`. Only one of them makes sense, if any.
pub fn splits(text: &str, start: DateTime, now: &Zoned) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut add = |repetition: &str, end: Option<String>| {
        let repetition = repetition.trim_matches([' ', ',', '、', '計', '全']);
        found.extend(end.map(|end| (repetition.to_owned(), end)));
    };
    let until = |day: &str| last_day(day, start, now).map(until_part);
    for word in [" until ", " till ", " til ", " through ", " ending "] {
        if let Some((repetition, day)) = text.rsplit_once(word) {
            add(repetition, until(day));
        }
    }
    if let Some(both) = text.strip_suffix("まで") {
        for (at, _) in both.char_indices().skip(1) {
            let (repetition, day) = both.split_at(at);
            add(repetition, until(day));
        }
    } else if let Some((day, repetition)) = text.split_once("まで") {
        add(repetition, until(day));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [repetition @ .., number, unit] = words.as_slice() {
        let is_count = matches!(*unit, "times" | "occurrences");
        let bare = repetition.strip_suffix(&["for"]).unwrap_or(repetition);
        let number = if *number == "a" { "1" } else { number };
        if is_count {
            add(&bare.join(" "), count_part(number));
        } else if bare.len() < repetition.len() {
            let last = span(number, unit).and_then(|span| end_of(start, span));
            add(&bare.join(" "), last.map(until_part));
        }
    }
    if let Some((repetition, number)) = text.strip_suffix('回').map(split_number) {
        add(repetition, count_part(number));
    }
    for unit in ["日間", "週間", "か月間", "ヶ月間", "年間"] {
        if let Some((repetition, number)) = text.strip_suffix(unit).map(split_number) {
            let last = span(number, unit).and_then(|span| end_of(start, span));
            add(repetition, last.map(until_part));
        }
    }
    found
}

/// The number at the end of a text, and what is before it.
fn split_number(text: &str) -> (&str, &str) {
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
    text.split_at(before.len())
}

fn count_part(number: &str) -> Option<String> {
    let number: u32 = number.parse().ok()?;
    (1..=10_000)
        .contains(&number)
        .then(|| format!("COUNT={number}"))
}

fn until_part(day: Date) -> String {
    format!("UNTIL={}", day.strftime("%Y%m%d"))
}

/// The last day that is meant. Words count from now, or from the start if that day
/// would be before it.
fn last_day(text: &str, start: DateTime, now: &Zoned) -> Option<Date> {
    let from = |now: &Zoned| match time_words::read(text, now, None).ok()? {
        SaidTime::Days(_, last) => Some(last),
        SaidTime::Local(local) => Some(local.date()),
        SaidTime::At(at) => Some(at.to_zoned(now.time_zone().clone()).date()),
    };
    let day = from(now)?;
    match day < start.date() {
        true => from(&start.to_zoned(now.time_zone().clone()).ok()?),
        false => Some(day),
    }
}

fn span(number: &str, unit: &str) -> Option<Span> {
    let number: i64 = number
        .parse()
        .ok()
        .filter(|number| (1..=1_000).contains(number))?;
    Some(match unit {
        "day" | "days" | "日間" => number.days(),
        "week" | "weeks" | "週間" => number.weeks(),
        "month" | "months" | "か月間" | "ヶ月間" => number.months(),
        "year" | "years" | "年間" => number.years(),
        _ => return None,
    })
}

/// The last day of a span that begins with the first.
fn end_of(start: DateTime, span: Span) -> Option<Date> {
    start.date().checked_add(span).ok()?.yesterday().ok()
}
