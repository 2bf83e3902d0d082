//! Occurrences of a series that were skipped or moved.

use std::collections::BTreeMap;

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Deserialize, Serialize};

/// By the start that the rule gives an occurrence, in milliseconds: its new start
/// and end, or `None` if it is skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Exceptions(BTreeMap<i64, Option<(i64, i64)>>);

impl Exceptions {
    /// As it is stored.
    pub fn read(text: Option<&str>) -> Self {
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    /// To store it; `None` without any.
    pub fn text(&self) -> Option<String> {
        match self.0.is_empty() {
            true => None,
            false => serde_json::to_string(self).ok(),
        }
    }

    pub fn skip(&mut self, original: i64) {
        self.0.insert(original, None);
    }

    pub fn move_to(&mut self, original: i64, start: i64, end: i64) {
        self.0.insert(original, Some((start, end)));
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, original: i64) -> bool {
        self.0.contains_key(&original)
    }

    /// The original start of each, and its new start and end unless it is skipped.
    pub fn iter(&self) -> impl Iterator<Item = (i64, Option<(i64, i64)>)> + '_ {
        self.0.iter().map(|(original, moved)| (*original, *moved))
    }

    /// The original starts of those that are skipped.
    pub fn skipped(&self) -> impl Iterator<Item = i64> + '_ {
        let skipped = self.0.iter().filter(|(_, moved)| moved.is_none());
        skipped.map(|(original, _)| *original)
    }

    /// Whether an occurrence of that day is skipped.
    pub fn is_skipped_on(&self, day: Date, zone: &TimeZone) -> bool {
        let date = |at: i64| {
            let at = Timestamp::from_millisecond(at).ok()?;
            Some(at.to_zoned(zone.clone()).date())
        };
        self.skipped().any(|at| date(at) == Some(day))
    }

    pub fn moved(&self) -> impl Iterator<Item = Occurrence> + '_ {
        self.0.iter().filter_map(|(original, moved)| {
            let (start, end) = (*moved)?;
            Some(Occurrence {
                original: *original,
                start,
                end: Some(end),
            })
        })
    }
}

/// One time of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// The start that the rule gives it.
    pub original: i64,
    pub start: i64,
    /// The end, if it was moved.
    pub end: Option<i64>,
}
