//! Times as voice models send them, and how they are said.

use jiff::{
    Timestamp, ToSpan, Zoned,
    civil::{Date, DateTime, Time, Weekday},
    fmt::temporal::Pieces,
    tz::TimeZone,
};
use kit::context::Language;

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

    /// RFC 3339 with the zone's offset.
    pub fn rfc3339(&self) -> String {
        rfc3339(self.at, &self.zone)
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

/// The full time with its zone, for a person who has to decide.
pub fn in_full(at: Timestamp, zone: &TimeZone) -> String {
    let name = zone.iana_name().unwrap_or("UTC");
    let weekday = at.to_zoned(zone.clone()).weekday();
    let (_, english) = weekday_names(weekday);
    format!("{} {english} ({name})", rfc3339(at, zone))
}

/// As a voice would say it, near times shorter: `tomorrow at 7:00`. The zone is
/// named if its clocks differ from those at home.
pub fn spoken(
    at: Timestamp,
    zone: &TimeZone,
    home: &TimeZone,
    now: Timestamp,
    language: Language,
) -> String {
    if zone.to_offset(at) == home.to_offset(at) {
        return spoken_at(at, zone, Some(now), language);
    }
    let (text, name) = (spoken_at(at, zone, None, language), zone.iana_name());
    let place = name.and_then(|name| name.rsplit('/').next());
    let place = place.unwrap_or("UTC").replace('_', " ");
    match language {
        Language::English => format!("{text} {place} time"),
        Language::Japanese => format!("{text}({place}時間)"),
    }
}

/// Without `now` the day is named in full.
fn spoken_at(at: Timestamp, zone: &TimeZone, now: Option<Timestamp>, language: Language) -> String {
    let then = at.to_zoned(zone.clone());
    let today = now.map(|now| now.to_zoned(zone.clone()).date());
    let (japanese, english) = weekday_names(then.weekday());
    let (hour, minute) = (then.hour(), then.minute());
    let away = today.and_then(|today| today.until(then.date()).ok());
    let away = away.map_or(i32::MAX, |span| span.get_days());
    let this_year = today.is_some_and(|today| today.year() == then.year());
    match language {
        Language::English => {
            let day = match away {
                0 => "today".to_owned(),
                1 => "tomorrow".to_owned(),
                _ if this_year => {
                    format!("{english}, {}", then.strftime("%B %-d"))
                }
                _ => format!("{english}, {}", then.strftime("%B %-d, %Y")),
            };
            format!("{day} at {hour}:{minute:02}")
        }
        Language::Japanese => {
            let day = match away {
                0 => "今日".to_owned(),
                1 => "明日".to_owned(),
                _ if this_year => {
                    format!("{}月{}日({japanese})", then.month(), then.day())
                }
                _ => format!(
                    "{}年{}月{}日({japanese})",
                    then.year(),
                    then.month(),
                    then.day()
                ),
            };
            match minute {
                0 => format!("{day}{hour}時"),
                _ => format!("{day}{hour}時{minute}分"),
            }
        }
    }
}

pub fn weekday_names(weekday: Weekday) -> (&'static str, &'static str) {
    match weekday {
        Weekday::Monday => ("月", "Monday"),
        Weekday::Tuesday => ("火", "Tuesday"),
        Weekday::Wednesday => ("水", "Wednesday"),
        Weekday::Thursday => ("木", "Thursday"),
        Weekday::Friday => ("金", "Friday"),
        Weekday::Saturday => ("土", "Saturday"),
        Weekday::Sunday => ("日", "Sunday"),
    }
}

/// Minutes: `30`, `"３０"`, `"30分"`, `"1時間半"`, `"1h 30m"`, `"PT45M"`.
pub fn read_minutes(text: &str) -> Option<f64> {
    let text = kit::text::narrow(text).to_lowercase();
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let text = text.strip_prefix("pt").unwrap_or(&text);
    let mut total = 0.0;
    let mut rest = text.trim();
    let mut units = 0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let number: f64 = number.parse().ok()?;
        let after = after.trim_start();
        let (minutes, unit) = UNITS
            .iter()
            .find_map(|(unit, minutes)| after.starts_with(unit).then_some((*minutes, *unit)))?;
        total += number * minutes;
        units += 1;
        rest = after.get(unit.len()..)?.trim_start();
        if let Some(half) = rest.strip_prefix('半') {
            total += minutes / 2.0;
            rest = half.trim_start();
        }
    }
    (units > 0).then_some(total)
}

/// Longer spellings first.
const UNITS: [(&str, f64); 15] = [
    ("minutes", 1.0),
    ("minute", 1.0),
    ("mins", 1.0),
    ("min", 1.0),
    ("分間", 1.0),
    ("分", 1.0),
    ("hours", 60.0),
    ("hour", 60.0),
    ("hrs", 60.0),
    ("hr", 60.0),
    ("時間", 60.0),
    ("h", 60.0),
    ("days", 1440.0),
    ("日", 1440.0),
    ("m", 1.0),
];

/// The end of an event of so many minutes.
pub fn plus_minutes(at: Timestamp, minutes: i64) -> Option<Timestamp> {
    at.checked_add(minutes.minutes()).ok()
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

    #[test]
    fn minutes_in_words() {
        for (text, minutes) in [
            ("30", 30.0),
            ("３０", 30.0),
            ("30分", 30.0),
            ("1時間", 60.0),
            ("1時間半", 90.0),
            ("1時間30分", 90.0),
            ("1h30m", 90.0),
            ("1h 30m", 90.0),
            ("PT45M", 45.0),
            ("90 min", 90.0),
            ("1.5 hours", 90.0),
        ] {
            assert_eq!(read_minutes(text), Some(minutes), "{text}");
        }
        for text in ["", "soon", "half", "30 parsecs", "NaN", "inf"] {
            assert_eq!(read_minutes(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_said_shortly_when_near() {
        let now: Timestamp = "2026-11-15T01:00:00Z".parse().unwrap();
        let say =
            |text: &str, language| spoken(text.parse().unwrap(), &tokyo(), &tokyo(), now, language);
        assert_eq!(
            say("2026-11-15T22:00:00Z", Language::English),
            "tomorrow at 7:00"
        );
        assert_eq!(
            say("2026-11-15T22:30:00Z", Language::Japanese),
            "明日7時30分"
        );
        assert_eq!(say("2026-11-15T03:00:00Z", Language::Japanese), "今日12時");
        assert_eq!(
            say("2026-12-24T09:00:00Z", Language::English),
            "Thursday, December 24 at 18:00"
        );
        assert_eq!(
            say("2027-01-01T00:00:00Z", Language::Japanese),
            "2027年1月1日(金)9時"
        );
        // Another zone is named, and its dates differ from those at home.
        let there = TimeZone::get("America/New_York").unwrap();
        let at = "2026-11-15T22:00:00Z".parse().unwrap();
        assert_eq!(
            spoken(at, &there, &tokyo(), now, Language::English),
            "Sunday, November 15, 2026 at 17:00 New York time"
        );
        assert_eq!(
            spoken(at, &there, &tokyo(), now, Language::Japanese),
            "2026年11月15日(日)17時(New York時間)"
        );
        let seoul = TimeZone::get("Asia/Seoul").unwrap();
        assert_eq!(
            spoken(at, &seoul, &tokyo(), now, Language::English),
            "tomorrow at 7:00"
        );
    }
}
