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
