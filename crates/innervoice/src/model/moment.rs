//! Times as voice models write them: ISO 8601, read tolerantly.

use jiff::{
    Timestamp, ToSpan as _, Zoned,
    civil::{Date, DateTime, Time},
    fmt::temporal::Pieces,
    tz::TimeZone,
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
    /// An unknown zone.
    Zone,
    /// Before 1970 or after 2200.
    Range,
}

/// No zone is farther from UTC than 18 hours.
const FARTHEST_OFFSET: i32 = 18 * 60 * 60;

/// Reads ISO 8601 as people and models write it. Without an offset or a zone it
/// is read in `zone`; a time that clocks skip becomes the one an hour later.
pub fn read(text: &str, zone: &TimeZone) -> Result<Moment, Unreadable> {
    let text = tidy(text);
    let pieces = Pieces::parse(&text).map_err(|_| Unreadable::Time)?;
    let time = pieces.time().ok_or(Unreadable::NoTimeOfDay)?;
    let local = pieces.date().to_datetime(time);
    let named = match pieces.time_zone_annotation() {
        None => None,
        Some(annotation) => {
            let name = match annotation.kind() {
                jiff::fmt::temporal::TimeZoneAnnotationKind::Named(name) => name.as_str(),
                _ => return Err(Unreadable::Zone),
            };
            Some(kit::time::zone(name).ok_or(Unreadable::Zone)?)
        }
    };
    let zone = named.as_ref().unwrap_or(zone);
    let at = match pieces.to_numeric_offset() {
        Some(offset) if offset.seconds().abs() > FARTHEST_OFFSET => return Err(Unreadable::Time),
        Some(offset) => offset.to_timestamp(local).map_err(|_| Unreadable::Range)?,
        None => instant(local, zone).ok_or(Unreadable::Range)?,
    };
    let year = at.to_zoned(TimeZone::UTC).year();
    if !(1970..=2200).contains(&year) {
        return Err(Unreadable::Range);
    }
    let whole = Timestamp::from_second(at.as_second()).map_err(|_| Unreadable::Range)?;
    Ok(Moment::new(whole, zone))
}

/// The instant of a civil time in a zone. A time that clocks skip comes an hour
/// later; of a repeated time it is the first.
pub fn instant(local: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    zone.to_zoned(local).ok().map(|zoned| zoned.timestamp())
}

/// A whole day or a moment, for the ends of a list.
pub fn read_bound(text: &str, zone: &TimeZone, today: Date, is_end: bool) -> Option<Timestamp> {
    let folded = kit::text::narrow(text).to_lowercase();
    let day = match folded.as_str() {
        "today" | "今日" | "本日" => Some(today),
        "tomorrow" | "明日" => today.tomorrow().ok(),
        "yesterday" | "昨日" => today.yesterday().ok(),
        "now" | "今" => return None,
        _ => tidy(text)
            .parse::<Date>()
            .ok()
            .filter(|_| !has_time(&folded)),
    };
    match day {
        Some(day) => {
            // No day follows the last one.
            let day = match is_end {
                true => day.tomorrow().unwrap_or(day),
                false => day,
            };
            instant(day.to_datetime(Time::midnight()), zone)
        }
        None => read(text, zone).ok().map(|moment| moment.at),
    }
}

fn has_time(text: &str) -> bool {
    text.contains(':') || text.contains('t')
}

/// Full-width digits and signs, slashes in dates, a space for the `T`, `24:00`,
/// an offset without its colon, Japanese dates.
fn tidy(text: &str) -> String {
    let mut text = kit::text::narrow(text).to_uppercase();
    if text.contains('年') {
        text = text.replace(['年', '月'], "-").replace('日', " ");
        text = text.replace('時', ":").replace('分', "");
        if text.ends_with(':') {
            text.push_str("00");
        }
    }
    // Zone names are the only part in which case matters.
    let zone_at = text.find('[').unwrap_or(text.len());
    let zone = text.get(zone_at..).filter(|zone| !zone.is_empty());
    let zone = zone.map(zone_case).unwrap_or_default();
    let moment = text.get(..zone_at).unwrap_or_default().trim();
    let (date, rest) = match moment.find(['T', ' ']) {
        Some(at) => moment.split_at(at),
        None => (moment, ""),
    };
    let date = pad_date(&date.replace(['/', '.'], "-"));
    let rest = rest.trim_start_matches(['T', ' ']).replace(' ', "");
    if rest.is_empty() {
        return date + &zone;
    }
    format!("{date}T{}{zone}", pad_time(&rest))
}

fn zone_case(annotation: &str) -> String {
    let name = annotation.trim_matches(['[', ']', ' ']);
    let known = kit::time::zone(name).and_then(|zone| zone.iana_name().map(str::to_owned));
    format!("[{}]", known.unwrap_or_else(|| name.to_owned()))
}

fn pad_date(date: &str) -> String {
    let parts: Vec<&str> = date.split('-').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [year, month, day] if year.len() == 4 => format!("{year}-{month:0>2}-{day:0>2}"),
        _ => date.to_owned(),
    }
}

fn pad_time(time: &str) -> String {
    match time.split_once(':') {
        Some((hour, rest)) if hour.len() == 1 => format!("0{hour}:{rest}"),
        _ => time.to_owned(),
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

    fn tokyo() -> TimeZone {
        kit::time::zone("Asia/Tokyo").unwrap()
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
        ] {
            let read = read(text, &tokyo()).unwrap_or_else(|why| panic!("{text}: {why:?}"));
            assert_eq!(read.at.to_string(), "2025-09-18T22:00:00Z", "{text}");
        }
    }

    #[test]
    fn what_is_no_time() {
        for (text, why) in [
            ("", Unreadable::Time),
            ("tomorrow", Unreadable::Time),
            ("2025-13-01T00:00", Unreadable::Time),
            ("2025-02-29T00:00", Unreadable::Time),
            ("2025-09-19T25:00", Unreadable::Time),
            ("2025-09-19", Unreadable::NoTimeOfDay),
            ("2025-09-19T07:00[Mars/Base]", Unreadable::Zone),
            ("1812-01-01T00:00:00Z", Unreadable::Range),
            ("9998-01-01T00:00:00Z", Unreadable::Range),
        ] {
            assert_eq!(read(text, &tokyo()), Err(why), "{text}");
        }
    }

    #[test]
    fn a_skipped_hour_comes_later_and_a_repeated_one_first() {
        let new_york = kit::time::zone("America/New_York").unwrap();
        let at = |text| read(text, &new_york).unwrap().at.to_string();
        assert_eq!(at("2026-03-08T02:30"), "2026-03-08T07:30:00Z");
        assert_eq!(at("2026-11-01T01:30"), "2026-11-01T05:30:00Z");
    }
}
