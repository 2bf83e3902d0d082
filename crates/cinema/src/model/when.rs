//! Dates and times as the cinema writes them.
//!
//! A show after midnight belongs to the programme of the day before: `25:30`
//! on a Saturday is Sunday 01:30. Both name the same instant.

use std::fmt;

use jiff::{Span, Timestamp, ToSpan, civil::Date, tz::TimeZone};
use kit::context::Language;
use serde::{Deserialize, Serialize};

pub const DAY: i64 = 24 * 60;
/// House times end at 29:59; 30:00 belongs to the next day.
const LATEST: i64 = 30 * 60;

/// Minutes since midnight of the programme's day, past 24:00 for late shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct HouseTime(i64);

impl HouseTime {
    pub fn from_minutes(minutes: i64) -> Self {
        Self(minutes)
    }

    /// Reads `HH:MM` and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let (hours, minutes) = text.split_once(':')?;
        let hours = digits(hours, 2..=2)?;
        let minutes = digits(minutes, 2..=2).filter(|minutes| *minutes < 60)?;
        Some(Self(hours * 60 + minutes)).filter(|time| time.0 < LATEST)
    }

    pub fn minutes(self) -> i64 {
        self.0
    }

    /// The other name of a time that has two: 25:30 for 01:30 and back.
    pub fn other_name(self) -> Option<Self> {
        match self.0 {
            late if late >= DAY => Some(Self(late - DAY)),
            early if early + DAY < LATEST => Some(Self(early + DAY)),
            _ => None,
        }
    }
}

impl fmt::Display for HouseTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl From<HouseTime> for String {
    fn from(time: HouseTime) -> Self {
        time.to_string()
    }
}

impl TryFrom<String> for HouseTime {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not a time such as 19:30")
    }
}

/// The instant of `time` on the programme of `date`, in milliseconds since 1970.
pub fn instant(date: Date, time: HouseTime, zone: &TimeZone) -> Option<i64> {
    let civil = date
        .at(0, 0, 0, 0)
        .checked_add(Span::new().try_minutes(time.0).ok()?)
        .ok()?;
    let zoned = civil.to_zoned(zone.clone()).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

/// RFC 3339 with the cinema's offset.
pub fn rfc3339(milliseconds: i64, zone: &TimeZone) -> String {
    Timestamp::from_millisecond(milliseconds)
        .unwrap_or(Timestamp::UNIX_EPOCH)
        .to_zoned(zone.clone())
        .strftime("%Y-%m-%dT%H:%M:%S%:z")
        .to_string()
}

/// In full, for a person who has to decide.
pub fn on_card(milliseconds: i64, zone: &TimeZone, language: Language) -> String {
    let at = Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH);
    kit::time::written_in_full(&at.to_zoned(zone.clone()), language)
}

/// RFC 3339 with milliseconds, for files.
pub fn precise(milliseconds: i64, zone: &TimeZone) -> String {
    Timestamp::from_millisecond(milliseconds)
        .unwrap_or(Timestamp::UNIX_EPOCH)
        .to_zoned(zone.clone())
        .strftime("%Y-%m-%dT%H:%M:%S%.f%:z")
        .to_string()
}

/// Reads `YYYY-MM-DD`.
pub fn read_date(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let year = digits(parts.next()?, 4..=4)?;
    date(
        year,
        digits(parts.next()?, 2..=2)?,
        digits(parts.next()?, 2..=2)?,
    )
}

/// Turns `2026/11/15`, `2026.11.15`, `2026年11月15日`, full-width digits and
/// 今日/today, 明日/tomorrow, 明後日 and days of the week into what [`read_date`] reads. A
/// day of the week is the next one, today included. `None` where the text is not
/// understood.
pub fn tidy_date(text: &str, today: Date) -> Option<String> {
    let text = kit::text::narrow(text).to_lowercase();
    let days = match text.as_str() {
        "今日" | "本日" | "きょう" | "today" => Some(0),
        "明日" | "あした" | "あす" | "tomorrow" => Some(1),
        "明後日" | "あさって" | "day after tomorrow" => Some(2),
        _ => None,
    };
    let days = days.or_else(|| days_until(&text, today));
    if let Some(days) = days {
        return Some(today.checked_add(days.days()).ok()?.to_string());
    }
    let text = text.strip_suffix('日').unwrap_or(&text);
    let mut parts = text.split(['-', '/', '.', '年', '月']).map(str::trim);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (year, month, day) = (
        digits(year, 4..=4)?,
        digits(month, 1..=2)?,
        digits(day, 1..=2)?,
    );
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

/// How many days it is until the day of the week that `text` names.
fn days_until(text: &str, today: Date) -> Option<i64> {
    const NAMES: [(&str, &str); 7] = [
        ("月曜", "monday"),
        ("火曜", "tuesday"),
        ("水曜", "wednesday"),
        ("木曜", "thursday"),
        ("金曜", "friday"),
        ("土曜", "saturday"),
        ("日曜", "sunday"),
    ];
    let japanese = text.strip_suffix('日').unwrap_or(text);
    let day = NAMES.iter().position(|(name, english)| {
        *name == japanese || *english == text || english.get(..3) == Some(text)
    })?;
    let until = i64::try_from(day).ok()? - i64::from(today.weekday().to_monday_zero_offset());
    Some(until.rem_euclid(7))
}

/// Turns `9:05`, `19時30分`, `19時半`, `午後7時`, `7:30 pm` into `HH:MM`.
pub fn tidy_time(text: &str) -> Option<String> {
    let text = kit::text::narrow(text).to_lowercase();
    let (text, afternoon) = half_of_day(&text);
    let text = text.trim();
    let (hours, minutes) = match text.split_once([':', '時']) {
        Some((hours, "")) => (hours, "0"),
        Some((hours, "半")) => (hours, "30"),
        Some((hours, minutes)) => {
            let minutes = minutes.strip_suffix('分').unwrap_or(minutes);
            (hours, minutes.strip_suffix(":00").unwrap_or(minutes))
        }
        // "7 pm" needs no minutes; a bare "7" could mean anything.
        None if afternoon.is_some() => (text, "0"),
        None => return None,
    };
    let hours = digits(hours.trim(), 1..=2)?;
    let minutes = digits(minutes.trim(), 1..=2)?;
    let hours = match afternoon {
        Some(_) if hours > 12 => return None,
        Some(false) => hours % 12,
        Some(true) => hours % 12 + 12,
        None => hours,
    };
    Some(format!("{hours:02}:{minutes:02}"))
}

/// Cuts 午前/午後/am/pm off; `Some(true)` for the afternoon.
fn half_of_day(text: &str) -> (&str, Option<bool>) {
    for (mark, afternoon) in [("午前", false), ("午後", true)] {
        if let Some(rest) = text.strip_prefix(mark) {
            return (rest, Some(afternoon));
        }
    }
    for (mark, afternoon) in [("am", false), ("a.m.", false), ("pm", true), ("p.m.", true)] {
        if let Some(rest) = text.strip_suffix(mark) {
            return (rest, Some(afternoon));
        }
    }
    (text, None)
}

fn digits(text: &str, length: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let ascii = text.bytes().all(|byte| byte.is_ascii_digit());
    (ascii && length.contains(&text.len())).then(|| text.parse().ok())?
}

fn date(year: i64, month: i64, day: i64) -> Option<Date> {
    Date::new(
        year.try_into().ok()?,
        month.try_into().ok()?,
        day.try_into().ok()?,
    )
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: Date = jiff::civil::date(2026, 11, 15);

    fn understood(text: &str) -> Option<String> {
        Some(read_date(&tidy_date(text, TODAY)?)?.to_string())
    }

    #[test]
    fn a_card_has_the_time_of_the_cinema_in_full() {
        let tokyo = TimeZone::get("Asia/Tokyo").unwrap();
        let starts = on_card(1_794_805_500_000, &tokyo, Language::Japanese);
        assert_eq!(starts, "2026年11月16日(月) 14:05 (Asia/Tokyo, UTC+09:00)");
    }

    #[test]
    fn dates_as_people_write_them() {
        for text in [
            "2026-11-05",
            "2026/11/05",
            "2026/11/5",
            "2026.11.5",
            "2026年11月5日",
            "２０２６年１１月５日",
            "２０２６－１１－０５",
            " 2026-11-5 ",
        ] {
            assert_eq!(understood(text).as_deref(), Some("2026-11-05"), "{text}");
        }
        for (text, date) in [
            ("今日", "2026-11-15"),
            ("Today", "2026-11-15"),
            ("明日", "2026-11-16"),
            ("TOMORROW", "2026-11-16"),
            ("明後日", "2026-11-17"),
            // The fifteenth is a Sunday.
            ("日曜日", "2026-11-15"),
            ("土曜", "2026-11-21"),
            ("Monday", "2026-11-16"),
            ("fri", "2026-11-20"),
        ] {
            assert_eq!(understood(text).as_deref(), Some(date), "{text}");
        }
        for text in [
            "",
            "2026-02-30",
            "2026-13-01",
            "15-11-2026",
            "11/15",
            "20261115",
            "2026-11",
            "2026-11-15-1",
            "0000-00-00",
            "yesterdayish",
            "2026-11-151",
        ] {
            assert_eq!(understood(text), None, "{text}");
        }
    }

    #[test]
    fn times_as_people_write_them() {
        for (text, time) in [
            ("9:05", "09:05"),
            ("19:30", "19:30"),
            ("19時30分", "19:30"),
            ("19時", "19:00"),
            ("19時半", "19:30"),
            ("午後7時", "19:00"),
            ("午後7時5分", "19:05"),
            ("午前9時", "09:00"),
            ("午後7:30", "19:30"),
            ("7pm", "19:00"),
            ("7:30 PM", "19:30"),
            ("12:15 am", "00:15"),
            ("午後12時", "12:00"),
            ("１９：３０", "19:30"),
            ("25:10", "25:10"),
            ("19:30:00", "19:30"),
        ] {
            assert_eq!(tidy_time(text).as_deref(), Some(time), "{text}");
        }
        for text in ["", "7", "soon", "午後13時", "19:305", "時", "1930"] {
            assert_eq!(tidy_time(text), None, "{text}");
        }
    }

    #[test]
    fn house_times_go_on_after_midnight() {
        assert_eq!(HouseTime::parse("25:30").unwrap().to_string(), "25:30");
        for text in ["30:00", "19:60", "9:05", "1930", "aa:bb", "+1:30"] {
            assert_eq!(HouseTime::parse(text), None, "{text}");
        }
        let late = HouseTime::parse("25:30").unwrap();
        let early = HouseTime::parse("01:30").unwrap();
        assert_eq!(late.other_name(), Some(early));
        assert_eq!(early.other_name(), Some(late));
        assert_eq!(HouseTime::parse("12:00").unwrap().other_name(), None);
        let zone = TimeZone::get("Asia/Tokyo").unwrap();
        let next_day = TODAY.tomorrow().unwrap();
        assert_eq!(instant(TODAY, late, &zone), instant(next_day, early, &zone));
        let at = instant(TODAY, late, &zone).unwrap();
        assert_eq!(rfc3339(at, &zone), "2026-11-16T01:30:00+09:00");
    }
}
