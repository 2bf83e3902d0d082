//! Writes new records and changes of status.

use jiff::Zoned;

use super::{
    adr::{self, Adr, HISTORY, Status},
    document::Document,
    lines::{self, Edit},
};

pub struct NewAdr<'a> {
    pub number: u16,
    pub title: &'a str,
    pub status: Status,
    pub context: &'a str,
    pub decision: &'a str,
    pub rationale: &'a str,
    pub consequences: &'a str,
    pub now: &'a Zoned,
}

/// A new record in Nygard's format, which `adr-tools` and `adrs` read.
pub fn new(adr: &NewAdr<'_>) -> String {
    let mut text = format!(
        "# {}. {}\n\nDate: {}\n\n## Status\n\n{}\n",
        adr.number,
        adr.title,
        adr.now.date(),
        adr.status.name()
    );
    let parts = [
        ("Context", adr.context),
        ("Decision", adr.decision),
        ("Rationale", adr.rationale),
        ("Consequences", adr.consequences),
    ];
    let plain = Document::parse("");
    for (name, part) in parts {
        let part = plain.in_own_lines(part);
        if !part.is_empty() {
            text.push_str(&format!("\n## {name}\n\n{part}\n"));
        }
    }
    text.push_str(&format!(
        "\n## {HISTORY}\n\n{}\n",
        history_line(adr.now, adr.status.name(), None)
    ));
    text
}

fn history_line(now: &Zoned, what: &str, reason: Option<&str>) -> String {
    let at = now.strftime("%Y-%m-%dT%H:%M:%S%:z");
    match reason {
        Some(reason) => format!("- {at} {what}: {reason}"),
        None => format!("- {at} {what}"),
    }
}

/// The record's file with another status and a line in its history. `by` is the
/// record that supersedes it.
pub fn with_status(
    text: &str,
    status: Status,
    by: Option<&Adr>,
    reason: Option<&str>,
    now: &Zoned,
) -> String {
    let document = Document::parse(text);
    let mut edits = Vec::new();
    match adr::status_place(&document) {
        Some(place) => {
            let word = match by {
                // A link in YAML would need quotes.
                Some(by) if place.front_matter => format!("superseded by ADR-{:03}", by.number),
                Some(by) => format!("Superseded by {}", link(by)),
                None if place.front_matter => status.name().to_lowercase(),
                None => status.name().to_owned(),
            };
            edits.push(Edit::new(place.bytes, word));
        }
        None => {
            let word = by.map_or(status.name().to_owned(), |by| {
                format!("Superseded by {}", link(by))
            });
            edits.push(match adr::status_heading(&document) {
                Some(heading) => document.set_body(heading, &word),
                None => new_section(&document, "Status", &word),
            });
        }
    }
    let what = by.map_or(status.name().to_owned(), |by| {
        format!("Superseded by {}", by.number)
    });
    edits.push(history(&document, &history_line(now, &what, reason)));
    lines::apply(text, edits)
}

/// The file of a record that supersedes `old`.
pub fn superseding(text: &str, old: &Adr, now: &Zoned) -> String {
    let document = Document::parse(text);
    let mut edits = Vec::new();
    if let Some(heading) = adr::status_heading(&document) {
        edits.push(document.append(heading, &format!("Supersedes {}", link(old))));
    }
    let what = format!("Supersedes {}", old.number);
    edits.push(history(&document, &history_line(now, &what, None)));
    lines::apply(text, edits)
}

fn link(adr: &Adr) -> String {
    format!("[{}. {}]({}.md)", adr.number, adr.title, adr.stem)
}

fn history(document: &Document<'_>, history_line: &str) -> Edit {
    match document.section(HISTORY) {
        Some(heading) => document.append(heading, history_line),
        None => new_section(document, HISTORY, history_line),
    }
}

fn new_section(document: &Document<'_>, name: &str, text: &str) -> Edit {
    document.append_at_end(&format!("## {name}\n\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Zoned {
        "2026-11-15T10:00:00+09:00[Asia/Tokyo]".parse().unwrap()
    }

    fn sample() -> String {
        new(&NewAdr {
            number: 1,
            title: "Use Rust",
            status: Status::Proposed,
            context: "why",
            decision: "what",
            rationale: "because",
            consequences: "",
            now: &now(),
        })
    }

    #[test]
    fn a_new_record_is_parsed_back() {
        let text = sample();
        let adr = Adr::parse("adr-001-use-rust", 1, &text);
        assert_eq!(
            (adr.title.as_str(), adr.status),
            ("Use Rust", Status::Proposed)
        );
        assert_eq!(adr.created, adr.updated);
        let accepted = with_status(&text, Status::Accepted, None, Some("agreed"), &now());
        let adr = Adr::parse("adr-001-use-rust", 1, &accepted);
        assert_eq!(adr.status, Status::Accepted);
        assert!(accepted.contains(
            "- 2026-11-15T10:00:00+09:00 Proposed\n- 2026-11-15T10:00:00+09:00 Accepted: agreed\n"
        ));
    }

    #[test]
    fn a_record_supersedes_another() {
        let old = Adr::parse("adr-001-use-rust", 1, &sample());
        let by = Adr {
            number: 2,
            stem: "adr-002-x".into(),
            title: "X".into(),
            ..old.clone()
        };
        let text = with_status(&sample(), Status::Deprecated, Some(&by), None, &now());
        let read = Adr::parse("adr-001-use-rust", 1, &text);
        assert_eq!(
            (read.status, read.superseded_by),
            (Status::Deprecated, Some(2))
        );
        let text = superseding(&sample(), &old, &now());
        assert_eq!(Adr::parse("adr-002-x", 2, &text).supersedes, [1]);
        assert_eq!(Adr::parse("adr-002-x", 2, &text).status, Status::Proposed);
    }

    #[test]
    fn records_of_other_tools_are_supported() {
        let tools = "# 9. Help scripts\n\nDate: 12/02/2016\n\n## Status\n\nAccepted\n\nSuperceded by [10. New](0010-new.md)\n\n## Context\n\nx\n";
        let adr = Adr::parse("0009-help-scripts", 9, tools);
        assert_eq!(
            (adr.title.as_str(), adr.status),
            ("Help scripts", Status::Deprecated)
        );
        assert_eq!(adr.superseded_by, Some(10));
        let madr = "---\nstatus: \"accepted\"\ndate: 2026-01-02\n---\n# Use Markdown\n\n## Context\n\nstatus: no\n";
        let adr = Adr::parse("0003-use-markdown", 3, madr);
        assert_eq!(
            (adr.title.as_str(), adr.status),
            ("Use Markdown", Status::Accepted)
        );
        assert!(matches!(adr.created, Some(adr::DateOrTime::On(_))));
        let changed = with_status(madr, Status::Deprecated, None, None, &now());
        assert!(
            changed.starts_with("---\nstatus: \"deprecated\"\ndate"),
            "{changed}"
        );
        let old = "# ADR-004: Old\n\n* Status: accepted\n* Date: 2020-01-02\n\n## Context\n";
        assert_eq!(Adr::parse("0004-old", 4, old).status, Status::Accepted);
        assert_eq!(Adr::parse("0004-old", 4, old).title, "Old");
        let changed = with_status(old, Status::Proposed, None, None, &now());
        assert!(changed.starts_with("# ADR-004: Old\n\n* Status: Proposed\n"));
    }

    #[test]
    fn file_names_are_made_from_titles() {
        assert_eq!(adr::stem(1, "Use Rust!"), "adr-001-use-rust");
        assert_eq!(
            adr::stem(12, "認証方式：ＪＷＴを採用"),
            "adr-012-認証方式-jwtを採用"
        );
        assert_eq!(adr::stem(3, "../../etc/passwd"), "adr-003-etc-passwd");
        assert_eq!(adr::stem(4, "///"), "adr-004-untitled");
        assert!(adr::stem(5, &"長".repeat(100)).len() < 140);
        assert_eq!(adr::number_of("adr-001-x"), Some(1));
        assert_eq!(adr::number_of("0012-x"), Some(12));
        assert_eq!(adr::number_of("readme"), None);
        assert_eq!(adr::number_of("2024-notes"), None);
    }
}
