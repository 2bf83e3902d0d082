//! What the approval station decides, and its errors.

use kit::{Error, Reply, Result, approval::Card};
use serde_json::json;

use crate::approvals::{APPROVAL_REQUIRED, Approval, ApprovalInUse, Status};

#[derive(Debug)]
pub enum ApprovalOutcome {
    /// The policy, the tool's exemption or a standing grant allows the call.
    NotRequired {
        grant: Option<String>,
        card: Option<Card>,
    },
    /// The user approved it. The work uses the approval.
    Approved(Box<Approval>),
    /// The work was done before, and its answer did not arrive.
    Replay {
        approval: Option<ApprovalInUse>,
        answer: Result<Reply>,
    },
    /// The client has to ask its user and call again.
    AskClient(Reply),
}

/// The outcome of a question; `None` while it waits.
pub fn settled(approval: &Approval) -> Result<Option<ApprovalOutcome>> {
    match approval.status {
        Status::Pending => Ok(None),
        Status::Approved => Ok(Some(ApprovalOutcome::Approved(Box::new(approval.clone())))),
        Status::Denied => Err(denied(approval)),
        Status::Expired => Err(Error::new(
            "APPROVAL_EXPIRED",
            "Nobody decided in time, so this was denied.",
        )
        .next("Nothing was done. Ask the user; the same call asks again.")
        .japanese(
            "時間内に回答がなかったため、承認の依頼は期限切れになりました。何も行っていません。\
             ユーザーに確認してください。同じ呼び出しで改めて承認を求めます。",
        )
        .spoken(
            "The request for your approval expired, so I did nothing.",
            "承認の期限が切れたため、何も行っていません。",
        )),
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
        .spoken(
            "You did not approve this, so I did nothing.",
            "承認されなかったため、何も行っていません。",
        )
        .japanese(format!(
            "{japanese}何も行っていません。繰り返さずに、どうしたいかをユーザーに確認してください。"
        ))
        .details(json!({ "approval_id": approval.id, "reason": approval.reason }))
}

/// Two calls tried to use the same approval.
pub fn used() -> Error {
    Error::new(
        "APPROVAL_USED",
        "Another call used this approval at the same moment.",
    )
    .next("It was done once. To do it again, repeat the call; the user is asked again.")
}

/// A question that waits for the user.
pub struct Pending<'a> {
    pub approval: &'a Approval,
    pub tool: &'a str,
    /// Where the user finds the question.
    pub address: &'a str,
    /// Whether the message is read out to the user. Addresses and commands are then in
    /// the details alone.
    pub is_read_out: bool,
    /// Whether the same question was asked before, and nobody answered in time.
    pub has_lapsed: bool,
}

pub fn pending(pending: &Pending<'_>) -> Error {
    let Pending {
        approval,
        tool,
        address,
        ..
    } = pending;
    let command = format!("madoguchi approvals approve {}", approval.id);
    let (lapsed, lapsed_in_japanese) = match pending.has_lapsed {
        true => (
            "The earlier question was not answered in time, so it lapsed. ",
            "前回の確認は時間切れになりました。",
        ),
        false => ("", ""),
    };
    let expires_at = jiff::Timestamp::from_millisecond(approval.expires_at).ok();
    let error = if pending.is_read_out {
        Error::new(
            APPROVAL_REQUIRED,
            format!("{lapsed}This needs your approval first. Nothing was done yet."),
        )
        .japanese(format!(
            "{lapsed_in_japanese}先に承認が必要です。まだ何も行っていません。"
        ))
    } else {
        Error::new(
            APPROVAL_REQUIRED,
            format!("{lapsed}{tool} waits for the user's approval ({address})."),
        )
        .next(format!(
            "Nothing was done. Tell the user, who can also run `{command}`; then make the identical call again."
        ))
        .japanese(format!(
            "{lapsed_in_japanese}{tool}はユーザーの承認を待っています({address})。まだ何も行っていません。ユーザーに伝え、承認されたら(`{command}`でも承認できます)、同じ呼び出しをもう一度行ってください。"
        ))
    };
    error.details(json!({
        "tool": tool,
        "approval_id": approval.id,
        "url": address,
        "command": command,
        "next": "Tell the user. Make the identical call again once it is approved.",
        "expires_at": expires_at.map(|at| at.to_string()),
    }))
}

pub fn unknown_outcome(approval: &Approval) -> Error {
    Error::new(
        kit::error::OUTCOME_UNKNOWN,
        "This was approved and begun, but its result is not recorded: it was interrupted, or another process is still working on it.",
    )
    .next("Check whether it took effect. The same call asks again after the approval has expired.")
    .details(json!({ "approval_id": approval.id }))
}
