//! How times are said and shown to people.

use jiff::{Timestamp, civil::Weekday, tz::TimeZone};
use kit::context::Language;

use super::moment::rfc3339;

/// The full time with its zone, for a person who has to decide.
pub fn in_full(at: Timestamp, zone: &TimeZone) -> String {
    let name = zone.iana_name().unwrap_or("UTC");
    let weekday = at.to_zoned(zone.clone()).weekday();
    let (_, english) = weekday_names(weekday);
    format!("{} {english} ({name})", rfc3339(at, zone))
}

/// As a voice would say it, near times shorter: `tomorrow at 7:00`. The zone is
/// named if its clocks differ from those at home.
pub fn time(
    at: Timestamp,
    zone: &TimeZone,
    home: &TimeZone,
    now: Timestamp,
    language: Language,
) -> String {
    if zone.to_offset(at) == home.to_offset(at) {
        return time_at(at, zone, Some(now), language);
    }
    let (text, name) = (time_at(at, zone, None, language), zone.iana_name());
    let place = name.and_then(|name| name.rsplit('/').next());
    let place = place.unwrap_or("UTC").replace('_', " ");
    match language {
        Language::English => format!("{text} {place} time"),
        Language::Japanese => format!("{text}({place}時間)"),
    }
}

/// Without `now` the day is named in full.
fn time_at(at: Timestamp, zone: &TimeZone, now: Option<Timestamp>, language: Language) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_shortly_when_near_and_name_another_zone() {
        let now: Timestamp = "2026-11-15T01:00:00Z".parse().unwrap();
        let zone = |name| kit::time::zone(name).unwrap();
        let tokyo = zone("Asia/Tokyo");
        for (at, there, english, japanese) in [
            (
                "2026-11-15T22:00:00Z",
                "Asia/Tokyo",
                "tomorrow at 7:00",
                "明日7時",
            ),
            (
                "2026-11-15T03:30:00Z",
                "Asia/Tokyo",
                "today at 12:30",
                "今日12時30分",
            ),
            (
                "2026-12-24T09:00:00Z",
                "Asia/Tokyo",
                "Thursday, December 24 at 18:00",
                "12月24日(木)18時",
            ),
            (
                "2027-01-01T00:00:00Z",
                "Asia/Tokyo",
                "Friday, January 1, 2027 at 9:00",
                "2027年1月1日(金)9時",
            ),
            // Its dates differ from those at home.
            (
                "2026-11-15T22:00:00Z",
                "America/New_York",
                "Sunday, November 15, 2026 at 17:00 New York time",
                "2026年11月15日(日)17時(New York時間)",
            ),
            // Its clocks show the same as those at home.
            (
                "2026-11-15T22:00:00Z",
                "Asia/Seoul",
                "tomorrow at 7:00",
                "明日7時",
            ),
        ] {
            let at = at.parse().unwrap();
            let say = |language| time(at, &zone(there), &tokyo, now, language);
            assert_eq!(say(Language::English), english);
            assert_eq!(say(Language::Japanese), japanese);
        }
    }
}
