//! iCalendar (RFC 5545): one event or all of them, with the zones they are in.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

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
}

const MOST_OCTETS: usize = 75;
/// How long before and after the events clock changes are listed.
const AROUND: SignedDuration = SignedDuration::from_hours(24 * 366);

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
        let last = of_it().map(|entry| entry.ends_at).max();
        if let (Some(first), Some(last)) = (first, last) {
            time_zone(&mut lines, zone, first, last);
        }
    }
    for entry in entries {
        event(&mut lines, entry);
    }
    lines.put("END", "VCALENDAR");
    lines.text
}

fn event(lines: &mut FoldedLines, entry: &IcsEvent<'_>) {
    lines.put("BEGIN", "VEVENT");
    lines.put("UID", &format!("{}@madoguchi", entry.id));
    lines.put("DTSTAMP", &utc(entry.updated_at));
    lines.put("CREATED", &utc(entry.created_at));
    lines.put("LAST-MODIFIED", &utc(entry.updated_at));
    lines.put("SEQUENCE", &entry.sequence.to_string());
    local(lines, "DTSTART", entry.starts_at, entry.zone);
    local(lines, "DTEND", entry.ends_at, entry.zone);
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

fn local(lines: &mut FoldedLines, name: &str, at: Timestamp, zone: &TimeZone) {
    match zone.iana_name() {
        Some(zone_name) if zone_name != "UTC" => {
            let local = at
                .to_zoned(zone.clone())
                .strftime("%Y%m%dT%H%M%S")
                .to_string();
            lines.put(&format!("{name};TZID={zone_name}"), &local);
        }
        _ => lines.put(name, &utc(at)),
    }
}

/// The offset before the first event, and every clock change until some time
/// after the last.
fn time_zone(lines: &mut FoldedLines, zone: &TimeZone, first: Timestamp, last: Timestamp) {
    let Some(name) = zone.iana_name().filter(|name| *name != "UTC") else {
        return;
    };
    let from = first.checked_sub(AROUND).unwrap_or(Timestamp::UNIX_EPOCH);
    let until = last.checked_add(AROUND).unwrap_or(last);
    lines.put("BEGIN", "VTIMEZONE");
    lines.put("TZID", name);
    let before = zone.to_offset_info(from);
    observance(
        lines,
        before.dst().is_dst(),
        "19700101T000000",
        before.offset(),
        before.offset(),
        before.abbreviation(),
    );
    let mut offset = before.offset();
    for change in zone.following(from) {
        if change.timestamp() > until {
            break;
        }
        // DTSTART is the time that clocks showed until then.
        let onset = offset.to_datetime(change.timestamp());
        observance(
            lines,
            change.dst().is_dst(),
            &onset.strftime("%Y%m%dT%H%M%S").to_string(),
            offset,
            change.offset(),
            change.abbreviation(),
        );
        offset = change.offset();
    }
    lines.put("END", "VTIMEZONE");
}

fn observance(
    lines: &mut FoldedLines,
    is_daylight: bool,
    onset: &str,
    from: jiff::tz::Offset,
    to: jiff::tz::Offset,
    name: &str,
) {
    let kind = if is_daylight { "DAYLIGHT" } else { "STANDARD" };
    lines.put("BEGIN", kind);
    lines.put("DTSTART", onset);
    lines.put("TZOFFSETFROM", &offset_text(from));
    lines.put("TZOFFSETTO", &offset_text(to));
    lines.put("TZNAME", &escape(name));
    lines.put("END", kind);
}

fn offset_text(offset: jiff::tz::Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match rest {
        0 => format!("{sign}{hours:02}{minutes:02}"),
        _ => format!("{sign}{hours:02}{minutes:02}{rest:02}"),
    }
}

fn utc(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.replace("\r\n", "\n").chars() {
        match letter {
            '\\' | ';' | ',' => escaped.extend(['\\', letter]),
            '\n' | '\r' => escaped.push_str("\\n"),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[derive(Default)]
struct FoldedLines {
    text: String,
}

impl FoldedLines {
    /// Folds lines at 75 octets, never inside a character.
    fn put(&mut self, name: &str, value: &str) {
        let mut octets = 0;
        for letter in name.chars().chain([':']).chain(value.chars()) {
            if octets + letter.len_utf8() > MOST_OCTETS {
                self.text.push_str("\r\n ");
                octets = 1;
            }
            self.text.push(letter);
            octets += letter.len_utf8();
        }
        self.text.push_str("\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
