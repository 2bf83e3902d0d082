//! The head of the whole trail at one moment: the last checkpoint, which vouches for
//! all sealed segments, and the last record of each segment that is not sealed. A head
//! that is stored elsewhere reveals whether anything before it was removed since.

use kit::Result;
use serde::{Deserialize, Serialize};

use super::{
    record::{Head, time},
    store::{AuditStore, CHECKPOINTS},
};
use crate::digest::sha256;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailHead {
    /// When it was read.
    pub at: String,
    /// A digest of the rest.
    pub hash: String,
    /// The last checkpoint; `None` before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Head>,
    /// The last records of the segments that no checkpoint seals.
    pub segments: Vec<Head>,
}

impl TrailHead {
    /// The head now. All that it names is on disk.
    pub fn read(store: &dyn AuditStore, now: i64) -> Result<Self> {
        let mut segments = Vec::new();
        for segment in store.unsealed()? {
            segments.extend(store.durable_head(&segment)?);
        }
        // Read last: a segment that was sealed meanwhile is named twice, not left out.
        let checkpoints = store.durable_head(CHECKPOINTS)?;
        Ok(Self {
            at: time(now),
            hash: digest(checkpoints.as_ref(), &segments)?,
            checkpoints,
            segments,
        })
    }

    /// Whether its parts are those from which its hash was made.
    pub fn is_whole(&self) -> bool {
        let made = digest(self.checkpoints.as_ref(), &self.segments);
        made.is_ok_and(|made| made == self.hash)
    }
}

pub(super) fn digest(checkpoints: Option<&Head>, segments: &[Head]) -> Result<String> {
    let text = serde_json::to_string(&(checkpoints, segments)).map_err(kit::Error::internal)?;
    Ok(sha256(text.as_bytes()))
}
