//! State that travels through the client between the rounds of a call.
//!
//! Sealed with a key of this process, bound to the caller and the tool, and
//! valid for ten minutes: a client can neither read meaning into it nor use it
//! for another call.

use std::{sync::LazyLock, time::Duration};

use rand::RngExt;
use rmcp::model::{RequestStateCodec, SealOptions};

const VALID: Duration = Duration::from_secs(600);

static CODEC: LazyLock<RequestStateCodec> = LazyLock::new(|| {
    let key: [u8; 32] = rand::rng().random();
    RequestStateCodec::new_unchecked(key)
});

pub fn seal(state: &str, caller: &str, about: &str) -> String {
    CODEC.seal_with(
        state.as_bytes(),
        &SealOptions::new()
            .associated_data(binding(caller, about).as_bytes())
            .ttl(VALID),
    )
}

/// `None` when it was changed, is too old, or belongs to another call.
pub fn open(sealed: &str, caller: &str, about: &str) -> Option<String> {
    let payload = CODEC
        .open_with(sealed, binding(caller, about).as_bytes())
        .ok()?;
    String::from_utf8(payload).ok()
}

fn binding(caller: &str, about: &str) -> String {
    format!("{caller}\n{about}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_only_for_the_same_caller_and_call() {
        let sealed = seal("round 1", "me", "cinema/tool");
        assert_eq!(
            open(&sealed, "me", "cinema/tool").as_deref(),
            Some("round 1")
        );
        assert_eq!(open(&sealed, "you", "cinema/tool"), None);
        assert_eq!(open(&sealed, "me", "cinema/other"), None);
        assert_eq!(open(&format!("{sealed}x"), "me", "cinema/tool"), None);
    }
}
