//! Which records an erasure covers, and the text that describes it.

use std::fmt;

use jiff::Timestamp;

use super::record::{Record, time};

/// The arguments of one call, or of a caller in a span of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErasureScope {
    pub call: Option<String>,
    /// A caller's id or name.
    pub caller: Option<String>,
    pub since: Option<i64>,
    pub until: Option<i64>,
}

impl ErasureScope {
    pub fn matches(&self, record: &Record<'_>) -> bool {
        let at = record.at_ms();
        let caller = [record.caller.as_deref(), record.caller_name.as_deref()];
        (self.call.is_none() || record.call.as_deref() == self.call.as_deref())
            && (self.caller.is_none() || caller.contains(&self.caller.as_deref()))
            && self.since.is_none_or(|since| at >= since)
            && self.until.is_none_or(|until| at < until)
    }

    /// Parses the text of `Display`.
    pub fn parse(text: &str) -> Option<Self> {
        // Parsed from the end, because a caller's name may contain a comma.
        let (rest, until) = split_time(text, "until ");
        let (rest, since) = split_time(rest, "since ");
        let (call, caller) = match rest.strip_prefix("call ") {
            Some(rest) => match rest.split_once(", caller ") {
                Some((call, caller)) => (Some(call), Some(caller)),
                None => (Some(rest), None),
            },
            None => (None, rest.strip_prefix("caller ")),
        };
        let which = Self {
            call: call.map(str::to_owned),
            caller: caller.map(str::to_owned),
            since,
            until,
        };
        (which.to_string() == text && which != Self::default()).then_some(which)
    }
}

fn split_time<'t>(text: &'t str, word: &str) -> (&'t str, Option<i64>) {
    let split = match text.strip_prefix(word) {
        Some(time) => Some(("", time)),
        None => text.rsplit_once(&format!(", {word}")),
    };
    let parsed = split.and_then(|(rest, time)| {
        let at: Timestamp = time.parse().ok()?;
        Some((rest, at.as_millisecond()))
    });
    match parsed {
        Some((rest, at)) => (rest, Some(at)),
        None => (text, None),
    }
}

impl fmt::Display for ErasureScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.call.as_ref().map(|call| format!("call {call}")),
            self.caller.as_ref().map(|name| format!("caller {name}")),
            self.since.map(|at| format!("since {}", time(at))),
            self.until.map(|at| format!("until {}", time(at))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_reads_back() {
        let at = Some(1_800_000_000_000);
        let which = |call: Option<&str>, caller: Option<&str>, since, until| ErasureScope {
            call: call.map(str::to_owned),
            caller: caller.map(str::to_owned),
            since,
            until,
        };
        for which in [
            which(Some("c1"), None, None, None),
            which(None, Some("phone, the old one"), None, None),
            which(Some("c1"), Some("phone"), at, None),
            which(None, None, at, at),
            which(None, Some("phone"), None, at),
        ] {
            assert_eq!(ErasureScope::parse(&which.to_string()), Some(which));
        }
        for text in ["", "everything", "since yesterday"] {
            assert_eq!(ErasureScope::parse(text), None, "{text}");
        }
    }
}
