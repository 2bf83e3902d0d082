//! How people say that something repeats, in English and Japanese, as rules.
//!
//! Words get rules that never skip: the 31st of a shorter month is its last day,
//! 29 February of other years the 28th. A rule given as an RRULE keeps RFC 5545's
//! meaning, which skips them.

use jiff::civil::DateTime;
use kit::context::Language;

use super::{repeat::Rule, when::weekday_names};

/// What somebody meant by `repeat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repeat {
    Once,
    /// An RRULE, in its own letters.
    Rule(String),
}

/// `None` when nobody would understand it either. `Err` says what is wrong with
/// an RRULE.
pub fn read(text: &str, start: DateTime) -> Result<Option<Repeat>, String> {
    let text = kit::text::narrow(text);
    let upper = text.to_uppercase();
    if upper.contains("FREQ=") {
        let rule = upper.strip_prefix("RRULE:").unwrap_or(&upper);
        Rule::parse(rule)?;
        return Ok(Some(Repeat::Rule(rule.to_owned())));
    }
    let lower = text.to_lowercase();
    if is_once(&lower) {
        return Ok(Some(Repeat::Once));
    }
    let rule = if lower.is_ascii() {
        english(&lower, start)
    } else {
        japanese(&lower, start)
    };
    Ok(rule.map(Repeat::Rule))
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

const ENGLISH_DAYS: [(&str, &str); 7] = [
    ("mon", "MO"),
    ("tue", "TU"),
    ("wed", "WE"),
    ("thu", "TH"),
    ("fri", "FR"),
    ("sat", "SA"),
    ("sun", "SU"),
];

fn english(text: &str, start: DateTime) -> Option<String> {
    let text = text.replace([',', '/', '&', '-', '_'], " ");
    let filler = [
        "and", "on", "the", "of", "a", "every", "each", "repeat", "repeats", "in", "at", "per",
    ];
    let words: Vec<&str> = text
        .split_whitespace()
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
    let of_month: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !matches!(*word, "month" | "monthly"))
        .collect();
    match of_month.as_slice() {
        [nth, day] if ordinal(nth).is_some() && english_day(day).is_some() => {
            return Some(nth_weekday(ordinal(nth)?, english_day(day)?));
        }
        [day] if of_month.len() < words.len() && month_day(day).is_some() => {
            return Some(monthly(1, month_day(day)?));
        }
        _ => {}
    }
    let named: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !matches!(*word, "week" | "weekly"))
        .collect();
    Some(days(1, &english_days(&named)?))
}

/// `2 weeks`, `other day`: the number, and what it is of.
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

fn english_days(words: &[&str]) -> Option<Vec<&'static str>> {
    if words.is_empty() {
        return None;
    }
    words.iter().map(|word| english_day(word)).collect()
}

fn english_day(word: &str) -> Option<&'static str> {
    let full = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let word = word
        .strip_suffix('s')
        .filter(|word| full.contains(word))
        .unwrap_or(word);
    let (at, _) = full
        .iter()
        .enumerate()
        .find(|(_, day)| word.len() >= 3 && day.starts_with(word))?;
    ENGLISH_DAYS.get(at).map(|(_, code)| *code)
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

const WORKDAYS: [&str; 5] = ["MO", "TU", "WE", "TH", "FR"];

fn japanese(text: &str, start: DateTime) -> Option<String> {
    let text: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && !"・、,/".contains(*c))
        .collect();
    let text = text
        .replace("曜日", "曜")
        .replace("ヶ月", "か月")
        .replace("ヵ月", "か月");
    let text = text
        .replace("カ月", "か月")
        .replace("ケ月", "か月")
        .replace("毎に", "ごと");
    let text = text.trim_end_matches('に').trim_end_matches("繰り返し");
    let simple = match text {
        "毎日" | "日次" | "毎朝" | "毎晩" | "毎夜" | "毎夕" | "1日ごと" => {
            "FREQ=DAILY".to_owned()
        }
        "平日" | "平日毎日" | "毎平日" | "平日のみ" | "平日だけ" => {
            days(1, &WORKDAYS)
        }
        "週末" | "毎週末" | "週末ごと" => days(1, &["SA", "SU"]),
        "毎週" | "週次" | "週1回" | "週に1回" => weekly(1, start),
        "隔週" | "2週ごと" | "1週間おき" | "一週間おき" => weekly(2, start),
        "隔日" | "1日おき" | "一日おき" => every(2, "DAILY"),
        "毎月" | "月次" | "月1回" | "月に1回" => monthly(1, start.day()),
        "隔月" => monthly(2, start.day()),
        "毎月末" | "月末" | "毎月末日" | "毎月最終日" | "毎月の最終日" | "毎月の末日" => {
            "FREQ=MONTHLY;BYMONTHDAY=-1".to_owned()
        }
        "毎年" | "年次" | "年1回" => yearly(1, start),
        "毎時" | "毎時間" | "1時間ごと" => "FREQ=HOURLY".to_owned(),
        _ => String::new(),
    };
    if !simple.is_empty() {
        return Some(simple);
    }
    if let Some(rest) = text.strip_prefix("毎月") {
        let rest = rest.strip_prefix('の').unwrap_or(rest);
        if let Some(day) = rest.strip_suffix('日').and_then(|day| day.parse().ok()) {
            return Some(day)
                .filter(|day| (1..=31).contains(day))
                .map(|day| monthly(1, day));
        }
        return numbered_japanese(rest);
    }
    if let Some(rest) = text.strip_prefix("隔週") {
        return japanese_days(rest).map(|named| days(2, &named));
    }
    if let Some(per) = text.strip_suffix("ごと") {
        let digits = per.len() - per.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = per.split_at(digits);
        let number: u32 = number.parse().ok().filter(|n| (1..=1_000).contains(n))?;
        return Some(match unit {
            "日" => every(number, "DAILY"),
            "週" | "週間" => weekly(number, start),
            "月" | "か月" => monthly(number, start.day()),
            "年" => yearly(number, start),
            "時間" => every(number, "HOURLY"),
            _ => return None,
        });
    }
    let rest = text.strip_prefix("毎週").unwrap_or(text);
    japanese_days(rest).map(|named| days(1, &named))
}

/// `第1月曜`, `最終金曜`.
fn numbered_japanese(text: &str) -> Option<String> {
    let (number, rest) = if let Some(rest) = text.strip_prefix("最終") {
        (-1, rest)
    } else {
        let rest = text.strip_prefix('第')?;
        let mut letters = rest.chars();
        let number = match letters.next()? {
            '1' | '一' => 1,
            '2' | '二' => 2,
            '3' | '三' => 3,
            '4' | '四' => 4,
            _ => return None,
        };
        (number, letters.as_str())
    };
    match japanese_days(rest)?.as_slice() {
        [day] => Some(nth_weekday(number, day)),
        _ => None,
    }
}

/// `月水金`, `月曜`, `月曜水曜`, `土日`.
fn japanese_days(text: &str) -> Option<Vec<&'static str>> {
    let mut named = Vec::new();
    for letter in text.replace(['曜', 'と'], "").chars() {
        named.push(match letter {
            '月' => "MO",
            '火' => "TU",
            '水' => "WE",
            '木' => "TH",
            '金' => "FR",
            '土' => "SA",
            '日' => "SU",
            _ => return None,
        });
    }
    (!named.is_empty()).then_some(named)
}

fn every(interval: u32, freq: &str) -> String {
    match interval {
        1 => format!("FREQ={freq}"),
        _ => format!("FREQ={freq};INTERVAL={interval}"),
    }
}

fn days(interval: u32, named: &[&str]) -> String {
    let in_order: Vec<&str> = ENGLISH_DAYS
        .iter()
        .map(|(_, code)| *code)
        .filter(|code| named.contains(code))
        .collect();
    format!("{};BYDAY={}", every(interval, "WEEKLY"), in_order.join(","))
}

fn weekly(interval: u32, start: DateTime) -> String {
    let at = usize::try_from(start.weekday().to_monday_zero_offset()).unwrap_or_default();
    let code = ENGLISH_DAYS.get(at).map_or("MO", |(_, code)| *code);
    days(interval, &[code])
}

fn monthly(interval: u32, day: i8) -> String {
    format!("{};{}", every(interval, "MONTHLY"), or_last(day))
}

fn yearly(interval: u32, start: DateTime) -> String {
    let day = match (start.month(), start.day()) {
        (2, 29) => or_last(29),
        (_, day) => format!("BYMONTHDAY={day}"),
    };
    format!(
        "{};BYMONTH={};{day}",
        every(interval, "YEARLY"),
        start.month()
    )
}

fn nth_weekday(number: i8, day: &str) -> String {
    format!("FREQ=MONTHLY;BYDAY={number}{day}")
}

/// The day, or the last one of a month that is too short for it.
fn or_last(day: i8) -> String {
    match day {
        29 => "BYMONTHDAY=28,29;BYSETPOS=-1".into(),
        30 => "BYMONTHDAY=28,29,30;BYSETPOS=-1".into(),
        31 => "BYMONTHDAY=-1".into(),
        _ => format!("BYMONTHDAY={day}"),
    }
}

/// A rule in words, where it is one that words make; else the rule itself.
pub fn say(rule: &str, language: Language) -> String {
    let part = |name: &str| {
        rule.split(';')
            .find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
    };
    let english = language == Language::English;
    let interval: u32 = part("INTERVAL").and_then(|n| n.parse().ok()).unwrap_or(1);
    let known = [
        "FREQ",
        "INTERVAL",
        "BYDAY",
        "BYMONTHDAY",
        "BYMONTH",
        "BYSETPOS",
    ];
    let is_plain = rule.split(';').all(|part| {
        known
            .iter()
            .any(|name| part.starts_with(&format!("{name}=")))
    });
    let day_names = part("BYDAY").and_then(|list| spoken_days(list, language));
    let month_day = part("BYMONTHDAY").and_then(|list| list.rsplit(',').next());
    let text = match (part("FREQ"), interval, day_names, month_day) {
        _ if !is_plain => None,
        (Some("HOURLY"), 1, None, None) => Some(pick(english, "every hour", "毎時")),
        (Some("HOURLY"), n, None, None) => Some(pick(
            english,
            &format!("every {n} hours"),
            &format!("{n}時間ごと"),
        )),
        (Some("DAILY"), 1, None, None) => Some(pick(english, "every day", "毎日")),
        (Some("DAILY"), n, None, None) => Some(pick(
            english,
            &format!("every {n} days"),
            &format!("{n}日ごと"),
        )),
        (Some("WEEKLY"), 1, Some(_), None) if part("BYDAY") == Some("MO,TU,WE,TH,FR") => {
            Some(pick(english, "every weekday", "平日"))
        }
        (Some("WEEKLY"), 1, Some(days), None) => Some(pick(
            english,
            &format!("every {days}"),
            &format!("毎週{days}"),
        )),
        (Some("WEEKLY"), 2, Some(days), None) => Some(pick(
            english,
            &format!("every other {days}"),
            &format!("隔週{days}"),
        )),
        (Some("WEEKLY"), n, Some(days), None) => Some(pick(
            english,
            &format!("every {n} weeks on {days}"),
            &format!("{n}週間ごとの{days}"),
        )),
        (Some("MONTHLY"), n, None, Some(day)) => {
            let often = match n {
                1 => pick(english, "every month", "毎月"),
                _ => pick(
                    english,
                    &format!("every {n} months"),
                    &format!("{n}か月ごとの"),
                ),
            };
            Some(match day {
                "-1" => pick(
                    english,
                    &format!("{often} on the last day"),
                    &format!("{often}末日"),
                ),
                _ => pick(
                    english,
                    &format!("{often} on day {day}"),
                    &format!("{often}{day}日"),
                ),
            })
        }
        (Some("YEARLY"), 1, None, Some(day)) => part("BYMONTH").map(|month| {
            pick(
                english,
                &format!("every year on {month}/{day}"),
                &format!("毎年{month}月{day}日"),
            )
        }),
        _ => None,
    };
    text.unwrap_or_else(|| {
        pick(
            english,
            &format!("by the rule {rule}"),
            &format!("規則{rule}で"),
        )
    })
}

fn pick(english: bool, one: &str, other: &str) -> String {
    if english { one } else { other }.to_owned()
}

fn spoken_days(list: &str, language: Language) -> Option<String> {
    use jiff::civil::Weekday;
    let mut names = Vec::new();
    for code in list.split(',') {
        let at = ENGLISH_DAYS.iter().position(|(_, known)| *known == code)?;
        let weekday = Weekday::from_monday_zero_offset(i8::try_from(at).ok()?).ok()?;
        let (japanese, english) = weekday_names(weekday);
        names.push(match language {
            Language::English => english.to_owned(),
            Language::Japanese => japanese.to_owned(),
        });
    }
    Some(match (language, names.as_slice()) {
        (Language::Japanese, [one]) => format!("{one}曜"),
        (Language::Japanese, _) => names.join("・"),
        (Language::English, [first @ .., last]) if !first.is_empty() => {
            format!("{} and {last}", first.join(", "))
        }
        (Language::English, _) => names.join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Thursday, the last day of a long month.
    const START: &str = "2026-12-31T08:00";

    fn rule(text: &str) -> String {
        match read(text, START.parse().unwrap()) {
            Ok(Some(Repeat::Rule(rule))) => {
                Rule::parse(&rule).unwrap_or_else(|why| panic!("{text} → {rule}: {why}"));
                rule
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn words_in_both_languages() {
        for (texts, expected) in [
            (
                &["daily", "every day", "Everyday", "毎日", "毎朝"][..],
                "FREQ=DAILY",
            ),
            (
                &[
                    "weekdays",
                    "every weekday",
                    "平日",
                    "business days",
                    "月火水木金",
                ],
                "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
            ),
            (
                &["weekends", "週末", "毎週土日", "sat, sun"],
                "FREQ=WEEKLY;BYDAY=SA,SU",
            ),
            (
                &["weekly", "every week", "毎週", "毎週木曜日"],
                "FREQ=WEEKLY;BYDAY=TH",
            ),
            (
                &[
                    "every monday",
                    "Mondays",
                    "毎週月曜",
                    "毎週月曜日",
                    "月曜",
                    "mon",
                ],
                "FREQ=WEEKLY;BYDAY=MO",
            ),
            (
                &[
                    "every mon, wed and fri",
                    "Monday/Wednesday/Friday",
                    "毎週月水金",
                    "毎週月・水・金",
                    "毎週 月曜、水曜、金曜",
                    "毎週月曜と水曜と金曜",
                    "weekly on fri mon wed",
                ],
                "FREQ=WEEKLY;BYDAY=MO,WE,FR",
            ),
            (
                &[
                    "biweekly",
                    "every other week",
                    "every 2 weeks",
                    "隔週",
                    "２週間ごと",
                    "fortnightly",
                ],
                "FREQ=WEEKLY;INTERVAL=2;BYDAY=TH",
            ),
            (
                &[
                    "every other monday",
                    "隔週月曜日",
                    "every 2 weeks on monday",
                ],
                "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO",
            ),
            (
                &["every other day", "隔日", "一日おき", "2日ごと"],
                "FREQ=DAILY;INTERVAL=2",
            ),
            (
                &["monthly", "every month", "毎月"],
                "FREQ=MONTHLY;BYMONTHDAY=-1",
            ),
            (
                &[
                    "毎月末",
                    "月末",
                    "last day of the month",
                    "end of month",
                    "毎月の最終日",
                ],
                "FREQ=MONTHLY;BYMONTHDAY=-1",
            ),
            (
                &["毎月15日", "every month on the 15th", "15th of every month"],
                "FREQ=MONTHLY;BYMONTHDAY=15",
            ),
            (
                &["毎月30日", "monthly on the 30th"],
                "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1",
            ),
            (
                &[
                    "毎月第1月曜",
                    "first monday of every month",
                    "毎月第一月曜日",
                ],
                "FREQ=MONTHLY;BYDAY=1MO",
            ),
            (
                &["毎月最終金曜", "last friday of the month"],
                "FREQ=MONTHLY;BYDAY=-1FR",
            ),
            (
                &["every 3 months", "quarterly", "3か月ごと", "３ヶ月ごと"],
                "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=-1",
            ),
            (
                &["yearly", "annually", "every year", "毎年"],
                "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31",
            ),
            (&["hourly", "every hour", "毎時"], "FREQ=HOURLY"),
            (&["every 4 hours", "4時間ごと"], "FREQ=HOURLY;INTERVAL=4"),
            (
                &["RRULE:FREQ=DAILY;COUNT=3", "freq=daily;count=3"],
                "FREQ=DAILY;COUNT=3",
            ),
        ] {
            for text in texts {
                assert_eq!(rule(text), expected, "{text}");
            }
        }
    }

    #[test]
    fn once_and_nonsense() {
        let start = START.parse().unwrap();
        for text in ["", "none", "once", "なし"] {
            assert_eq!(read(text, start), Ok(Some(Repeat::Once)), "{text}");
        }
        for text in [
            "sometimes",
            "when it rains",
            "ときどき",
            "every",
            "毎",
            "every 0 days",
            "毎月32日",
        ] {
            assert_eq!(read(text, start), Ok(None), "{text}");
        }
        assert!(read("FREQ=NEVER", start).is_err());
    }

    #[test]
    fn a_leap_day_is_the_28th_of_other_years() {
        let leap = read("yearly", "2028-02-29T08:00".parse().unwrap()).unwrap();
        let expected = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1";
        assert_eq!(leap, Some(Repeat::Rule(expected.into())));
    }

    #[test]
    fn rules_are_said_in_words() {
        for (rule, english, japanese) in [
            ("FREQ=DAILY", "every day", "毎日"),
            ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "every weekday", "平日"),
            (
                "FREQ=WEEKLY;BYDAY=MO,WE,FR",
                "every Monday, Wednesday and Friday",
                "毎週月・水・金",
            ),
            (
                "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO",
                "every other Monday",
                "隔週月曜",
            ),
            (
                "FREQ=MONTHLY;BYMONTHDAY=-1",
                "every month on the last day",
                "毎月末日",
            ),
            (
                "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1",
                "every month on day 30",
                "毎月30日",
            ),
            (
                "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31",
                "every year on 12/31",
                "毎年12月31日",
            ),
            (
                "FREQ=DAILY;COUNT=3",
                "by the rule FREQ=DAILY;COUNT=3",
                "規則FREQ=DAILY;COUNT=3で",
            ),
        ] {
            assert_eq!(say(rule, Language::English), english);
            assert_eq!(say(rule, Language::Japanese), japanese);
        }
    }
}
