//! The clock, so that tests can set it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Instant,
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

/// Tells the time. Clones tell the same time.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Milliseconds since 1970, when a test set the time.
    fixed: Option<Arc<AtomicI64>>,
    followed: Arc<Followed>,
}

/// The time of another machine, counted from an instant on with the monotonic clock. So
/// nothing changes when somebody sets the clock of this machine.
#[derive(Debug)]
struct Followed {
    from: Instant,
    /// The other machine's time at `from`, in microseconds since 1970.
    at_start: AtomicI64,
}

/// Nothing is followed yet.
const NOTHING: i64 = i64::MIN;

impl Default for Clock {
    fn default() -> Self {
        Self {
            fixed: None,
            followed: Arc::new(Followed {
                from: Instant::now(),
                at_start: AtomicI64::new(NOTHING),
            }),
        }
    }
}

impl Clock {
    /// The clock of this machine, until it is told to [`follow`](Self::follow) another.
    pub fn system() -> Self {
        Self::default()
    }

    /// Stands at `now` until [`Clock::set`].
    pub fn fixed(now: Timestamp) -> Self {
        Self {
            fixed: Some(Arc::new(AtomicI64::new(now.as_millisecond()))),
            ..Self::default()
        }
    }

    /// Sets a fixed clock; the system's stays.
    pub fn set(&self, now: Timestamp) {
        if let Some(fixed) = &self.fixed {
            fixed.store(now.as_millisecond(), Ordering::Relaxed);
        }
    }

    /// From now on this clock goes like another one, which showed so many microseconds
    /// since 1970 at that instant.
    pub fn follow(&self, microseconds: i64, at: Instant) {
        let passed = microseconds_between(self.followed.from, at);
        let at_start = microseconds.saturating_sub(passed);
        self.followed.at_start.store(at_start, Ordering::Relaxed);
    }

    pub fn now(&self) -> Timestamp {
        if let Some(fixed) = &self.fixed {
            return Timestamp::from_millisecond(fixed.load(Ordering::Relaxed))
                .unwrap_or(Timestamp::UNIX_EPOCH);
        }
        let at_start = self.followed.at_start.load(Ordering::Relaxed);
        if at_start == NOTHING {
            return Timestamp::now();
        }
        let passed = microseconds_between(self.followed.from, Instant::now());
        Timestamp::from_microsecond(at_start.saturating_add(passed))
            .unwrap_or_else(|_| Timestamp::now())
    }

    pub fn now_in(&self, zone: &TimeZone) -> Zoned {
        self.now().to_zoned(zone.clone())
    }
}

fn microseconds_between(from: Instant, to: Instant) -> i64 {
    let passed = to.saturating_duration_since(from);
    i64::try_from(passed.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_follows_another_one_and_so_do_its_clones() {
        let (clock, hour) = (Clock::system(), jiff::SignedDuration::from_hours(1));
        let clone = clock.clone();
        let ahead = Timestamp::now() + hour;
        clock.follow(ahead.as_microsecond(), Instant::now());
        for clock in [clock, clone] {
            let off = clock.now().duration_since(ahead).as_millis();
            assert!((0..5_000).contains(&off), "{off} ms");
        }
    }

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
