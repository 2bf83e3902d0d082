//! The result of `audit verify` for people.

use desk::audit::Report;

use crate::output::{Look, Styled};

pub fn in_words(report: &Report) -> Styled {
    let mut styled = Styled::default();
    if let Some(broken) = &report.broken {
        styled.add(Look::Bad, "BROKEN").plain(&format!(
            "  {} line {}: {}\n",
            broken.segment, broken.line, broken.what
        ));
        return styled;
    }
    let mut text = format!(
        "  {} records in {} segments, all links are intact\n",
        report.records, report.segments
    );
    let mut note = |count: u64, what: &str| {
        if count > 0 {
            text.push_str(&format!("    {count} {what}\n"));
        }
    };
    note(report.heads, "stored heads are still in the trail");
    note(report.live, "segments are being written now");
    note(report.erased, "records had their arguments erased");
    note(
        report.not_yet_erased,
        "records were recorded as erased and still have arguments: run `madoguchi audit erase` again",
    );
    note(
        report.without_arguments,
        "records lack their arguments, though nobody erased them",
    );
    note(
        report.summarised,
        "reads have no record of their own and are counted in others",
    );
    note(report.recovered, "records were completed after a crash");
    note(
        report.dropped,
        "segments were dropped because they were old or the trail was too large",
    );
    note(
        report.lost,
        "records were lost while nothing could be written",
    );
    for segment in &report.unfinished {
        text.push_str(&format!(
            "    {segment} has no end: its process was killed; the next one will complete it\n"
        ));
    }
    for segment in &report.without_head {
        text.push_str(&format!(
            "    {segment} has no stored head: if its last records are missing, nothing shows it\n"
        ));
    }
    for segment in &report.torn {
        text.push_str(&format!(
            "    {segment} ended in a torn line, which was put aside\n"
        ));
    }
    styled.add(Look::Good, "ok").plain(&text);
    styled
}
