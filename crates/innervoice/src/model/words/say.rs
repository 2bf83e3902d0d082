//! Rules said in words.

use jiff::civil::Weekday;
use kit::context::Language;

use super::CODES;
use crate::model::when::weekday_names;

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
    let mut names = Vec::new();
    for code in list.split(',') {
        let at = CODES.iter().position(|known| *known == code)?;
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
