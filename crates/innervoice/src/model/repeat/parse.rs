//! Reading an RRULE.

use jiff::{
    civil::{Date, DateTime, Weekday},
    tz::TimeZone,
};

use super::rule::{Freq, Rule, Until, day_key};

impl Rule {
    /// `FREQ=WEEKLY;BYDAY=MO`, with or without `RRULE:` before it. The error says
    /// what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        rule(text)
    }
}

fn rule(text: &str) -> Result<Rule, String> {
    let text = kit::text::narrow(text).to_uppercase();
    let text = text.strip_prefix("RRULE:").unwrap_or(&text);
    let mut rule = Rule {
        freq: Freq::Daily,
        interval: 1,
        by_month: Vec::new(),
        by_month_day: Vec::new(),
        by_day: Vec::new(),
        by_hour: Vec::new(),
        by_minute: Vec::new(),
        by_set_pos: Vec::new(),
        week_start: Weekday::Monday,
        count: None,
        until: None,
    };
    let mut has_freq = false;
    let mut named = Vec::new();
    for part in text.split(';').filter(|part| !part.trim().is_empty()) {
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| format!("`{}` has no value", short(part)))?;
        let (name, value) = (name.trim(), value.trim());
        if named.contains(&name) {
            return Err(format!("{} is given twice", short(name)));
        }
        named.push(name);
        match name {
            "FREQ" => {
                rule.freq = freq(value)?;
                has_freq = true;
            }
            "INTERVAL" => rule.interval = number(name, value, 1, 1_000)?,
            "COUNT" => rule.count = Some(number(name, value, 1, 10_000)?.unsigned_abs()),
            "UNTIL" => rule.until = Some(until(value)?),
            "WKST" => rule.week_start = weekday(value)?,
            "BYDAY" => {
                for day in value.split(',') {
                    rule.by_day.push(numbered_weekday(day.trim())?);
                }
                rule.by_day.sort_unstable_by_key(day_key);
                rule.by_day.dedup();
            }
            "BYMONTH" => rule.by_month = small(numbers(name, value, 1, 12)?),
            "BYMONTHDAY" => rule.by_month_day = small(signed(name, value, 31)?),
            "BYHOUR" => rule.by_hour = small(numbers(name, value, 0, 23)?),
            "BYMINUTE" => rule.by_minute = small(numbers(name, value, 0, 59)?),
            // Reminders fire on the minute.
            "BYSECOND" => drop(numbers(name, value, 0, 0)?),
            "BYSETPOS" => rule.by_set_pos = signed(name, value, 366)?,
            "BYWEEKNO" | "BYYEARDAY" => return Err(format!("{name} is not supported")),
            _ => return Err(format!("`{}` is not a part of a rule", short(name))),
        }
    }
    if !has_freq {
        return Err("FREQ is missing".into());
    }
    check(&rule)?;
    Ok(rule)
}

fn check(rule: &Rule) -> Result<(), String> {
    let is_numbered = rule.by_day.iter().any(|(nth, _)| nth.is_some());
    let selects = !rule.by_month.is_empty()
        || !rule.by_month_day.is_empty()
        || !rule.by_day.is_empty()
        || !rule.by_hour.is_empty()
        || !rule.by_minute.is_empty()
        || !rule.by_set_pos.is_empty();
    if rule.freq == Freq::Hourly && selects {
        return Err("FREQ=HOURLY goes with INTERVAL, COUNT and UNTIL only".into());
    }
    if is_numbered && !matches!(rule.freq, Freq::Monthly | Freq::Yearly) {
        return Err("a numbered BYDAY such as 1MO goes with MONTHLY or YEARLY".into());
    }
    if rule.freq == Freq::Weekly && !rule.by_month_day.is_empty() {
        return Err("BYMONTHDAY does not go with FREQ=WEEKLY".into());
    }
    if rule.count.is_some() && rule.until.is_some() {
        return Err("COUNT and UNTIL exclude each other".into());
    }
    Ok(())
}

fn freq(value: &str) -> Result<Freq, String> {
    match value {
        "HOURLY" => Ok(Freq::Hourly),
        "DAILY" => Ok(Freq::Daily),
        "WEEKLY" => Ok(Freq::Weekly),
        "MONTHLY" => Ok(Freq::Monthly),
        "YEARLY" => Ok(Freq::Yearly),
        "SECONDLY" | "MINUTELY" => Err(format!("FREQ={value} is too often")),
        _ => Err(format!("FREQ={} is not known", short(value))),
    }
}

fn until(value: &str) -> Result<Until, String> {
    let wrong = || format!("UNTIL={} is not a date", short(value));
    if !value.contains('T') {
        return value.parse::<Date>().map(Until::Date).map_err(|_| wrong());
    }
    if let Some(utc) = value.strip_suffix('Z') {
        let utc: DateTime = utc.parse().map_err(|_| wrong())?;
        let at = utc.to_zoned(TimeZone::UTC).map_err(|_| wrong())?;
        return Ok(Until::At(at.timestamp()));
    }
    value.parse().map(Until::Local).map_err(|_| wrong())
}

fn weekday(value: &str) -> Result<Weekday, String> {
    Ok(match value {
        "MO" => Weekday::Monday,
        "TU" => Weekday::Tuesday,
        "WE" => Weekday::Wednesday,
        "TH" => Weekday::Thursday,
        "FR" => Weekday::Friday,
        "SA" => Weekday::Saturday,
        "SU" => Weekday::Sunday,
        _ => return Err(format!("`{}` is not a weekday such as MO", short(value))),
    })
}

fn numbered_weekday(value: &str) -> Result<(Option<i8>, Weekday), String> {
    let at = value.len().saturating_sub(2);
    let (Some(number), Some(day)) = (value.get(..at), value.get(at..)) else {
        return Err(format!("`{}` is not a weekday such as MO", short(value)));
    };
    let day = weekday(day)?;
    if number.is_empty() {
        return Ok((None, day));
    }
    match number.parse::<i8>() {
        Ok(number) if number != 0 && (-53..=53).contains(&number) => Ok((Some(number), day)),
        _ => Err(format!("`{}` is not a weekday such as 1MO", short(value))),
    }
}

fn number(name: &str, value: &str, least: i32, most: i32) -> Result<i32, String> {
    match value.trim().parse::<i32>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("{name} must be a number from {least} to {most}")),
    }
}

fn numbers(name: &str, value: &str, least: i32, most: i32) -> Result<Vec<i32>, String> {
    let mut all = value
        .split(',')
        .map(|one| number(name, one, least, most))
        .collect::<Result<Vec<i32>, String>>()?;
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Numbers that may count from the end.
fn signed(name: &str, value: &str, most: i32) -> Result<Vec<i32>, String> {
    let all = numbers(name, value, -most, most)?;
    if all.contains(&0) {
        return Err(format!("{name} can't be 0"));
    }
    Ok(all)
}

fn small(numbers: Vec<i32>) -> Vec<i8> {
    let fits = numbers.into_iter().map(i8::try_from);
    fits.flatten().collect()
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_can_be_read() {
        for text in [
            "FREQ=DAILY",
            "RRULE:FREQ=DAILY",
            "freq=weekly;byday=mo,we,fr",
            "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=TU",
            "FREQ=MONTHLY;BYDAY=-1FR",
            "FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1",
            "FREQ=DAILY;BYHOUR=8;BYMINUTE=0;BYSECOND=0",
            "FREQ=YEARLY;BYMONTH=1;UNTIL=20300101T000000Z",
            "FREQ=HOURLY;INTERVAL=4",
        ] {
            assert!(rule(text).is_ok(), "{text}: {:?}", rule(text));
        }
    }

    #[test]
    fn rules_that_can_not() {
        for text in [
            "",
            "DAILY",
            "BYDAY=MO",
            "FREQ=SECONDLY",
            "FREQ=SOMETIMES",
            "FREQ=DAILY;INTERVAL=0",
            "FREQ=DAILY;INTERVAL=-1",
            "FREQ=DAILY;COUNT=0",
            "FREQ=DAILY;COUNT=2;UNTIL=20300101",
            "FREQ=DAILY;UNTIL=soon",
            "FREQ=WEEKLY;BYDAY=XX",
            "FREQ=WEEKLY;BYDAY=1MO",
            "FREQ=WEEKLY;BYMONTHDAY=1",
            "FREQ=MONTHLY;BYMONTHDAY=0",
            "FREQ=MONTHLY;BYMONTHDAY=32",
            "FREQ=MONTHLY;BYDAY=月",
            "FREQ=YEARLY;BYWEEKNO=20",
            "FREQ=DAILY;X=1",
            "FREQ=DAILY;FREQ=WEEKLY",
            "FREQ=DAILY;COUNT=3;COUNT=4",
            "FREQ=DAILY;BYSECOND=30",
            "FREQ=HOURLY;BYDAY=MO",
        ] {
            assert!(rule(text).is_err(), "{text}");
        }
    }
}
