//! The clock, so that tests can set it.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use jiff::{
    Timestamp, Zoned,
    civil::{Date, Weekday},
    tz::{TimeZone, TimeZoneDatabase},
};

use crate::language::Language;

/// A time zone by its IANA name. The program bundles the zones. The system's are only
/// searched for other names, since that takes longer than the rest of the start.
pub fn zone(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled()
        .get(name)
        .or_else(|_| TimeZone::get(name))
        .ok()
}

/// Milliseconds since 1970 of a time such as `2026-11-15T08:00:00Z`, or of the start
/// of a day in UTC.
pub fn instant(text: &str) -> Option<i64> {
    let whole = text.parse::<Timestamp>().ok();
    let day = || {
        let day: Date = text.parse().ok()?;
        day.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp())
    };
    whole.or_else(day).map(|at| at.as_millisecond())
}

/// The letter that stands for the day of the week in Japanese.
pub fn japanese_weekday(weekday: Weekday) -> char {
    match weekday {
        Weekday::Monday => '月',
        Weekday::Tuesday => '火',
        Weekday::Wednesday => '水',
        Weekday::Thursday => '木',
        Weekday::Friday => '金',
        Weekday::Saturday => '土',
        Weekday::Sunday => '日',
    }
}

/// A day as people write it: `Mon 16 Nov 2026`, `2026年11月16日(月)`.
pub fn written_day(day: Date, language: Language) -> String {
    let weekday = japanese_weekday(day.weekday());
    match language {
        Language::English => day.strftime("%a %-d %b %Y").to_string(),
        Language::Japanese => format!("{}({weekday})", day.strftime("%Y年%-m月%-d日")),
    }
}

/// A time as people write it: `Mon 16 Nov 2026, 14:05`, `2026年11月16日(月) 14:05`.
pub fn written(at: &Zoned, language: Language) -> String {
    with_clock(at, language, "%H:%M")
}

pub fn written_to_the_second(at: &Zoned, language: Language) -> String {
    with_clock(at, language, "%H:%M:%S")
}

/// For a person who has to decide and may live elsewhere:
/// `Mon 16 Nov 2026, 14:05 (Asia/Tokyo, UTC+09:00)`. Leaves out seconds only if they
/// are zero.
pub fn written_in_full(at: &Zoned, language: Language) -> String {
    let text = match at.second() {
        0 => written(at, language),
        _ => written_to_the_second(at, language),
    };
    let offset = at.strftime("UTC%:z");
    let zone = at.time_zone().iana_name().filter(|name| *name != "UTC");
    match zone {
        Some(zone) => format!("{text} ({zone}, {offset})"),
        None => format!("{text} ({offset})"),
    }
}

fn with_clock(at: &Zoned, language: Language, clock: &str) -> String {
    let (day, clock) = (written_day(at.date(), language), at.strftime(clock));
    match language {
        Language::English => format!("{day}, {clock}"),
        Language::Japanese => format!("{day} {clock}"),
    }
}

#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// Milliseconds since 1970, when a test set the time.
    fixed: Option<Arc<AtomicI64>>,
}

impl Clock {
    pub fn system() -> Self {
        Self::default()
    }

    /// Stands at `now` until [`Clock::set`].
    pub fn fixed(now: Timestamp) -> Self {
        Self {
            fixed: Some(Arc::new(AtomicI64::new(now.as_millisecond()))),
        }
    }

    /// Sets a fixed clock; the system's stays.
    pub fn set(&self, now: Timestamp) {
        if let Some(fixed) = &self.fixed {
            fixed.store(now.as_millisecond(), Ordering::Relaxed);
        }
    }

    pub fn now(&self) -> Timestamp {
        match &self.fixed {
            Some(fixed) => Timestamp::from_millisecond(fixed.load(Ordering::Relaxed))
                .unwrap_or(Timestamp::UNIX_EPOCH),
            None => Timestamp::now(),
        }
    }

    pub fn now_in(&self, zone: &TimeZone) -> Zoned {
        self.now().to_zoned(zone.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_people_write_them() {
        let at: Timestamp = "2026-11-16T05:05:09Z".parse().unwrap();
        let tokyo = at.to_zoned(zone("Asia/Tokyo").unwrap());
        let utc = at.to_zoned(TimeZone::UTC);
        let on_the_minute = tokyo.with().second(0).build().unwrap();
        let [english, japanese] = [Language::English, Language::Japanese];
        for (text, expected) in [
            (written(&tokyo, english), "Mon 16 Nov 2026, 14:05"),
            (written(&tokyo, japanese), "2026年11月16日(月) 14:05"),
            (
                written_to_the_second(&tokyo, english),
                "Mon 16 Nov 2026, 14:05:09",
            ),
            (
                written_in_full(&tokyo, english),
                "Mon 16 Nov 2026, 14:05:09 (Asia/Tokyo, UTC+09:00)",
            ),
            (
                written_in_full(&on_the_minute, japanese),
                "2026年11月16日(月) 14:05 (Asia/Tokyo, UTC+09:00)",
            ),
            (
                written_in_full(&utc, english),
                "Mon 16 Nov 2026, 05:05:09 (UTC+00:00)",
            ),
        ] {
            assert_eq!(text, expected);
        }
    }
}
