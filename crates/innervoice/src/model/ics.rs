//! iCalendar (RFC 5545): one event or all of them, with the zones they are in.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use kit::ics::{FoldedLines, escape, utc};

use super::{
    exceptions::{Exceptions, Occurrence},
    repeat::Rule,
};

/// An event as a calendar file shows it.
#[derive(Debug, Clone)]
pub struct IcsEvent<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub description: &'a str,
    pub location: &'a str,
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
    pub zone: &'a TimeZone,
    pub sequence: i64,
    pub is_cancelled: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// An RRULE.
    pub rule: Option<&'a str>,
    pub all_day: bool,
    pub exceptions: &'a Exceptions,
}

impl IcsEvent<'_> {
    /// The last time that its zone must cover.
    fn last(&self) -> Timestamp {
        let later = self.rule.map(|_| SERIES);
        later
            .and_then(|later| self.ends_at.checked_add(later).ok())
            .unwrap_or(self.ends_at)
    }
}

/// For how long clock changes of a series are listed.
const SERIES: SignedDuration = SignedDuration::from_hours(24 * 366 * 10);

/// The whole file, to subscribe to.
pub fn calendar(name: &str, entries: &[IcsEvent<'_>]) -> String {
    let name = escape(name);
    file(&[("METHOD", "PUBLISH"), ("X-WR-CALNAME", &name)], entries)
}

/// One event as a CalDAV server stores it, without a METHOD.
pub fn object(entry: IcsEvent<'_>) -> String {
    file(&[], &[entry])
}

fn file(more: &[(&str, &str)], entries: &[IcsEvent<'_>]) -> String {
    let mut lines = FoldedLines::default();
    lines.put("BEGIN", "VCALENDAR");
    lines.put("VERSION", "2.0");
    lines.put("PRODID", "-//Madoguchi//InnerVoice//EN");
    lines.put("CALSCALE", "GREGORIAN");
    for (name, value) in more {
        lines.put(name, value);
    }
    let mut zones: Vec<&TimeZone> = Vec::new();
    for entry in entries {
        if entry.zone.iana_name().is_some() && !zones.contains(&entry.zone) {
            zones.push(entry.zone);
        }
    }
    for zone in zones {
        let of_it = || entries.iter().filter(|entry| entry.zone == zone);
        let first = of_it().map(|entry| entry.starts_at).min();
        let last = of_it().map(IcsEvent::last).max();
        if let (Some(first), Some(last)) = (first, last) {
            lines.put_zone(zone, first, last);
        }
    }
    for entry in entries {
        event(&mut lines, entry, None);
        for moved in entry.exceptions.moved() {
            event(&mut lines, entry, Some(&moved));
        }
    }
    lines.put("END", "VCALENDAR");
    lines.into_text()
}

/// The event, or one occurrence of it that was moved.
fn event(lines: &mut FoldedLines, entry: &IcsEvent<'_>, moved: Option<&Occurrence>) {
    let at = |millis| Timestamp::from_millisecond(millis).unwrap_or(entry.starts_at);
    lines.put("BEGIN", "VEVENT");
    lines.put("UID", &format!("{}@madoguchi", entry.id));
    lines.put("DTSTAMP", &utc(entry.updated_at));
    lines.put("CREATED", &utc(entry.created_at));
    lines.put("LAST-MODIFIED", &utc(entry.updated_at));
    lines.put("SEQUENCE", &entry.sequence.to_string());
    let mut put_time = |name: &str, at: Timestamp| match entry.all_day {
        true => {
            let day = at.to_zoned(entry.zone.clone()).strftime("%Y%m%d");
            lines.put(&format!("{name};VALUE=DATE"), &day.to_string());
        }
        false => lines.put_local(name, at, entry.zone),
    };
    match moved {
        Some(moved) => {
            put_time("RECURRENCE-ID", at(moved.original));
            put_time("DTSTART", at(moved.start));
            put_time("DTEND", moved.end.map_or(entry.ends_at, at));
        }
        None => {
            put_time("DTSTART", entry.starts_at);
            put_time("DTEND", entry.ends_at);
            for skipped in entry.exceptions.skipped() {
                put_time("EXDATE", at(skipped));
            }
            if let Some(rule) = entry.rule {
                lines.put("RRULE", &exported(rule, entry));
            }
        }
    }
    lines.put("SUMMARY", &escape(entry.title));
    if !entry.description.is_empty() {
        lines.put("DESCRIPTION", &escape(entry.description));
    }
    if !entry.location.is_empty() {
        lines.put("LOCATION", &escape(entry.location));
    }
    let status = if entry.is_cancelled {
        "CANCELLED"
    } else {
        "CONFIRMED"
    };
    lines.put("STATUS", status);
    lines.put("END", "VEVENT");
}

/// A rule whose UNTIL is what RFC 5545 demands: a day for an all-day event, else an
/// instant in UTC.
fn exported(rule: &str, entry: &IcsEvent<'_>) -> String {
    let until = Rule::parse(rule)
        .ok()
        .and_then(|rule| rule.until_in(entry.zone));
    let Some((at, day)) = until else {
        return rule.to_owned();
    };
    let until = match entry.all_day {
        true => day.strftime("%Y%m%d").to_string(),
        false => utc(at),
    };
    let parts = rule
        .split(';')
        .map(|part| match part.starts_with("UNTIL=") {
            true => format!("UNTIL={until}"),
            false => part.to_owned(),
        });
    parts.collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    static NONE: std::sync::LazyLock<Exceptions> = std::sync::LazyLock::new(Exceptions::default);

    fn entry<'a>(zone: &'a TimeZone, title: &'a str) -> IcsEvent<'a> {
        IcsEvent {
            id: "evt_1",
            title,
            description: "one, two; three\\four\nfive",
            location: "",
            starts_at: "2026-07-01T13:00:00Z".parse().unwrap(),
            ends_at: "2026-07-01T13:30:00Z".parse().unwrap(),
            zone,
            sequence: 2,
            is_cancelled: false,
            created_at: "2026-06-01T00:00:00Z".parse().unwrap(),
            updated_at: "2026-06-02T00:00:00Z".parse().unwrap(),
            rule: None,
            all_day: false,
            exceptions: &NONE,
        }
    }

    #[test]
    fn an_event_with_its_zone() {
        let new_york = kit::time::zone("America/New_York").unwrap();
        let text = calendar("InnerVoice", &[entry(&new_york, "Run")]);
        for line in [
            "UID:evt_1@madoguchi",
            "DTSTART;TZID=America/New_York:20260701T090000",
            "DTEND;TZID=America/New_York:20260701T093000",
            "DESCRIPTION:one\\, two\\; three\\\\four\\nfive",
            "SEQUENCE:2",
            "TZID:America/New_York",
            "DTSTART:20260308T020000",
            "TZOFFSETFROM:-0500",
            "TZOFFSETTO:-0400",
            "TZNAME:EDT",
        ] {
            assert!(text.contains(&format!("{line}\r\n")), "{line} in\n{text}");
        }
        assert!(!text.contains("LOCATION"));
    }

    #[test]
    fn a_series_has_its_rule_and_its_exceptions() {
        let new_york = kit::time::zone("America/New_York").unwrap();
        let millis = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        let mut exceptions = Exceptions::default();
        exceptions.skip(millis("2026-07-08T13:00:00Z"));
        let moved = millis("2026-07-15T14:00:00Z");
        exceptions.move_to(millis("2026-07-15T13:00:00Z"), moved, moved + 1_800_000);
        let mut series = entry(&new_york, "Run");
        series.rule = Some("FREQ=WEEKLY;UNTIL=20260731");
        series.exceptions = &exceptions;
        let text = calendar("InnerVoice", &[series.clone()]);
        for line in [
            "RRULE:FREQ=WEEKLY;UNTIL=20260801T035959Z",
            "EXDATE;TZID=America/New_York:20260708T090000",
            "RECURRENCE-ID;TZID=America/New_York:20260715T090000",
            "DTSTART;TZID=America/New_York:20260715T100000",
        ] {
            assert!(text.contains(&format!("{line}\r\n")), "{line} in\n{text}");
        }
        series.all_day = true;
        let text = calendar("InnerVoice", &[series]);
        for line in [
            "DTSTART;VALUE=DATE:20260701",
            "RRULE:FREQ=WEEKLY;UNTIL=20260731",
        ] {
            assert!(text.contains(&format!("{line}\r\n")), "{line} in\n{text}");
        }
    }

    #[test]
    fn long_lines_are_folded_between_letters() {
        let tokyo = kit::time::zone("Asia/Tokyo").unwrap();
        let title = "朝のランニング🏃".repeat(30);
        let text = calendar("予定", &[entry(&tokyo, &title)]);
        for line in text.split("\r\n") {
            assert!(line.len() <= 75, "{line}");
            assert!(!line.contains('\n') && !line.contains('\r'));
        }
        let unfolded = text.replace("\r\n ", "");
        assert!(unfolded.contains(&format!("SUMMARY:{title}\r\n")));
    }

    #[test]
    fn texts_cannot_add_lines() {
        let tokyo = kit::time::zone("Asia/Tokyo").unwrap();
        let text = calendar("x", &[entry(&tokyo, "a\r\nATTACH:evil\rb\nc")]);
        assert!(text.contains("SUMMARY:a\\nATTACH:evil\\nb\\nc\r\n"));
        assert!(!text.contains("\r\nATTACH"));
    }
}
