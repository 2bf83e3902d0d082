//! How times are said and shown to people.

use jiff::{Timestamp, civil::Time, tz::TimeZone};
use kit::context::Language;

use super::moment::rfc3339;

/// The full time with its zone, for a person who has to decide.
pub fn on_card(at: Timestamp, zone: &TimeZone, language: Language) -> String {
    kit::time::written_in_full(&at.to_zoned(zone.clone()), language)
}

/// The full time with its zone, in a form that the tools also read.
pub fn in_full(at: Timestamp, zone: &TimeZone) -> String {
    let name = zone.iana_name().unwrap_or("UTC");
    let then = at.to_zoned(zone.clone());
    format!("{} {} ({name})", rfc3339(at, zone), then.strftime("%A"))
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
    let day = day_at(at, zone, now, language);
    let then = at.to_zoned(zone.clone());
    match language {
        Language::English => format!("{day} at {}", clock(then.time(), language)),
        Language::Japanese => format!("{day}{}", clock(then.time(), language)),
    }
}

pub fn clock(time: Time, language: Language) -> String {
    let (hour, minute) = (time.hour(), time.minute());
    match (language, minute) {
        (Language::English, _) => format!("{hour}:{minute:02}"),
        (Language::Japanese, 0) => format!("{hour}時"),
        (Language::Japanese, _) => format!("{hour}時{minute}分"),
    }
}

/// The day: `tomorrow`, `Thursday, December 24`.
pub fn day(at: Timestamp, zone: &TimeZone, now: Timestamp, language: Language) -> String {
    day_at(at, zone, Some(now), language)
}

fn day_at(at: Timestamp, zone: &TimeZone, now: Option<Timestamp>, language: Language) -> String {
    let then = at.to_zoned(zone.clone());
    let today = now.map(|now| now.to_zoned(zone.clone()).date());
    let weekday = kit::time::japanese_weekday(then.weekday());
    let away = today.and_then(|today| today.until(then.date()).ok());
    let away = away.map_or(i32::MAX, |span| span.get_days());
    let this_year = today.is_some_and(|today| today.year() == then.year());
    let (year, month, day) = (then.year(), then.month(), then.day());
    match (language, away) {
        (Language::English, 0) => "today".into(),
        (Language::English, 1) => "tomorrow".into(),
        (Language::English, _) if this_year => then.strftime("%A, %B %-d").to_string(),
        (Language::English, _) => then.strftime("%A, %B %-d, %Y").to_string(),
        (Language::Japanese, 0) => "今日".into(),
        (Language::Japanese, 1) => "明日".into(),
        (Language::Japanese, _) if this_year => format!("{month}月{day}日({weekday})"),
        (Language::Japanese, _) => format!("{year}年{month}月{day}日({weekday})"),
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
