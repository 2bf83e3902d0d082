//! The card that a person reads when asked to approve a call.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A call in plain words. A tool that knows more than its arguments say (the film
/// of a schedule's id, the address of a contact) writes its own card; for other
/// tools the desk lists the arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// One line: what will happen.
    pub summary: String,
    /// The recipient; a standing grant is for the tool and this recipient. `None` for
    /// a tool without recipients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// The details: absolute times with their zone, full texts.
    pub lines: Vec<CardLine>,
    /// The call runs several tools, so it can't get a standing grant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once_only: bool,
    /// If the call changes or removes something: the version that the card shows. An
    /// approval is for this version alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// When the user was asked, in milliseconds, if the arguments have words such as
    /// "tomorrow": they count from then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<i64>,
    /// No approval is needed: the caller undoes its own work, or nothing would
    /// change. If the operator set `ask` for the tool, it is asked anyway.
    #[serde(skip)]
    pub exempt: bool,
}

impl Card {
    /// Whether a person may allow such calls permanently. Changes of something that
    /// exists, and calls of several tools, are approved one by one.
    pub fn allows_standing_grant(&self) -> bool {
        !self.once_only && self.state.is_none()
    }

    /// An error if the call would no longer do what this card says.
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
    .next("Nothing was done. Make the call again; the user is asked again.")
}

/// Also for work that finds changed rows in its transaction.
pub fn state_changed() -> Error {
    Error::new(
        "STATE_CHANGED",
        "The target of this call was changed in the meantime.",
    )
    .next("Nothing was done. Make the call again; the user is asked again if necessary.")
    .japanese(
        "この間に対象が変更されたため、何も行っていません。同じ呼び出しをもう一度行ってください。\
         必要な場合はユーザーに改めて確認します。",
    )
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardLine {
    pub label: String,
    pub text: String,
}

impl CardLine {
    pub fn new(label: &str, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_for_one_recipient_and_one_state() {
        let card = Card {
            recipient: Some("ann".into()),
            state: Some("1".into()),
            ..Card::default()
        };
        assert!(card.check(Some("ann"), Some("1")).is_ok());
        let code = |recipient, state| card.check(recipient, state).unwrap_err().code;
        assert_eq!(code(Some("bob"), Some("1")), "RECIPIENT_CHANGED");
        assert_eq!(code(None, Some("1")), "RECIPIENT_CHANGED");
        assert_eq!(code(Some("ann"), Some("2")), "STATE_CHANGED");
        assert_eq!(code(Some("ann"), None), "STATE_CHANGED");
    }

    #[test]
    fn only_a_plain_call_can_be_allowed_for_good() {
        let card = |once_only, state: Option<&str>| Card {
            once_only,
            state: state.map(str::to_owned),
            ..Card::default()
        };
        assert!(card(false, None).allows_standing_grant());
        assert!(!card(true, None).allows_standing_grant());
        assert!(!card(false, Some("1")).allows_standing_grant());
    }
}
