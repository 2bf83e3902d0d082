//! Times as people and voice models write or say them.

use jiff::{
    Timestamp, ToSpan as _, Zoned,
    civil::{Date, DateTime, Time},
    fmt::temporal::Pieces,
    tz::TimeZone,
};

use super::{
    time_words::{self, SaidTime, Unclear},
    zone_words::{self, UnknownZone},
};

/// An instant, and the zone it was given in.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    pub at: Timestamp,
    pub zone: TimeZone,
}

impl Moment {
    pub fn new(at: Timestamp, zone: &TimeZone) -> Self {
        Self {
            at,
            zone: zone.clone(),
        }
    }

    pub fn zoned(&self) -> Zoned {
        self.at.to_zoned(self.zone.clone())
    }

    pub fn civil(&self) -> DateTime {
        self.zoned().datetime()
    }

    pub fn millis(&self) -> i64 {
        self.at.as_millisecond()
    }

    pub fn zone_name(&self) -> String {
        self.zone.iana_name().unwrap_or("UTC").to_owned()
    }

    pub fn plus_minutes(&self, minutes: i64) -> Option<Self> {
        let at = self.at.checked_add(minutes.minutes()).ok()?;
        Some(Self::new(at, &self.zone))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// Not a time at all.
    Time,
    /// A day without a time of day.
    NoTimeOfDay,
    /// `at 3`, which is in the morning or in the afternoon.
    HalfOfDay,
    /// A date beside the name of another weekday.
    Weekday,
    /// An unknown zone.
    Zone,
    /// Before 1970 or after 2200.
    Range,
}

impl From<Unclear> for Unreadable {
    fn from(why: Unclear) -> Self {
        match why {
            Unclear::NotUnderstood => Self::Time,
            Unclear::HalfOfDay => Self::HalfOfDay,
            Unclear::Weekday => Self::Weekday,
        }
    }
}

impl From<UnknownZone> for Unreadable {
    fn from(_: UnknownZone) -> Self {
        Self::Zone
    }
}

/// No zone is farther from UTC than 18 hours.
const FARTHEST_OFFSET: i32 = 18 * 60 * 60;

/// Where and when a time is said.
#[derive(Debug, Clone)]
pub struct Here {
    pub zone: TimeZone,
    pub now: Timestamp,
    /// The day of a time without one; `None`: the next such time.
    pub day: Option<Date>,
}

impl Here {
    /// Reads ISO 8601 as people and models write it, or words such as `tomorrow at
    /// 3pm`. A time that clocks skip becomes the one an hour later.
    pub fn moment(&self, text: &str) -> Result<Moment, Unreadable> {
        let (said, zone) = self.said(text)?;
        let at = match said {
            SaidTime::Days(..) => return Err(Unreadable::NoTimeOfDay),
            SaidTime::Local(local) => instant(local, &zone).ok_or(Unreadable::Range)?,
            SaidTime::At(at) => at,
        };
        let year = at.to_zoned(TimeZone::UTC).year();
        if !(1970..=2200).contains(&year) {
            return Err(Unreadable::Range);
        }
        let whole = Timestamp::from_second(at.as_second()).map_err(|_| Unreadable::Range)?;
        Ok(Moment::new(whole, &zone))
    }

    /// The day that is named, and the instant if it is a time.
    pub fn day_or_time(&self, text: &str) -> Result<(Date, Option<Timestamp>), Unreadable> {
        match self.said(text)? {
            (SaidTime::Days(day, _), _) => Ok((day, None)),
            _ => {
                let at = self.moment(text)?.at;
                Ok((at.to_zoned(self.zone.clone()).date(), Some(at)))
            }
        }
    }

    /// One end of a range: a moment, the beginning of the first day, or the end of the
    /// last one.
    pub fn bound(&self, text: &str, is_end: bool) -> Result<Timestamp, Unreadable> {
        let (first, last) = match self.said(text)?.0 {
            SaidTime::Days(first, last) => (first, last),
            _ => return self.moment(text).map(|moment| moment.at),
        };
        let day = match is_end {
            // No day follows the last one.
            true => last.tomorrow().unwrap_or(last),
            false => first,
        };
        instant(day.to_datetime(Time::midnight()), &self.zone).ok_or(Unreadable::Range)
    }

    /// What was said, and the zone it was said in.
    pub fn said(&self, text: &str) -> Result<(SaidTime, TimeZone), Unreadable> {
        let text = kit::text::narrow(text);
        let (words, zone) = match zone_words::split(&text)? {
            (words, Some(zone)) => (words, zone),
            (words, None) => (words, self.zone.clone()),
        };
        if let Some(said) = iso(words)? {
            return Ok((said, zone));
        }
        if let Some(said) = iso_with_weekday(words, &zone)? {
            return Ok((said, zone));
        }
        if matches!(words.to_lowercase().as_str(), "now" | "今" | "いま") {
            return Ok((SaidTime::At(self.now), zone));
        }
        let now = self.now.to_zoned(zone.clone());
        Ok((time_words::read(words, &now, self.day)?, zone))
    }
}

/// `2026-11-16T07:00:00+09:00 Monday`, as cards and errors show a time.
fn iso_with_weekday(text: &str, zone: &TimeZone) -> Result<Option<SaidTime>, Unreadable> {
    let named = text.trim_end().rsplit_once(' ').and_then(|(time, name)| {
        let weekday = time_words::english_weekday(&name.to_lowercase())?;
        Some((time, weekday))
    });
    let Some((time, weekday)) = named else {
        return Ok(None);
    };
    let said = iso(time)?;
    let day = match said {
        None => return Ok(None),
        Some(SaidTime::Days(day, _)) => day,
        Some(SaidTime::Local(local)) => local.date(),
        Some(SaidTime::At(at)) => at.to_zoned(zone.clone()).date(),
    };
    match day.weekday() == weekday {
        true => Ok(said),
        false => Err(Unreadable::Weekday),
    }
}

/// `None` if it is not ISO 8601, as people and models write it.
fn iso(text: &str) -> Result<Option<SaidTime>, Unreadable> {
    let (text, is_next_day) = tidy(text);
    let Ok(pieces) = Pieces::parse(&text) else {
        return Ok(None);
    };
    let Some(time) = pieces.time() else {
        return Ok(Some(SaidTime::Days(pieces.date(), pieces.date())));
    };
    let day = match is_next_day {
        true => pieces.date().tomorrow().map_err(|_| Unreadable::Range)?,
        false => pieces.date(),
    };
    let local = day.to_datetime(time);
    Ok(Some(match pieces.to_numeric_offset() {
        Some(offset) if offset.seconds().abs() > FARTHEST_OFFSET => return Err(Unreadable::Time),
        Some(offset) => {
            let at = offset.to_timestamp(local).map_err(|_| Unreadable::Range)?;
            SaidTime::At(at)
        }
        None => SaidTime::Local(local),
    }))
}

/// The instant of a civil time in a zone. A time that clocks skip comes an hour
/// later; of a repeated time it is the first.
pub fn instant(local: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    zone.to_zoned(local).ok().map(|zoned| zoned.timestamp())
}

/// Full-width digits and signs, slashes in dates, a space for the `T`, an offset
/// without its colon, Japanese dates. Also returns whether the hour is one of the next
/// day: `24:00`, `25:30`.
fn tidy(text: &str) -> (String, bool) {
    let mut text = kit::text::narrow(text).to_uppercase();
    if text.contains('年') {
        text = text.replace(['年', '月'], "-").replace('日', " ");
        text = text.replace('時', ":").replace('分', "");
        if text.ends_with(':') {
            text.push_str("00");
        }
    }
    let moment = text.trim();
    let (date, rest) = match moment.find(['T', ' ']) {
        Some(at) => moment.split_at(at),
        None => (moment, ""),
    };
    let date = pad_date(&date.replace(['/', '.'], "-"));
    let rest = rest.trim_start_matches(['T', ' ']).replace(' ', "");
    if rest.is_empty() {
        return (date, false);
    }
    let (time, is_next_day) = pad_time(&rest);
    (format!("{date}T{time}"), is_next_day)
}

fn pad_date(date: &str) -> String {
    let parts: Vec<&str> = date.split('-').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [year, month, day] if year.len() == 4 => format!("{year}-{month:0>2}-{day:0>2}"),
        _ => date.to_owned(),
    }
}

fn pad_time(time: &str) -> (String, bool) {
    let Some((hour, rest)) = time.split_once(':') else {
        return (time.to_owned(), false);
    };
    match hour.parse::<u8>() {
        Ok(hour @ 24..=29) => (format!("{:02}:{rest}", hour - 24), true),
        _ => (format!("{hour:0>2}:{rest}"), false),
    }
}

pub fn rfc3339(at: Timestamp, zone: &TimeZone) -> String {
    let zoned = at.to_zoned(zone.clone());
    zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

pub fn rfc3339_millis(at: i64, zone: &TimeZone) -> String {
    Timestamp::from_millisecond(at).map_or_else(|_| String::new(), |at| rfc3339(at, zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, zone: &str) -> Result<Moment, Unreadable> {
        let here = Here {
            zone: kit::time::zone(zone).unwrap(),
            now: "2026-11-18T10:00:00+09:00".parse().unwrap(),
            day: None,
        };
        here.moment(text)
    }

    #[test]
    fn spellings_of_one_moment() {
        for text in [
            "2025-09-19T07:00:00+09:00",
            "2025-09-19T07:00:00.000+09:00",
            "2025-09-19T07:00+09:00",
            "2025-09-18T22:00:00Z",
            "2025-09-18t22:00:00z",
            "2025-09-19T07:00:00",
            "2025-09-19T07:00",
            "2025-09-19 07:00",
            "2025-9-19 7:00",
            "2025/9/19 7:00",
            "２０２５－０９－１９Ｔ０７：００：００",
            "20250919T070000+0900",
            "20250919T070000",
            "2025-09-19T07:00:00[Asia/Tokyo]",
            "2025-09-18T18:00:00-04:00[America/New_York]",
            "2025年9月19日7時",
            "2025年9月19日 7時00分",
            " 2025-09-19T07:00:00 ",
            "2025-09-19T07:00:00+09:00 Friday (Asia/Tokyo)",
            "Thursday, September 18, 2025 at 18:00 New York time",
            "2025年9月18日(木)18時(New York時間)",
        ] {
            let read = read(text, "Asia/Tokyo").unwrap_or_else(|why| panic!("{text}: {why:?}"));
            assert_eq!(read.at.to_string(), "2025-09-18T22:00:00Z", "{text}");
        }
    }

    #[test]
    fn what_is_no_time() {
        for (text, why) in [
            ("", Unreadable::Time),
            ("soon", Unreadable::Time),
            ("tomorrow", Unreadable::NoTimeOfDay),
            ("tomorrow at 3", Unreadable::HalfOfDay),
            ("tomorrow at 15:00[Mars/Base]", Unreadable::Zone),
            ("2025-13-01T00:00", Unreadable::Time),
            ("2025-02-29T00:00", Unreadable::Time),
            ("2025-09-19T30:00", Unreadable::Time),
            ("2025-09-19T24:60", Unreadable::Time),
            ("2025-09-19T07:00:00+09:00 Monday", Unreadable::Weekday),
            ("tomorrow at 15:00 (Mars/Base)", Unreadable::Zone),
            ("tomorrow at 15:00 lunch time", Unreadable::Time),
            ("2025-09-19", Unreadable::NoTimeOfDay),
            ("2025-09-19T07:00[Mars/Base]", Unreadable::Zone),
            ("1812-01-01T00:00:00Z", Unreadable::Range),
            ("9998-01-01T00:00:00Z", Unreadable::Range),
        ] {
            assert_eq!(read(text, "Asia/Tokyo"), Err(why), "{text}");
        }
    }

    #[test]
    fn hours_beyond_24_are_on_the_next_day() {
        for (text, expected) in [
            ("2025-09-19T24:00", "2025-09-19T15:00:00Z"),
            ("2025-09-19 25:00", "2025-09-19T16:00:00Z"),
            ("2025-09-19T26:30:00+09:00", "2025-09-19T17:30:00Z"),
            ("2025年12月31日25時", "2025-12-31T16:00:00Z"),
        ] {
            let read = read(text, "Asia/Tokyo").unwrap();
            assert_eq!(read.at.to_string(), expected, "{text}");
        }
    }

    #[test]
    fn a_skipped_hour_comes_later_and_a_repeated_one_first() {
        let at = |text| read(text, "America/New_York").unwrap().at.to_string();
        assert_eq!(at("2026-03-08T02:30"), "2026-03-08T07:30:00Z");
        assert_eq!(at("2026-11-01T01:30"), "2026-11-01T05:30:00Z");
    }
}
