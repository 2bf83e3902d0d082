//! State that travels through the client between the rounds of a call.
//!
//! It is sealed, bound to the caller and the tool, and valid for ten minutes, so
//! that a client can't use it for another call. The key comes from the desk's
//! secret: any desk on the same data can open it. A process without a secret
//! makes a key of its own.

use std::{sync::OnceLock, time::Duration};

use desk::state::Secret;
use rand::RngExt;
use rmcp::model::{RequestStateCodec, SealOptions};

const VALID: Duration = Duration::from_secs(600);

static CODEC: OnceLock<RequestStateCodec> = OnceLock::new();

/// Takes the desk's own secret from here on. To be called before anything is served.
pub fn share(secret: &Secret) {
    let _ = CODEC.set(RequestStateCodec::new_unchecked(secret.mac("state", b"")));
}

fn codec() -> &'static RequestStateCodec {
    CODEC.get_or_init(|| {
        let key: [u8; 32] = rand::rng().random();
        RequestStateCodec::new_unchecked(key)
    })
}

pub fn seal(state: &str, caller: &str, about: &str) -> String {
    codec().seal_with(
        state.as_bytes(),
        &SealOptions::new()
            .associated_data(binding(caller, about).as_bytes())
            .ttl(VALID),
    )
}

/// `None` when it was changed, is too old, or belongs to another call.
pub fn open(sealed: &str, caller: &str, about: &str) -> Option<String> {
    let payload = codec()
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
