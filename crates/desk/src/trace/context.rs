//! The trace that a caller is part of: W3C Trace Context, `traceparent` and
//! `tracestate`.

use std::sync::Arc;

/// The longest `tracestate` that is carried on. Longer ones may be dropped.
const LONGEST_STATE: usize = 512;

/// A span of the caller, which becomes the parent of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    pub trace_id: u128,
    pub span_id: u64,
    pub sampled: bool,
    /// What other systems want to be carried on.
    pub state: Option<Arc<str>>,
}

impl TraceContext {
    /// `None` if the caller sent none, or not a valid one.
    pub fn parse(parent: Option<&str>, state: Option<&str>) -> Option<Self> {
        let mut parts = parent?.trim().split('-');
        let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
        let flags = parts.next()?;
        // Later versions may add parts.
        let is_whole = version != "00" || parts.next().is_none();
        if !is_whole || version == "ff" || hex(version, 2).is_none() {
            return None;
        }
        let (trace_id, span_id) = (hex(trace, 32)?, u64::try_from(hex(span, 16)?).ok()?);
        let sampled = hex(flags, 2)? & 1 == 1;
        let is_text = |state: &&str| {
            !state.is_empty()
                && state.len() <= LONGEST_STATE
                && state.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        };
        (trace_id != 0 && span_id != 0).then(|| Self {
            trace_id,
            span_id,
            sampled,
            state: state.map(str::trim).filter(is_text).map(Arc::from),
        })
    }
}

/// A number of exactly this many lower-case digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_number = text.len() == digits && text.bytes().all(is_digit);
    is_number.then(|| u128::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_valid_parent_is_taken_over() {
        let parse = |parent: &str| TraceContext::parse(Some(parent), None);
        let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let context = parse(valid).unwrap();
        assert_eq!(context.trace_id, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert_eq!(context.span_id, 0x00f0_67aa_0ba9_02b7);
        assert!(context.sampled);
        assert!(!parse(&valid.replace("-01", "-00")).unwrap().sampled);
        assert!(!parse(&valid.replace("-01", "-02")).unwrap().sampled);
        assert!(parse(&format!("{}-more", valid.replacen("00", "cc", 1))).is_some());
        for (from, to) in [
            ("00-4b", "ff-4b"),
            ("00-4b", "0-4b"),
            ("4bf9", "4BF9"),
            ("4bf9", "4bf"),
            (
                "4bf92f3577b34da6a3ce929d0e0e4736",
                "00000000000000000000000000000000",
            ),
            ("00f067aa0ba902b7", "0000000000000000"),
            ("00f067aa0ba902b7", "+0f067aa0ba902b7"),
            ("-01", "-01-x"),
            ("-01", "-1"),
            ("-01", ""),
            ("00-4b", ""),
        ] {
            assert_eq!(parse(&valid.replace(from, to)), None, "{from} {to}");
        }
        assert_eq!(TraceContext::parse(None, Some("a=b")), None);
    }

    #[test]
    fn the_state_of_other_systems_is_kept_if_it_is_short_and_plain() {
        let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let state = |state: &str| TraceContext::parse(Some(valid), Some(state)).unwrap().state;
        assert_eq!(state("a=1,b=2").as_deref(), Some("a=1,b=2"));
        assert_eq!(state("a=窓"), None);
        assert_eq!(state(""), None);
        assert_eq!(state(&"a".repeat(LONGEST_STATE + 1)), None);
    }
}
