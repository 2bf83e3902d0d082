//! Rules said in words.

use jiff::civil::{Date, Weekday};
use kit::context::Language;

use super::CODES;
use crate::model::when::weekday_names;

/// A rule in words, where it is one that words can say; else that there is one.
pub fn say(rule: &str, language: Language) -> String {
    let english = language == Language::English;
    let part = |name: &str| part(rule, name);
    let times = part("COUNT").map(|count| {
        pick(
            english,
            &match count {
                "1" => ", once".to_owned(),
                count => format!(", {count} times"),
            },
            &format!("、{count}回"),
        )
    });
    let until = part("UNTIL").map(|until| match last_day(until, english) {
        Some(day) => pick(english, &format!(", until {day}"), &format!("、{day}まで")),
        None => pick(english, ", for a time", "、期間を限って"),
    });
    let Some(often) = often(rule, language) else {
        return pick(english, "by a rule of its own", "独自の規則で");
    };
    let at = part("BYHOUR").map(|hours| at_hours(hours, rule, english));
    let ends = [at, times, until];
    ends.into_iter()
        .flatten()
        .fold(often, |text, end| text + &end)
}

fn part<'a>(rule: &'a str, name: &str) -> Option<&'a str> {
    rule.split(';')
        .find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

/// Without its end.
fn often(rule: &str, language: Language) -> Option<String> {
    const KNOWN: [&str; 11] = [
        "FREQ",
        "INTERVAL",
        "BYDAY",
        "BYMONTHDAY",
        "BYMONTH",
        "BYSETPOS",
        "COUNT",
        "UNTIL",
        "BYHOUR",
        "BYMINUTE",
        "WKST",
    ];
    let is_plain = rule.split(';').all(|part| {
        let name = part.split('=').next().unwrap_or_default();
        KNOWN.contains(&name)
    });
    let part = |name: &str| part(rule, name);
    // Minutes are only said with their hours, and hours not of every hour.
    let is_clear = part("BYHOUR").is_some_and(|_| part("FREQ") != Some("HOURLY"))
        || (part("BYHOUR").is_none() && part("BYMINUTE").is_none());
    if !is_plain || !is_clear {
        return None;
    }
    let english = language == Language::English;
    let interval: u32 = part("INTERVAL").and_then(|n| n.parse().ok()).unwrap_or(1);
    let day_names = part("BYDAY").and_then(|list| spoken_days(list, language));
    let numbered = part("BYDAY").and_then(|list| numbered_day(list, language));
    let month_day = part("BYMONTHDAY").and_then(|days| month_day(days, part("BYSETPOS")));
    let has_days = part("BYDAY").is_some() || part("BYMONTHDAY").is_some();
    let month: Option<i8> = part("BYMONTH").and_then(|month| month.parse().ok());
    Some(match (part("FREQ")?, interval, month) {
        ("HOURLY", 1, None) if !has_days => pick(english, "every hour", "毎時"),
        ("HOURLY", n, None) if !has_days => pick(
            english,
            &format!("every {n} hours"),
            &format!("{n}時間ごと"),
        ),
        ("DAILY", 1, None) if !has_days => pick(english, "every day", "毎日"),
        ("DAILY", n, None) if !has_days => {
            pick(english, &format!("every {n} days"), &format!("{n}日ごと"))
        }
        ("WEEKLY", 1, None) if part("BYDAY") == Some("MO,TU,WE,TH,FR") => {
            pick(english, "every weekday", "平日")
        }
        ("WEEKLY", n, None) if !has_days => match n {
            1 => pick(english, "every week", "毎週"),
            2 => pick(english, "every other week", "隔週"),
            n => pick(
                english,
                &format!("every {n} weeks"),
                &format!("{n}週間ごと"),
            ),
        },
        ("WEEKLY", n, None) if part("BYMONTHDAY").is_none() && part("BYSETPOS").is_none() => {
            let days = day_names?;
            match n {
                1 => pick(english, &format!("every {days}"), &format!("毎週{days}")),
                2 => pick(
                    english,
                    &format!("every other {days}"),
                    &format!("隔週{days}"),
                ),
                n => pick(
                    english,
                    &format!("every {n} weeks on {days}"),
                    &format!("{n}週間ごとの{days}"),
                ),
            }
        }
        ("MONTHLY", n, None) => {
            let months = match n {
                1 => pick(english, "every month", "毎月"),
                _ => pick(
                    english,
                    &format!("every {n} months"),
                    &format!("{n}か月ごとの"),
                ),
            };
            let day = match (part("BYDAY"), month_day) {
                (None, Some(-1)) => pick(english, "the last day", "末日"),
                (None, Some(day)) => pick(english, &format!("day {day}"), &format!("{day}日")),
                (Some(_), None) if part("BYMONTHDAY").is_none() => {
                    numbered.filter(|_| part("BYSETPOS").is_none())?
                }
                (None, None) if !has_days => return Some(months),
                _ => return None,
            };
            pick(
                english,
                &format!("{months} on {day}"),
                &format!("{months}{day}"),
            )
        }
        ("YEARLY", n, Some(month)) if part("BYDAY").is_none() => {
            let day = month_day.filter(|day| *day > 0)?;
            let name = Date::new(2024, month, 1).ok()?.strftime("%B").to_string();
            match n {
                1 => pick(
                    english,
                    &format!("every year on {name} {day}"),
                    &format!("毎年{month}月{day}日"),
                ),
                n => pick(
                    english,
                    &format!("every {n} years on {name} {day}"),
                    &format!("{n}年ごとの{month}月{day}日"),
                ),
            }
        }
        ("YEARLY", 1, None) if !has_days => pick(english, "every year", "毎年"),
        ("YEARLY", n, None) if !has_days => {
            pick(english, &format!("every {n} years"), &format!("{n}年ごと"))
        }
        _ => return None,
    })
}

/// The one day of the month that is meant. `28,29,30` with the last of them is
/// how words say the 30th.
fn month_day(days: &str, position: Option<&str>) -> Option<i8> {
    match (days.split(',').count(), position) {
        (1, None) => days.parse().ok(),
        (2.., Some("-1")) if days.starts_with("28,29") => days.rsplit(',').next()?.parse().ok(),
        _ => None,
    }
}

/// `2TU`: the second Tuesday.
fn numbered_day(list: &str, language: Language) -> Option<String> {
    let at = list.len().checked_sub(2)?;
    let (number, code) = (list.get(..at)?, list.get(at..)?);
    let day = spoken_days(code, language)?;
    let (english, japanese) = match number {
        "1" => ("first", "第1"),
        "2" => ("second", "第2"),
        "3" => ("third", "第3"),
        "4" => ("fourth", "第4"),
        "5" => ("fifth", "第5"),
        "-1" => ("last", "最終"),
        _ => return None,
    };
    Some(match language {
        Language::English => format!("the {english} {day}"),
        Language::Japanese => format!("{japanese}{day}"),
    })
}

fn at_hours(hours: &str, rule: &str, english: bool) -> String {
    let minutes = part(rule, "BYMINUTE").unwrap_or("");
    let minutes: Vec<&str> = minutes.split(',').filter(|one| !one.is_empty()).collect();
    let mut times = Vec::new();
    for hour in hours.split(',') {
        match minutes.as_slice() {
            [] => times.push(pick(
                english,
                &format!("{hour} o'clock"),
                &format!("{hour}時"),
            )),
            some => times.extend(some.iter().map(|minute| {
                pick(
                    english,
                    &format!("{hour}:{minute:0>2}"),
                    &format!("{hour}時{minute}分"),
                )
            })),
        }
    }
    pick(
        english,
        &format!(" at {}", listed(&times)),
        &format!("の{}", times.join("と")),
    )
}

fn last_day(until: &str, english: bool) -> Option<String> {
    let date = Date::strptime("%Y%m%d", until.get(..8)?).ok()?;
    Some(match english {
        true => date.strftime("%B %-d, %Y").to_string(),
        false => format!("{}年{}月{}日", date.year(), date.month(), date.day()),
    })
}

fn listed(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
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
        (Language::English, names) => listed(names),
    })
}
