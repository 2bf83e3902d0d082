//! Erasing what is kept of arguments. The chain stays as it is: it holds only
//! commitments, which say nothing without the salts that are erased too.

use std::collections::{HashMap, HashSet};

use kit::Result;

use super::{record::parse, shelf::Shelf};

/// Whose arguments: of one call, or of a caller in a span of time.
#[derive(Debug, Clone, Default)]
pub struct Which {
    pub call: Option<String>,
    /// A caller's id or name.
    pub caller: Option<String>,
    pub since: Option<i64>,
    pub until: Option<i64>,
}

/// Returns how many records had arguments that are gone now.
pub fn erase(shelf: &dyn Shelf, which: &Which) -> Result<u64> {
    let mut wanted: HashMap<String, HashSet<u64>> = HashMap::new();
    for (segment, _) in shelf.touched(which.since.unwrap_or(i64::MIN))? {
        let Some(stored) = shelf.read(&segment)? else {
            continue;
        };
        for (line, beside) in &stored.lines {
            if beside.is_none() {
                continue;
            }
            let Ok(record) = parse(line) else {
                continue;
            };
            let at = record.at_ms();
            let caller = [record.caller.as_deref(), record.caller_name.as_deref()];
            let is_wanted = (which.call.is_none()
                || record.call.as_deref() == which.call.as_deref())
                && (which.caller.is_none() || caller.contains(&which.caller.as_deref()))
                && which.since.is_none_or(|since| at >= since)
                && which.until.is_none_or(|until| at < until);
            if is_wanted {
                wanted
                    .entry(segment.clone())
                    .or_default()
                    .insert(record.seq);
            }
        }
    }
    let mut erased = 0;
    for (segment, records) in wanted {
        erased += shelf.erase(&segment, &records)?;
    }
    Ok(erased)
}
