//! What the station says, and the errors with which it refuses.

use kit::{Error, Reply, Result, approval::Card};
use serde_json::json;

use crate::approvals::{Approval, InHand, Status};

/// What the station says.
#[derive(Debug)]
pub enum Leave {
    /// Nobody needs to be asked, or a standing grant answers for them; the card
    /// says for what.
    Free {
        grant: Option<String>,
        card: Option<Card>,
    },
    /// A person said yes. The work uses it up.
    Approved(Box<Approval>),
    /// It was done before, and the answer did not arrive.
    Again {
        approval: Option<InHand>,
        answer: Result<Reply>,
    },
    /// The client has to ask its user and call again.
    Ask(Reply),
}

/// What a decided question leads to; `None` while it waits.
pub fn settled(approval: &Approval) -> Result<Option<Leave>> {
    match approval.status {
        Status::Pending => Ok(None),
        Status::Approved => Ok(Some(Leave::Approved(Box::new(approval.clone())))),
        Status::Denied => Err(denied(approval)),
        Status::Expired => Err(Error::new(
            "APPROVAL_EXPIRED",
            "Nobody decided in time, which counts as a no.",
        )
        .next("Nothing was done. Ask the user; the same call asks again.")),
        Status::Used => Err(used()),
    }
}

pub fn denied(approval: &Approval) -> Error {
    let message = match &approval.reason {
        Some(reason) => format!("The user denied this: {reason}"),
        None => "The user denied this.".to_owned(),
    };
    let japanese = match &approval.reason {
        Some(reason) => format!("ユーザーが拒否しました(理由: {reason})。"),
        None => "ユーザーが拒否しました。".to_owned(),
    };
    Error::new("APPROVAL_DENIED", message)
        .next("Nothing was done. Do not retry; ask the user what they want instead.")
        .japanese(format!(
            "{japanese}何も行っていません。繰り返さずに、どうしたいかをユーザーに確認してください。"
        ))
        .details(json!({ "approval_id": approval.id, "reason": approval.reason }))
}

/// Two calls at once wanted the same approval.
pub fn used() -> Error {
    Error::new(
        "APPROVAL_USED",
        "This approval was used by another call in the same moment.",
    )
    .next("It was done once. To have it done once more, make the call again and ask the user.")
}

/// `address`: where a person finds the question about this tool.
pub fn pending(approval: &Approval, name: &str, address: &str) -> Error {
    let expires_at = jiff::Timestamp::from_millisecond(approval.expires_at).ok();
    Error::new(
        "APPROVAL_REQUIRED",
        format!("{name} waits for the user's approval ({address})."),
    )
    .next(format!(
        "Nothing was done. Tell the user, who can also run `madoguchi approvals approve {}`; then make the identical call again.",
        approval.id
    ))
    .japanese(format!(
        "{name}はユーザーの承認を待っています({address})。まだ何も行っていません。ユーザーに伝え、承認されたら(`madoguchi approvals approve {}`でも承認できます)、同じ呼び出しをもう一度行ってください。",
        approval.id
    ))
    .details(json!({
        "tool": name,
        "approval_id": approval.id,
        "url": address,
        "expires_at": expires_at.map(|at| at.to_string()),
    }))
}

pub fn unknown_outcome(approval: &Approval) -> Error {
    Error::new(
        "OUTCOME_UNKNOWN",
        "This was approved and begun, and its end is not noted: it was broken off, or another process is still at it.",
    )
    .next("Look whether it took effect. The same call asks again once the approval has lapsed.")
    .details(json!({ "approval_id": approval.id }))
}
