//! Turns what people say about repetition, in English or Japanese, into rules.
//!
//! Rules made from words never skip: the 31st becomes the last day of a shorter
//! month, and 29 February becomes the 28th in other years. A rule given as an
//! RRULE keeps RFC 5545's meaning, which skips such days.

mod end;
mod english;
mod japanese;
mod rule_text;

use jiff::{Zoned, civil::DateTime};

use super::repeat::Rule;

/// What somebody meant by `repeat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repeat {
    Once,
    /// The text of an RRULE.
    Rule(String),
}

/// `None` when the text is not understood. `Err` says what is wrong with an RRULE.
pub fn read(text: &str, start: DateTime, now: &Zoned) -> Result<Option<Repeat>, String> {
    let text = kit::text::narrow(text);
    let upper: String = text.to_uppercase().split_whitespace().collect();
    if upper.contains("FREQ=") {
        let rule = upper.strip_prefix("RRULE:").unwrap_or(&upper);
        Rule::parse(rule)?;
        return Ok(Some(Repeat::Rule(rule.to_owned())));
    }
    let lower = text.to_lowercase().replace(['–', '—', '−', '~', '〜'], "-");
    if is_once(&lower) {
        return Ok(Some(Repeat::Once));
    }
    if let Some(rule) = endless(&lower, start) {
        return Ok(Some(Repeat::Rule(rule)));
    }
    let ended = end::splits(&lower, start, now)
        .into_iter()
        .find_map(|(repetition, end)| Some(format!("{};{end}", endless(&repetition, start)?)));
    Ok(ended.map(Repeat::Rule))
}

fn endless(text: &str, start: DateTime) -> Option<String> {
    match text.is_ascii() {
        true => english::read(text, start),
        false => japanese::read(text, start),
    }
}

fn is_once(text: &str) -> bool {
    matches!(
        text,
        "" | "no"
            | "none"
            | "never"
            | "once"
            | "off"
            | "false"
            | "null"
            | "なし"
            | "無し"
            | "繰り返しなし"
            | "一度"
            | "一回"
            | "1回"
            | "しない"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Thursday, the last day of a long month.
    const START: &str = "2026-12-31T08:00";

    fn read_now(text: &str) -> Result<Option<Repeat>, String> {
        let now = "2026-11-18T10:00[Asia/Tokyo]".parse().unwrap();
        read(text, START.parse().unwrap(), &now)
    }

    fn rule(text: &str) -> String {
        match read_now(text) {
            Ok(Some(Repeat::Rule(rule))) => {
                Rule::parse(&rule).unwrap_or_else(|why| panic!("{text} → {rule}: {why}"));
                rule
            }
            other => format!("{other:?}"),
        }
    }

    /// Phrases that mean the same, and their rule.
    const PHRASES: &[(&str, &str)] = &[
        ("daily | every day | Everyday | 毎日 | 毎朝", "FREQ=DAILY"),
        (
            "weekdays | every weekday | 平日 | business days | 月火水木金 | Mon-Fri | \
             mon – fri | Monday to Friday | every monday through friday | 月〜金 | \
             月曜から金曜まで | 毎週月曜日～金曜日",
            "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        ),
        (
            "weekends | 週末 | 毎週土日 | sat, sun | sat-sun | 土〜日",
            "FREQ=WEEKLY;BYDAY=SA,SU",
        ),
        (
            "weekly | every week | 毎週 | 毎週木曜日",
            "FREQ=WEEKLY;BYDAY=TH",
        ),
        (
            "every monday | Mondays | 毎週月曜 | 毎週月曜日 | 月曜 | mon",
            "FREQ=WEEKLY;BYDAY=MO",
        ),
        (
            "every mon, wed and fri | Monday/Wednesday/Friday | 毎週月水金 | \
             毎週月・水・金 | 毎週 月曜、水曜、金曜 | 毎週月曜と水曜と金曜 | weekly on fri mon wed | \
             Mon-Wed-Fri",
            "FREQ=WEEKLY;BYDAY=MO,WE,FR",
        ),
        (
            "biweekly | every other week | every 2 weeks | 隔週 | ２週間ごと | \
             fortnightly",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TH",
        ),
        (
            "every other monday | every second monday | 隔週月曜日 | every 2 weeks on monday",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO",
        ),
        (
            "every other day | 隔日 | 一日おき | 2日ごと",
            "FREQ=DAILY;INTERVAL=2",
        ),
        ("monthly | every month | 毎月", "FREQ=MONTHLY;BYMONTHDAY=-1"),
        (
            "毎月末 | 月末 | last day of the month | end of month | 毎月の最終日",
            "FREQ=MONTHLY;BYMONTHDAY=-1",
        ),
        (
            "毎月15日 | every month on the 15th | 15th of every month",
            "FREQ=MONTHLY;BYMONTHDAY=15",
        ),
        (
            "毎月30日 | monthly on the 30th",
            "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1",
        ),
        (
            "毎月第1月曜 | first monday of every month | 毎月第一月曜日",
            "FREQ=MONTHLY;BYDAY=1MO",
        ),
        (
            "毎月第2火曜 | every second tuesday of the month | 2nd Tuesday of every month",
            "FREQ=MONTHLY;BYDAY=2TU",
        ),
        (
            "毎月最終金曜 | last friday of the month",
            "FREQ=MONTHLY;BYDAY=-1FR",
        ),
        (
            "every 3 months | quarterly | 3か月ごと | ３ヶ月ごと",
            "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=-1",
        ),
        (
            "yearly | annually | every year | 毎年",
            "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31",
        ),
        ("hourly | every hour | 毎時", "FREQ=HOURLY"),
        ("every 4 hours | 4時間ごと", "FREQ=HOURLY;INTERVAL=4"),
        (
            "RRULE:FREQ=DAILY;COUNT=3 | freq=daily;count=3 | \
             RRULE: FREQ=DAILY; COUNT=3",
            "FREQ=DAILY;COUNT=3",
        ),
        (
            "every monday until the end of january | 毎週月曜、1月末まで | 1月末まで毎週月曜日 | \
             mondays till 2027-01-31 | every monday until january 31",
            "FREQ=WEEKLY;BYDAY=MO;UNTIL=20270131",
        ),
        (
            "daily until the end of the year | 年末まで毎日 | 毎日 年末まで",
            "FREQ=DAILY;UNTIL=20261231",
        ),
        ("daily for 2 weeks | 毎日2週間", "FREQ=DAILY;UNTIL=20270113"),
        (
            "daily, 5 times | every day for 5 times | 毎日5回 | 毎日、計5回",
            "FREQ=DAILY;COUNT=5",
        ),
    ];

    #[test]
    fn words_in_both_languages() {
        for (texts, expected) in PHRASES {
            for text in texts.split(" | ") {
                assert_eq!(rule(text), *expected, "{text}");
            }
        }
    }

    #[test]
    fn once_and_nonsense() {
        for text in ["", "none", "once", "なし"] {
            assert_eq!(read_now(text), Ok(Some(Repeat::Once)), "{text}");
        }
        let nonsense = "sometimes | when it rains | ときどき | every | 毎 | every 0 days | 毎月32日 | \
            mon to | to fri | 月から | 〜金";
        for text in nonsense.split(" | ") {
            assert_eq!(read_now(text), Ok(None), "{text}");
        }
        assert!(read_now("FREQ=NEVER").is_err());
    }

    #[test]
    fn a_leap_day_is_the_28th_of_other_years() {
        let now = "2026-11-18T10:00[Asia/Tokyo]".parse().unwrap();
        let leap = read("yearly", "2028-02-29T08:00".parse().unwrap(), &now).unwrap();
        let expected = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1";
        assert_eq!(leap, Some(Repeat::Rule(expected.into())));
    }
}
