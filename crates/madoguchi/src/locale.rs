//! The language and the times of the person who reads what a command prints.

use desk::language;
use jiff::{Timestamp, Zoned, tz::TimeZone};
use kit::{context::Language, time};

/// From the locale; English if it names no language.
pub fn language() -> Language {
    language::of_environment().unwrap_or(Language::English)
}

/// The text in the reader's language.
pub fn pick<'a>(english: &'a str, japanese: &'a str) -> &'a str {
    match language() {
        Language::English => english,
        Language::Japanese => japanese,
    }
}

/// For programs, in UTC.
pub fn utc(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |at| at.to_string())
}

/// As the reader writes it, in their time zone.
pub fn written(ms: i64) -> String {
    in_zone(ms).map_or_else(|| ms.to_string(), |at| time::written(&at, language()))
}

/// With seconds, for records in order of time.
pub fn written_to_the_second(ms: i64) -> String {
    let write = |at: Zoned| time::written_to_the_second(&at, language());
    in_zone(ms).map_or_else(|| ms.to_string(), write)
}

/// `12.3 MB`
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

fn in_zone(ms: i64) -> Option<Zoned> {
    let at = Timestamp::from_millisecond(ms).ok()?;
    Some(at.to_zoned(TimeZone::system()))
}

/// How far a time is from now: `in 8 minutes`, `3日前`.
pub fn distance(ms: i64, now: i64) -> String {
    in_words(ms - now, language())
}

fn in_words(ms: i64, language: Language) -> String {
    const UNITS: [(i64, &str, &str); 3] = [
        (24 * 60 * 60, "day", "日"),
        (60 * 60, "hour", "時間"),
        (60, "minute", "分"),
    ];
    let seconds = ms.abs() / 1000;
    let unit = UNITS.iter().find(|(length, ..)| seconds >= *length);
    let Some((length, english, japanese)) = unit else {
        return match (language, ms >= 0) {
            (Language::English, true) => "in less than a minute".into(),
            (Language::English, false) => "less than a minute ago".into(),
            (Language::Japanese, true) => "1分以内".into(),
            (Language::Japanese, false) => "たった今".into(),
        };
    };
    let count = seconds / length;
    let plural = if count == 1 { "" } else { "s" };
    match (language, ms >= 0) {
        (Language::English, true) => format!("in {count} {english}{plural}"),
        (Language::English, false) => format!("{count} {english}{plural} ago"),
        (Language::Japanese, true) => format!("{count}{japanese}後"),
        (Language::Japanese, false) => format!("{count}{japanese}前"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_in_the_largest_unit() {
        for (seconds, english, japanese) in [
            (59, "in less than a minute", "1分以内"),
            (-1, "less than a minute ago", "たった今"),
            (60, "in 1 minute", "1分後"),
            (-7 * 60, "7 minutes ago", "7分前"),
            (3 * 3600 + 59, "in 3 hours", "3時間後"),
            (-49 * 3600, "2 days ago", "2日前"),
        ] {
            assert_eq!(in_words(seconds * 1000, Language::English), english);
            assert_eq!(in_words(seconds * 1000, Language::Japanese), japanese);
        }
    }
}
