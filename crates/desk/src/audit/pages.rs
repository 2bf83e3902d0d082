//! The trail a page at a time, newest first. A page never reads more than it has time
//! for; it then says how far it came.

use std::time::Instant;

use kit::Result;

use super::{
    position::{ArgumentsOfLine, Position, TrailLine},
    record::parse,
    search::{Filter, FoundRecord, shown},
    store::AuditStore,
};

/// How many lines are passed over between two looks at the clock.
const LINES_A_LOOK: usize = 128;

/// Some of the records that match, newest first.
#[derive(Debug, Default)]
pub struct TrailPage {
    pub records: Vec<FoundRecord>,
    /// Where the next page begins; `None`: there are no older records.
    pub next: Option<Position>,
    /// Set if the time was over before the page was full: how far the search came.
    pub searched_to: Option<i64>,
}

/// The newest `size` records before `before` that match.
pub fn page(
    store: &dyn AuditStore,
    filter: &Filter,
    before: Option<Position>,
    size: usize,
    deadline: Instant,
) -> Result<TrailPage> {
    let before = match (before, filter.until.map(Position::at)) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    let wanted = filter.words();
    let mut page = TrailPage::default();
    let mut last = None;
    for (passed, line) in store.newest_first(before)?.enumerate() {
        let TrailLine {
            position,
            line,
            arguments,
        } = line?;
        if filter.since.is_some_and(|since| position.at < since) {
            break;
        }
        let is_full = page.records.len() == size;
        if passed % LINES_A_LOOK == LINES_A_LOOK - 1 && Instant::now() >= deadline {
            page.searched_to = (!is_full).then_some(position.at);
            page.next = last;
            break;
        }
        // Damaged records are left out; `verify` reports them.
        if wanted
            .iter()
            .all(|words| words.iter().any(|word| line.contains(word)))
            && filter
                .tool
                .as_ref()
                .is_none_or(|tool| tool.wants_line(&line))
            && let Ok(record) = parse(&line)
            && filter.wants(&record)
        {
            if is_full {
                page.next = last;
                break;
            }
            let arguments = match arguments {
                ArgumentsOfLine::Read(arguments) => arguments,
                ArgumentsOfLine::NotRead => store.arguments(&position.segment, position.seq)?,
            };
            let found = shown(
                &position.segment,
                &record,
                &line,
                arguments.as_deref(),
                filter.personal,
            );
            page.records.extend(found);
        }
        last = Some(position);
    }
    Ok(page)
}

/// The record with this number.
pub fn record(store: &dyn AuditStore, segment: &str, seq: u64) -> Result<Option<FoundRecord>> {
    let Some(line) = store.line(segment, seq)? else {
        return Ok(None);
    };
    let arguments = store.arguments(segment, seq)?;
    let record = parse(&line).ok();
    Ok(record.and_then(|record| shown(segment, &record, &line, arguments.as_deref(), true)))
}
