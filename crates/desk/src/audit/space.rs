//! How much space the trail takes, and how long the disk will suffice.

use kit::Result;

use super::{record::began, store::AuditStore};
use crate::settings;

const HOUR_MS: i64 = 60 * 60 * 1000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Warn when the disk is full in fewer days.
const FEW_DAYS: f64 = 7.0;
/// Warn when fewer bytes are free.
const FEW_BYTES: u64 = 256 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Space {
    /// What the trail takes.
    pub bytes: u64,
    /// What is free where it is; `None`: unknown.
    pub free: Option<u64>,
    /// What it grew by in the last 24 hours, or would at this rate; `None`: unknown.
    pub per_day: Option<u64>,
    /// In how many days the disk is full at this rate; `None`: not before old records
    /// are dropped, or unknown.
    pub days_left: Option<f64>,
}

impl Space {
    pub fn read(store: &dyn AuditStore, settings: &settings::Audit, now: i64) -> Result<Self> {
        let (bytes, free) = (store.bytes()?, store.free_bytes());
        // On a server, nothing is known about its disk.
        let per_day = match free {
            Some(_) => Some(per_day(store, now)?),
            None => None,
        };
        Ok(Self {
            bytes,
            free,
            per_day,
            days_left: days_left(bytes, free, per_day, settings),
        })
    }

    /// Whether somebody should do something.
    pub fn is_short(&self) -> bool {
        self.free.is_some_and(|free| free < FEW_BYTES)
            || self.days_left.is_some_and(|days| days < FEW_DAYS)
    }

    /// What an operator can do about it.
    pub const REMEDY: &'static str = "Free some space, or let [audit] keep less: keep_days, \
         max_bytes, reads = \"summary\".";
}

/// Segments end when their day does, so those of the last 24 hours tell the rate.
fn per_day(store: &dyn AuditStore, now: i64) -> Result<u64> {
    let (mut bytes, mut since) = (0u64, now - HOUR_MS);
    for (segment, size) in store.sizes()? {
        if let Some(began) = began(&segment).filter(|began| *began >= now - DAY_MS) {
            bytes += size;
            since = since.min(began);
        }
    }
    Ok((bytes as f64 * DAY_MS as f64 / (now - since) as f64) as u64)
}

fn days_left(
    bytes: u64,
    free: Option<u64>,
    per_day: Option<u64>,
    settings: &settings::Audit,
) -> Option<f64> {
    let (free, per_day) = (free?, per_day.filter(|bytes| *bytes > 0)?);
    let by_age = per_day.saturating_mul(u64::from(settings.keep_days));
    let bounds = [by_age, settings.max_bytes].into_iter();
    let bound = bounds.filter(|bound| *bound > 0).min();
    let is_bounded = bound.is_some_and(|bound| bound.saturating_sub(bytes) <= free);
    (!is_bounded).then_some(free as f64 / per_day as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_unless_old_records_are_dropped_first() {
        const GB: u64 = 1_000_000_000;
        let days = |bytes, free, per_day, keep_days, max_bytes| {
            let settings = settings::Audit {
                keep_days,
                max_bytes,
                ..settings::Audit::default()
            };
            days_left(bytes, Some(free), Some(per_day), &settings)
        };
        assert_eq!(days(GB, 20 * GB, GB, 0, 0), Some(20.0));
        assert_eq!(days(GB, 20 * GB, 0, 0, 0), None, "it does not grow");
        // 90 days of it fit, or don't.
        assert_eq!(days(70 * GB, 20 * GB, GB, 90, 0), None);
        assert_eq!(days(69 * GB, 20 * GB, GB, 90, 0), Some(20.0));
        assert_eq!(days(69 * GB, 20 * GB, GB, 90, 80 * GB), None);
        assert_eq!(days(0, 20 * GB, GB, 0, 21 * GB), Some(20.0));
        // Too large already: it shrinks.
        assert_eq!(days(30 * GB, 1, GB, 0, 21 * GB), None);
    }
}
