//! A question to the user, and its decision.

use kit::{Caller, approval::Card};
use serde::Serialize;
use serde_json::Value;

/// A question that nobody answers, or an approval that no call uses, expires after
/// this time.
pub const LAPSES_MS: i64 = 10 * 60 * 1000;

/// The code of the answer to a call whose question waits for the user.
pub const APPROVAL_REQUIRED: &str = "APPROVAL_REQUIRED";

/// The most bytes that a question may have: its arguments and its card.
pub const LONGEST_QUESTION: usize = 128 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Waits for a person.
    Pending,
    /// Waits for the identical call.
    Approved,
    Denied,
    /// Nobody decided in time, or the approved call never came.
    Expired,
    Used,
}

impl Status {
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::Approved,
        Self::Denied,
        Self::Expired,
        Self::Used,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Used => "used",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }
}

#[derive(Debug, Clone)]
pub struct Approval {
    pub id: String,
    pub counter: String,
    pub tool: String,
    pub caller: Caller,
    pub arguments: Value,
    pub digest: String,
    pub card: Card,
    /// At the time of reading: a pending row whose time is over is `Expired`.
    pub status: Status,
    pub created_at: i64,
    pub expires_at: i64,
    pub decided_at: Option<i64>,
    pub decided_by: Option<String>,
    pub reason: Option<String>,
    pub delivered_at: Option<i64>,
}

/// A person's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// This time only.
    Once,
    /// Always, for this caller, tool and recipient.
    Always,
    Deny {
        reason: String,
    },
}

/// A call that needs the user's approval.
#[derive(Debug, Clone)]
pub struct ApprovalQuestion {
    pub counter: &'static str,
    pub tool: &'static str,
    pub caller: Caller,
    pub arguments: Value,
    pub digest: String,
    pub card: Card,
}
