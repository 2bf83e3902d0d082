//! What every iCalendar file (RFC 5545) needs: folded lines, escaped texts, and local
//! times with the time zone they are in.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

const MOST_OCTETS: usize = 75;
/// How long before and after the events clock changes are listed.
const AROUND: SignedDuration = SignedDuration::from_hours(24 * 366);

/// A calendar file that grows line by line.
#[derive(Default)]
pub struct FoldedLines {
    text: String,
}

impl FoldedLines {
    /// Folds lines at 75 octets, never inside a character.
    pub fn put(&mut self, name: &str, value: &str) {
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

    /// An instant as the local time of its zone.
    pub fn put_local(&mut self, name: &str, at: Timestamp, zone: &TimeZone) {
        match zone.iana_name() {
            Some(zone_name) if zone_name != "UTC" => {
                let local = at
                    .to_zoned(zone.clone())
                    .strftime("%Y%m%dT%H%M%S")
                    .to_string();
                self.put(&format!("{name};TZID={zone_name}"), &local);
            }
            _ => self.put(name, &utc(at)),
        }
    }

    /// A VTIMEZONE: the offset before the first event, and every clock change until some
    /// time after the last.
    pub fn put_zone(&mut self, zone: &TimeZone, first: Timestamp, last: Timestamp) {
        let Some(name) = zone.iana_name().filter(|name| *name != "UTC") else {
            return;
        };
        let from = first.checked_sub(AROUND).unwrap_or(Timestamp::UNIX_EPOCH);
        let until = last.checked_add(AROUND).unwrap_or(last);
        self.put("BEGIN", "VTIMEZONE");
        self.put("TZID", name);
        let before = zone.to_offset_info(from);
        self.put_observance(
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
            self.put_observance(
                change.dst().is_dst(),
                &onset.strftime("%Y%m%dT%H%M%S").to_string(),
                offset,
                change.offset(),
                change.abbreviation(),
            );
            offset = change.offset();
        }
        self.put("END", "VTIMEZONE");
    }

    fn put_observance(
        &mut self,
        is_daylight: bool,
        onset: &str,
        from: jiff::tz::Offset,
        to: jiff::tz::Offset,
        name: &str,
    ) {
        let kind = if is_daylight { "DAYLIGHT" } else { "STANDARD" };
        self.put("BEGIN", kind);
        self.put("DTSTART", onset);
        self.put("TZOFFSETFROM", &offset_text(from));
        self.put("TZOFFSETTO", &offset_text(to));
        self.put("TZNAME", &escape(name));
        self.put("END", kind);
    }

    pub fn into_text(self) -> String {
        self.text
    }
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

pub fn utc(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}

pub fn escape(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn lines_are_folded_at_75_octets_and_never_inside_a_character() {
        let mut lines = FoldedLines::default();
        lines.put("A", &"x".repeat(73));
        lines.put("B", &"x".repeat(74));
        lines.put("C", &"窓".repeat(50));
        let text = lines.into_text();
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        let lengths: Vec<usize> = lines.iter().map(|line| line.len()).collect();
        assert_eq!(lengths, [75, 75, 2, 74, 73, 7]);
        assert_eq!(lines[2], " x");
        assert_eq!(lines[5], " 窓窓");
    }

    #[test]
    fn times_have_their_zone_unless_it_is_utc() {
        let mut lines = FoldedLines::default();
        let tokyo = TimeZone::get("Asia/Tokyo").unwrap();
        lines.put_local("DTSTART", at("2026-11-16T05:05:09Z"), &tokyo);
        lines.put_local("DTEND", at("2026-11-16T05:05:09Z"), &TimeZone::UTC);
        lines.put_zone(&TimeZone::UTC, Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH);
        assert_eq!(
            lines.into_text(),
            "DTSTART;TZID=Asia/Tokyo:20261116T140509\r\nDTEND:20261116T050509Z\r\n"
        );
    }

    #[test]
    fn a_zone_lists_the_clock_changes_around_the_events() {
        let mut lines = FoldedLines::default();
        let paris = TimeZone::get("Europe/Paris").unwrap();
        let day = at("2026-06-01T00:00:00Z");
        lines.put_zone(&paris, day, day);
        let text = lines.into_text();
        let onsets: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("DTSTART:"))
            .collect();
        let expected = [
            "19700101T000000",
            "20251026T030000",
            "20260329T020000",
            "20261025T030000",
            "20270328T020000",
        ];
        assert_eq!(onsets, expected);
        let summer = "BEGIN:DAYLIGHT\r\nDTSTART:20260329T020000\r\nTZOFFSETFROM:+0100\r\n\
            TZOFFSETTO:+0200\r\nTZNAME:CEST\r\nEND:DAYLIGHT\r\n";
        assert!(text.contains(summer), "{text}");
        assert!(text.starts_with("BEGIN:VTIMEZONE\r\nTZID:Europe/Paris\r\n"));
        assert!(text.ends_with("END:VTIMEZONE\r\n"));
    }

    #[test]
    fn offsets_have_a_sign_and_seconds_only_where_needed() {
        for (seconds, text) in [
            (0, "+0000"),
            (5 * 3600 + 30 * 60, "+0530"),
            (-(9 * 3600 + 30 * 60), "-0930"),
            (9 * 60 + 21, "+000921"),
        ] {
            let offset = jiff::tz::Offset::from_seconds(seconds).unwrap();
            assert_eq!(offset_text(offset), text);
        }
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escape("a;b,c\\d"), "a\\;b\\,c\\\\d");
        assert_eq!(escape("a\r\nb\nc\rd\u{7}"), "a\\nb\\nc\\nd");
    }
}
