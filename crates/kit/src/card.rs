//! What a person sees who is asked to approve a call.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A call in a person's words. A tool that knows more than its arguments say
/// (the film behind a schedule's id, the address behind a contact's name)
/// writes it itself; for the others the desk lists the arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// One line: what will happen.
    pub summary: String,
    /// To whom, or with what; a standing grant is for the tool and this. `None`
    /// where a tool has nobody on the other side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// The particulars: absolute times with their zone, full texts.
    pub lines: Vec<Line>,
    /// The call runs several tools: it can be approved this time only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once_only: bool,
    /// Where the call changes or takes away something that exists: the version
    /// that the card shows. A yes is for this version alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The counter's rows say that nobody has to be asked: the caller takes back
    /// what is its own, or nothing would change. An operator who wrote `ask` for
    /// the tool is asked nevertheless.
    #[serde(skip)]
    pub exempt: bool,
}

impl Card {
    /// Whether a person may allow such calls for good. Each change of something
    /// that exists, and each call of several tools, is looked at by itself.
    pub fn allows_standing_grant(&self) -> bool {
        !self.once_only && self.state.is_none()
    }

    /// An error when the call would by now do something else than this card says.
    pub fn check(&self, recipient: Option<&str>, state: Option<&str>) -> Result<()> {
        if self.recipient.as_deref() != recipient {
            return Err(recipient_changed());
        }
        if self.state.as_deref() != state {
            return Err(state_changed());
        }
        Ok(())
    }
}

fn recipient_changed() -> Error {
    Error::new(
        "RECIPIENT_CHANGED",
        "The recipient is no longer the one that the user approved.",
    )
    .next("Nothing was done. Make the call again; the user is asked anew.")
}

/// Also for work that finds in its transaction that what it read is no longer so.
pub fn state_changed() -> Error {
    Error::new(
        "STATE_CHANGED",
        "What this call is about was changed in the meantime.",
    )
    .next("Nothing was done. Make the call again; the user is asked anew where that is needed.")
    .japanese(
        "この間に対象が変更されたため、何も行っていません。同じ呼び出しをもう一度行ってください。\
         必要な場合はユーザーに改めて確認します。",
    )
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub label: String,
    pub text: String,
}

impl Line {
    pub fn new(label: &str, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
        }
    }
}
