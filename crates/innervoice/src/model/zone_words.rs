//! The zone at the end of a time, as programs write it and as this one says it.

use jiff::tz::{TimeZone, TimeZoneDatabase};

/// A zone is named, but not known.
pub struct UnknownZone;

/// Splits off `[Asia/Tokyo]`, `(Asia/Tokyo)`, `New York time` or `(New York時間)`.
pub fn split(text: &str) -> Result<(&str, Option<TimeZone>), UnknownZone> {
    let named = |name: &str| kit::time::zone(name).ok_or(UnknownZone).map(Some);
    if let Some((words, name)) = text.split_once('[') {
        return Ok((words, named(name.trim_end_matches([']', ' ']))?));
    }
    let inside = text.trim_end().strip_suffix(')');
    if let Some((words, name)) = inside.and_then(|text| text.rsplit_once('(')) {
        if let Some(place) = name.strip_suffix("時間") {
            return Ok((words, Some(of_place(place).ok_or(UnknownZone)?)));
        }
        if name.contains('/') || name == "UTC" {
            return Ok((words, named(name)?));
        }
    }
    Ok(before_time(text).unwrap_or((text, None)))
}

/// The place before a final `time` has at most three words.
fn before_time(text: &str) -> Option<(&str, Option<TimeZone>)> {
    let text = text.trim_end();
    let at = text.len().checked_sub(" time".len())?;
    let before = text.get(..at)?;
    if !text.get(at..)?.eq_ignore_ascii_case(" time") {
        return None;
    }
    let starts = before.rmatch_indices(' ').take(3);
    starts.into_iter().find_map(|(at, _)| {
        let (words, place) = before.split_at(at);
        Some((words, Some(of_place(place.trim())?)))
    })
}

/// The zone whose name ends with this place: `New York`, `UTC`.
fn of_place(place: &str) -> Option<TimeZone> {
    let wanted = place.replace(' ', "_");
    let zones = TimeZoneDatabase::bundled();
    let name = zones.available().find(|name| {
        let last = name.as_str().rsplit('/').next();
        last.is_some_and(|last| last.eq_ignore_ascii_case(&wanted))
    });
    kit::time::zone(name?.as_str())
}
