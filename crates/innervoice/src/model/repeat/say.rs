//! Rules said in words.

use jiff::{
    civil::{Date, Weekday},
    tz::TimeZone,
};
use kit::{
    Language::{self, English, Japanese},
    time::japanese_weekday,
};

use super::rule::{Freq, Rule, Until};

/// An RRULE in words. A rule that words can't say becomes "by a rule of its own".
pub fn say(rule: &str, language: Language) -> String {
    let said = Rule::parse(rule).ok().and_then(|rule| rule.say(language));
    said.unwrap_or_else(|| {
        match language {
            English => "by a rule of its own",
            Japanese => "独自の規則で",
        }
        .into()
    })
}

/// A rule that words can say, without its hours and its end.
enum Pattern {
    Hours,
    Days,
    Workdays,
    Weeks(Vec<Weekday>),
    Months(Option<MonthDay>),
    /// With a month and its day, or without.
    Years(Option<(i8, i8)>),
    LastOfFebruary,
    LeapDay,
}

enum MonthDay {
    Last,
    Number(i8),
    /// The first Monday; -1 for the last one.
    Weekday(i8, Weekday),
}

impl Rule {
    fn say(&self, language: Language) -> Option<String> {
        // Minutes are only said with their hours.
        if self.by_hour.is_empty() && !self.by_minute.is_empty() {
            return None;
        }
        let pattern = self.pattern()?;
        let mut text = match language {
            English => english(&pattern, self.interval)?,
            Japanese => japanese(&pattern, self.interval),
        };
        if !self.by_hour.is_empty() {
            text.push_str(&self.hours(language));
        }
        match (language, self.count) {
            (_, None) => {}
            (English, Some(1)) => text.push_str(", once"),
            (English, Some(count)) => text.push_str(&format!(", {count} times")),
            (Japanese, Some(count)) => text.push_str(&format!("、{count}回")),
        }
        if let Some(until) = self.until {
            let day = last_day(until, language);
            text.push_str(&match language {
                English => format!(", until {day}"),
                Japanese => format!("、{day}まで"),
            });
        }
        Some(text)
    }

    /// `None` where words would be wrong.
    fn pattern(&self) -> Option<Pattern> {
        let has_days = !self.by_day.is_empty() || !self.by_month_day.is_empty();
        let has_positions = !self.by_set_pos.is_empty();
        match (self.freq, self.by_month.as_slice()) {
            (Freq::Hourly, []) => Some(Pattern::Hours),
            (Freq::Daily, []) if !has_days && !has_positions => Some(Pattern::Days),
            (Freq::Weekly, []) if !has_positions => {
                let days: Vec<Weekday> = self.by_day.iter().map(|(_, day)| *day).collect();
                let is_workdays = matches!(
                    days.as_slice(),
                    [
                        Weekday::Monday,
                        Weekday::Tuesday,
                        Weekday::Wednesday,
                        Weekday::Thursday,
                        Weekday::Friday,
                    ]
                );
                Some(match is_workdays && self.interval == 1 {
                    true => Pattern::Workdays,
                    false => Pattern::Weeks(days),
                })
            }
            (Freq::Monthly, []) if !has_days && !has_positions => Some(Pattern::Months(None)),
            (Freq::Monthly, []) => Some(Pattern::Months(Some(self.month_day()?))),
            (Freq::Yearly, []) if !has_days && !has_positions => Some(Pattern::Years(None)),
            (Freq::Yearly, [month]) => match (*month, self.month_day()?, has_positions) {
                // By words the 29th is the 28th in other years; a rule skips those years.
                (2, MonthDay::Last, _) | (2, MonthDay::Number(29), true) => {
                    Some(Pattern::LastOfFebruary)
                }
                (2, MonthDay::Number(29), false) if self.interval == 1 => Some(Pattern::LeapDay),
                (month, MonthDay::Number(day), _) => Some(Pattern::Years(Some((month, day)))),
                (_, MonthDay::Last | MonthDay::Weekday(..), _) => None,
            },
            _ => None,
        }
    }

    /// The one day of a month that is meant. The last of `28,29,30` is how a rule
    /// says the 30th, or the last day of a shorter month.
    fn month_day(&self) -> Option<MonthDay> {
        match (
            self.by_month_day.as_slice(),
            self.by_day.as_slice(),
            self.by_set_pos.as_slice(),
        ) {
            ([-1], [], []) => Some(MonthDay::Last),
            ([day @ 1..=31], [], []) | ([28, 29, .., day] | [28, day @ 29], [], [-1]) => {
                Some(MonthDay::Number(*day))
            }
            ([], [(Some(nth @ (-1 | 1..=5)), weekday)], []) => {
                Some(MonthDay::Weekday(*nth, *weekday))
            }
            _ => None,
        }
    }

    fn hours(&self, language: Language) -> String {
        let mut times = Vec::new();
        for hour in &self.by_hour {
            if self.by_minute.is_empty() {
                times.push(match language {
                    English => format!("{hour} o'clock"),
                    Japanese => format!("{hour}時"),
                });
            }
            times.extend(self.by_minute.iter().map(|minute| match language {
                English => format!("{hour}:{minute:02}"),
                Japanese => format!("{hour}時{minute}分"),
            }));
        }
        match language {
            English => format!(" at {}", listed(&times)),
            Japanese => format!("の{}", times.join("と")),
        }
    }
}

fn english(pattern: &Pattern, interval: i32) -> Option<String> {
    let every = |unit: &str| match interval {
        1 => format!("every {unit}"),
        n => format!("every {n} {unit}s"),
    };
    Some(match pattern {
        Pattern::Hours => every("hour"),
        Pattern::Days => every("day"),
        Pattern::Workdays => "every weekday".into(),
        Pattern::Weeks(days) => {
            let names: Vec<String> = days.iter().map(|day| english_name(*day).into()).collect();
            match (interval, listed(&names)) {
                (2, days) if days.is_empty() => "every other week".into(),
                (_, days) if days.is_empty() => every("week"),
                (1, days) => format!("every {days}"),
                (2, days) => format!("every other {days}"),
                (_, days) => format!("{} on {days}", every("week")),
            }
        }
        Pattern::Months(None) => every("month"),
        Pattern::Months(Some(day)) => {
            let day = match day {
                MonthDay::Last => "the last day".into(),
                MonthDay::Number(day) => format!("day {day}"),
                MonthDay::Weekday(nth, day) => {
                    let nth = match nth {
                        1 => "first",
                        2 => "second",
                        3 => "third",
                        4 => "fourth",
                        5 => "fifth",
                        _ => "last",
                    };
                    format!("the {nth} {}", english_name(*day))
                }
            };
            format!("{} on {day}", every("month"))
        }
        Pattern::Years(None) => every("year"),
        Pattern::Years(Some((month, day))) => {
            let month = Date::new(2024, *month, 1).ok()?.strftime("%B").to_string();
            format!("{} on {month} {day}", every("year"))
        }
        Pattern::LastOfFebruary => format!("{} on the last day of February", every("year")),
        Pattern::LeapDay => "every leap year on February 29".into(),
    })
}

fn japanese(pattern: &Pattern, interval: i32) -> String {
    match (pattern, interval) {
        (Pattern::Hours, 1) => "毎時".into(),
        (Pattern::Hours, n) => format!("{n}時間ごと"),
        (Pattern::Days, 1) => "毎日".into(),
        (Pattern::Days, n) => format!("{n}日ごと"),
        (Pattern::Workdays, _) => "平日".into(),
        (Pattern::Weeks(days), n) => {
            let names = days.iter().map(|day| japanese_weekday(*day).to_string());
            let names: Vec<_> = names.collect();
            let days = match names.as_slice() {
                [one] => format!("{one}曜"),
                names => names.join("・"),
            };
            match n {
                1 => format!("毎週{days}"),
                2 => format!("隔週{days}"),
                n if days.is_empty() => format!("{n}週間ごと"),
                n => format!("{n}週間ごとの{days}"),
            }
        }
        (Pattern::Months(day), n) => {
            let day = match day {
                None => String::new(),
                Some(MonthDay::Last) => "末日".into(),
                Some(MonthDay::Number(day)) => format!("{day}日"),
                Some(MonthDay::Weekday(-1, day)) => format!("最終{}曜", japanese_weekday(*day)),
                Some(MonthDay::Weekday(nth, day)) => format!("第{nth}{}曜", japanese_weekday(*day)),
            };
            match n {
                1 => format!("毎月{day}"),
                n if day.is_empty() => format!("{n}か月ごと"),
                n => format!("{n}か月ごとの{day}"),
            }
        }
        (Pattern::Years(None), 1) => "毎年".into(),
        (Pattern::Years(None), n) => format!("{n}年ごと"),
        (Pattern::Years(Some((month, day))), 1) => format!("毎年{month}月{day}日"),
        (Pattern::Years(Some((month, day))), n) => format!("{n}年ごとの{month}月{day}日"),
        (Pattern::LastOfFebruary, 1) => "毎年2月末日".into(),
        (Pattern::LastOfFebruary, n) => format!("{n}年ごとの2月末日"),
        (Pattern::LeapDay, _) => "うるう年の2月29日".into(),
    }
}

fn english_name(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

fn last_day(until: Until, language: Language) -> String {
    let date = match until {
        Until::Date(date) => date,
        Until::Local(local) => local.date(),
        Until::At(at) => at.to_zoned(TimeZone::UTC).date(),
    };
    match language {
        English => date.strftime("%B %-d, %Y").to_string(),
        Japanese => format!("{}年{}月{}日", date.year(), date.month(), date.day()),
    }
}

fn listed(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules, and how they are said in English and Japanese.
    const SAID: &[(&str, &str, &str)] = &[
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
            "every year on December 31",
            "毎年12月31日",
        ),
        ("FREQ=DAILY;COUNT=3", "every day, 3 times", "毎日、3回"),
        (
            "FREQ=MONTHLY;BYDAY=2TU",
            "every month on the second Tuesday",
            "毎月第2火曜",
        ),
        (
            "FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR",
            "every 2 months on the last Friday",
            "2か月ごとの最終金曜",
        ),
        (
            "FREQ=DAILY;BYHOUR=7,19;UNTIL=20270131T000000Z",
            "every day at 7 o'clock and 19 o'clock, until January 31, 2027",
            "毎日の7時と19時、2027年1月31日まで",
        ),
        (
            "FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29",
            "every 4 years on February 29",
            "4年ごとの2月29日",
        ),
        (
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1",
            "every year on the last day of February",
            "毎年2月末日",
        ),
        (
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
            "every leap year on February 29",
            "うるう年の2月29日",
        ),
        (
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=14",
            "every year on February 14",
            "毎年2月14日",
        ),
        // What words can't say exactly is not said.
        (
            "FREQ=MONTHLY;BYMONTHDAY=1,15",
            "by a rule of its own",
            "独自の規則で",
        ),
        (
            "FREQ=WEEKLY;BYDAY=MO;BYMONTH=1",
            "by a rule of its own",
            "独自の規則で",
        ),
        (
            "FREQ=HOURLY;BYHOUR=9,10",
            "by a rule of its own",
            "独自の規則で",
        ),
    ];

    #[test]
    fn rules_are_said_in_words() {
        for (rule, english, japanese) in SAID {
            assert_eq!(say(rule, English), *english);
            assert_eq!(say(rule, Japanese), *japanese);
        }
    }
}
