//! Times in Japanese.

use jiff::{
    SignedDuration, Span, Zoned,
    civil::{Date, Weekday},
};

use super::{
    days::{
        Days, coming, day_of_month, day_of_year, later, month, numeric_day, week, weekday_in,
        weekend, year,
    },
    parts::{Half, Parts, Reading, TimeOfDay, Unclear, colon_time},
};

pub fn read(text: &str, now: &Zoned) -> Reading<Parts> {
    let text = text
        .replace(['の', '、', ','], "")
        .replace("曜日", "曜")
        .replace(['ヶ', 'ヵ', 'カ', 'ケ'], "か");
    let text = digits(&text);
    let mut rest = text.trim_end_matches("に").trim_end_matches("から");
    rest = rest.trim_end_matches("ごろ").trim_end_matches('頃');
    let mut parts = Parts::default();
    if let Some(at) = relative(rest, now) {
        parts.at = Some(at);
        return Ok(parts);
    }
    while !rest.is_empty() {
        let left = take(&mut parts, rest, now).ok_or(Unclear::NotUnderstood)?;
        rest = left.trim_start();
    }
    Ok(parts)
}

/// `三時` becomes `3時`, `十五` becomes `15`; other words stay.
fn digits(text: &str) -> String {
    let mut out = String::new();
    let mut run = String::new();
    let number = |run: &str| -> Option<u32> {
        let digit = |c: char| "〇一二三四五六七八九".chars().position(|d| d == c);
        let ones = |text: &str, empty: u32| match text.chars().collect::<Vec<_>>().as_slice() {
            [] => Some(empty),
            [one] => u32::try_from(digit(*one)?).ok(),
            _ => None,
        };
        match run.split_once('十') {
            Some((tens, rest)) => Some(ones(tens, 1)? * 10 + ones(rest, 0)?),
            None => ones(run, 0),
        }
    };
    for letter in text.chars().chain(['\0']) {
        if "〇一二三四五六七八九十".contains(letter) {
            run.push(letter);
            continue;
        }
        // 一昨日 is no number of days.
        match number(&run).filter(|_| !run.is_empty() && letter != '昨') {
            Some(number) => out.push_str(&number.to_string()),
            None => out.push_str(&run),
        }
        run.clear();
        if letter != '\0' {
            out.push(letter);
        }
    }
    out
}

/// `30分後`, `1時間半後`, `2時間15分後`.
fn relative(text: &str, now: &Zoned) -> Option<jiff::Timestamp> {
    let mut rest = text.strip_suffix("後")?;
    let mut minutes = 0_i64;
    if let Some((hours, after)) = number_before(rest, "時間") {
        minutes += hours * 60;
        rest = after;
        if let Some(after) = rest.strip_prefix('半') {
            minutes += 30;
            rest = after;
        }
    }
    if let Some((more, after)) = number_before(rest, "分") {
        minutes += more;
        rest = after;
    }
    if !rest.is_empty() || minutes == 0 {
        return None;
    }
    let span = SignedDuration::from_mins(minutes);
    now.checked_add(span).ok().map(|at| at.timestamp())
}

/// Reads the beginning of `rest` and returns what is left.
fn take<'a>(parts: &mut Parts, rest: &'a str, now: &Zoned) -> Option<&'a str> {
    if parts.days.is_none() {
        for (words, days, half) in DAYS {
            if let Some(rest) = stripped(rest, words) {
                parts.day(later(now, *days)?);
                parts.half = *half;
                return Some(rest);
            }
        }
        if let Some((days, rest)) = days(parts, rest, now) {
            parts.days = Some(days);
            return Some(rest);
        }
    }
    if let Some((weekday, left)) = beside(rest)
        && parts.weekday.is_none()
        && !parts.by_weekday
    {
        parts.weekday = Some(weekday);
        return Some(left);
    }
    if parts.time.is_some() {
        return None;
    }
    if let Some(rest) = rest.strip_prefix("正午") {
        parts.time = Some(TimeOfDay {
            hour: 12,
            minute: 0,
        });
        return Some(rest);
    }
    for (words, half) in HALVES {
        if let Some(rest) = stripped(rest, words) {
            parts.half = Some(*half);
            return (!rest.is_empty()).then_some(rest);
        }
    }
    let (time, rest) = clock(rest)?;
    parts.time = Some(time);
    Some(rest)
}

fn stripped<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    words.split(' ').find_map(|word| text.strip_prefix(word))
}

/// Days by name, and the part of the day that some imply. Longer words first.
const DAYS: &[(&str, i32, Option<Half>)] = &[
    ("明々後日 しあさって", 3, None),
    ("明後日 あさって", 2, None),
    ("一昨日 おととい", -2, None),
    ("今日 本日 きょう", 0, None),
    ("今朝", 0, Some(Half::Morning)),
    ("今晩 今夜", 0, Some(Half::Night)),
    ("明朝", 1, Some(Half::Morning)),
    ("明晩", 1, Some(Half::Night)),
    ("明日 あした あす", 1, None),
    ("昨日 きのう", -1, None),
];

const HALVES: &[(&str, Half)] = &[
    ("午前 早朝 朝", Half::Morning),
    ("午後 夕方 昼 お昼", Half::Afternoon),
    ("深夜 夜 晩", Half::Night),
];

fn days<'a>(parts: &mut Parts, rest: &'a str, now: &Zoned) -> Option<(Days, &'a str)> {
    let one = |day: Date| (day, day);
    for (words, weeks) in [("再来週", 2), ("来週", 1), ("今週", 0), ("先週", -1)] {
        if let Some(rest) = rest.strip_prefix(words) {
            if let Some(rest) = rest.strip_prefix('末') {
                return Some((weekend(now, weeks)?, rest));
            }
            return match weekday(rest) {
                Some((weekday, rest)) => Some((one(weekday_in(now, weeks, weekday)?), rest)),
                None => Some((week(now, weeks)?, rest)),
            };
        }
    }
    for (words, months) in [("再来月", 2), ("来月", 1), ("今月", 0)] {
        if let Some(rest) = rest.strip_prefix(words) {
            let (first, last) = month(now, months)?;
            if let Some(rest) = rest.strip_prefix('末') {
                return Some((one(last), rest));
            }
            return match number_before(rest, "日") {
                Some((day, rest)) => {
                    let day = Date::new(first.year(), first.month(), i8::try_from(day).ok()?);
                    Some((one(day.ok()?), rest))
                }
                None => Some(((first, last), rest)),
            };
        }
    }
    if let Some(rest) = rest.strip_prefix("月末") {
        return Some((one(month(now, 0)?.1), rest));
    }
    if let Some(rest) = rest.strip_prefix("年末") {
        return Some((one(year(now, 0)?.1), rest));
    }
    if let Some(rest) = rest.strip_prefix("来年") {
        let next = now
            .with()
            .year(now.year() + 1)
            .month(1)
            .day(1)
            .build()
            .ok()?;
        return match rest.is_empty() {
            true => Some((year(now, 1)?, rest)),
            false => days(parts, rest, &next),
        };
    }
    if let Some(rest) = rest.strip_prefix("週末") {
        return Some((weekend(now, 0)?, rest));
    }
    for (unit, each) in [("日後", 1), ("週間後", 7)] {
        if let Some((number, rest)) = number_before(rest, unit) {
            let days = i32::try_from(number).ok()?.checked_mul(each)?;
            return Some((one(later(now, days)?), rest));
        }
    }
    if let Some((number, rest)) = number_before(rest, "か月後") {
        let months = Span::new().try_months(number).ok()?;
        return Some((one(now.date().checked_add(months).ok()?), rest));
    }
    let named = stripped(rest, "次 今度").unwrap_or(rest);
    if let Some((weekday, rest)) = weekday(named) {
        parts.by_weekday = true;
        return Some((one(coming(now, weekday)?), rest));
    }
    dated(parts, rest, now).map(|(day, rest)| (one(day), rest))
}

/// `2026年11月20日`, `11月20日`, `12月末`, `20日`, `11/20`, `2026-11-20`.
fn dated<'a>(parts: &mut Parts, rest: &'a str, now: &Zoned) -> Option<(Date, &'a str)> {
    let small = |number: i64| i8::try_from(number).ok();
    let (in_year, after_year) = match number_before(rest, "年") {
        Some((year, rest)) => (Some(i16::try_from(year).ok()?), rest),
        None => (None, rest),
    };
    if let Some((month, rest)) = number_before(after_year, "月") {
        parts.has_no_year = in_year.is_none();
        let month = small(month)?;
        let of = |day: i8| match in_year {
            Some(year) => Date::new(year, month, day).ok(),
            None => day_of_year(now, month, day),
        };
        if let Some(rest) = rest.strip_prefix('末') {
            return Some((of(28)?.last_of_month(), rest));
        }
        let (day, rest) = number_before(rest, "日")?;
        return Some((of(small(day)?)?, rest));
    }
    if let Some((day, rest)) = number_before(rest, "日") {
        return Some((day_of_month(now, small(day)?)?, rest));
    }
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && !"-/".contains(c))
        .unwrap_or(rest.len());
    let (day, after) = rest.split_at(end);
    numeric_day(day, now).map(|day| (day, after))
}

/// `月曜`; `月` only at the end.
fn weekday(text: &str) -> Option<(Weekday, &str)> {
    let mut letters = text.chars();
    let at = "月火水木金土日"
        .chars()
        .position(|day| Some(day) == letters.clone().next())?;
    letters.next();
    let rest = letters.as_str();
    let rest = match rest.strip_prefix('曜') {
        Some(rest) => rest,
        None if rest.is_empty() => rest,
        None => return None,
    };
    let day = Weekday::from_monday_zero_offset(i8::try_from(at).ok()?).ok()?;
    Some((day, rest))
}

/// The weekday beside a date: `(金)`, `(金曜)`, `金曜`.
fn beside(text: &str) -> Option<(Weekday, &str)> {
    let Some((inside, rest)) = text.strip_prefix('(').and_then(|text| text.split_once(')')) else {
        return weekday(text);
    };
    let (weekday, left) = weekday(inside)?;
    left.is_empty().then_some((weekday, rest))
}

/// `15時`, `15時半`, `15時30分`, `15:30`.
fn clock(text: &str) -> Option<(TimeOfDay, &str)> {
    if let Some((hour, rest)) = number_before(text, "時") {
        let hour = i8::try_from(hour).ok()?;
        if let Some(rest) = rest.strip_prefix('半') {
            return Some((TimeOfDay { hour, minute: 30 }, rest));
        }
        return match number_before(rest, "分") {
            Some((minute, rest)) => {
                let minute = i8::try_from(minute).ok()?;
                Some((TimeOfDay { hour, minute }, rest))
            }
            None => Some((TimeOfDay { hour, minute: 0 }, rest)),
        };
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ':');
    let (time, rest) = text.split_at(end.unwrap_or(text.len()));
    colon_time(time).map(|time| (time, rest))
}

/// The number that `text` begins with, if `unit` follows, and what comes then.
fn number_before<'a>(text: &'a str, unit: &str) -> Option<(i64, &'a str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .filter(|end| *end <= 6)?;
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest.strip_prefix(unit)?))
}
