//! Reads the server's copy of an event, to show it to the person who decides.

use jiff::{civil::DateTime, tz::TimeZone};

use super::{
    moment, spoken,
    vcard::{split_unquoted, unescape, unfold},
};

/// A property of the event: its name and its value. Times are absolute, with a
/// zone.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub text: String,
}

/// Properties that say nothing about the event itself.
const BOOKKEEPING: [&str; 5] = ["UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE"];

/// All properties of the event. A time without a zone is read in `zone`.
pub fn fields(text: &str, zone: &TimeZone) -> Vec<Field> {
    let mut depth = 0;
    let mut fields = Vec::new();
    for (_, line) in unfold(text) {
        let Some((head, value)) = split_unquoted(&line, ':') else {
            continue;
        };
        let (name, parameters) = head.split_once(';').unwrap_or((head, ""));
        let name = name.trim().to_uppercase();
        match name.as_str() {
            // Components inside an event, such as an alarm, belong to it.
            "BEGIN" if depth > 0 || value.eq_ignore_ascii_case("VEVENT") => depth += 1,
            "END" if depth > 0 => depth -= 1,
            name if depth == 0 || BOOKKEEPING.contains(&name) => {}
            _ => fields.push(Field {
                text: time(parameters, value, zone).unwrap_or_else(|| unescape(value)),
                name,
            }),
        }
    }
    fields
}

/// `None` when it is not a time.
fn time(parameters: &str, value: &str, zone: &TimeZone) -> Option<String> {
    let (local, zone) = match value.strip_suffix('Z') {
        Some(utc) => (utc, TimeZone::UTC),
        None => {
            let named = parameters.split(';').find_map(|one| {
                let (name, value) = one.split_once('=')?;
                name.eq_ignore_ascii_case("TZID").then_some(value)
            });
            let named = named.map(|name| kit::time::zone(name.trim_matches('"')));
            // An unknown zone is shown as it is written.
            (value, named.unwrap_or_else(|| Some(zone.clone()))?)
        }
    };
    if !local.contains('T') {
        return None;
    }
    let local: DateTime = local.parse().ok()?;
    Some(spoken::in_full(moment::instant(local, &zone)?, &zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_would_be_lost_is_shown() {
        let copy = "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:Asia/Tokyo\r\nEND:VTIMEZONE\r\n\
            BEGIN:VEVENT\r\nUID:evt_1@madoguchi\r\nSEQUENCE:3\r\n\
            DTSTART;TZID=America/New_York:20300919T070000\r\nDTEND:20300919T120000Z\r\n\
            SUMMARY:a walk\\, slow\r\n ly\r\nATTENDEE;CN=Taro:mailto:taro@example.com\r\n\
            BEGIN:VALARM\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let tokyo = kit::time::zone("Asia/Tokyo").unwrap();
        let found = fields(copy, &tokyo);
        let found: Vec<_> = found
            .iter()
            .map(|field| (field.name.as_str(), field.text.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                (
                    "DTSTART",
                    "2030-09-19T07:00:00-04:00 Thursday (America/New_York)"
                ),
                ("DTEND", "2030-09-19T12:00:00+00:00 Thursday (UTC)"),
                ("SUMMARY", "a walk, slowly"),
                ("ATTENDEE", "mailto:taro@example.com"),
                ("TRIGGER", "-PT5M"),
            ]
        );
    }
}
