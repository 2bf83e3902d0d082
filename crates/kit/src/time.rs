//! The clock, so that tests can set it.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use jiff::{
    Timestamp, Zoned,
    tz::{TimeZone, TimeZoneDatabase},
};

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
        let day: jiff::civil::Date = text.parse().ok()?;
        day.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp())
    };
    whole.or_else(day).map(|at| at.as_millisecond())
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
