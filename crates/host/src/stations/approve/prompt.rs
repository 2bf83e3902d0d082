//! The client's own prompt as the channel: `elicitation/create`, asked while the
//! call runs or, in the stateless era, between two rounds of it.

use kit::{Context, Reply, Result, context::ClientRequest, context::Language};
use serde_json::{Value, json};

use super::{Approval, Asking, Decision, Leave, decided};

/// Under this name the answer comes back in the stateless era.
const ANSWER: &str = "approval";
/// What the sealed state says, before the approval's id.
const STATE: &str = "approval:";

impl Asking<'_> {
    /// `None` when the prompt settled nothing, so that another channel has to.
    pub(super) async fn by_prompt(&self, approval: &Approval) -> Result<Option<Leave>> {
        let client = &self.context.client;
        if client.capabilities().get("elicitation").is_none() {
            return Ok(None);
        }
        if client.is_stateless() {
            // An answer counts for the question it was given to: another
            // argument is another question.
            let state = client.state();
            let asked = state.as_deref().and_then(|state| state.strip_prefix(STATE));
            let answer = client.input(ANSWER).filter(|_| asked == Some(&approval.id));
            return match answer {
                Some(answer) => self.answered(approval, &answer).await,
                None => Ok(Some(Leave::Ask(Reply::InputRequired {
                    requests: vec![(ANSWER.to_owned(), request(self.context, approval))],
                    state: Some(format!("{STATE}{}", approval.id)),
                }))),
            };
        }
        let approvals = &self.desk.approvals;
        let mut changes = approvals.changes();
        let mut asked = client.request(request(self.context, approval));
        loop {
            changes.borrow_and_update();
            // It may be decided in the console meanwhile.
            if let Some(leave) = super::settled(&approvals.get(&approval.id).await?)? {
                return Ok(Some(leave));
            }
            let left = approval.expires_at - self.desk.clock.now().as_millisecond();
            let left = std::time::Duration::from_millis(u64::try_from(left).unwrap_or(0) + 1);
            tokio::select! {
                answer = &mut asked => return match answer {
                    Ok(answer) => self.answered(approval, &answer).await,
                    Err(error) => {
                        tracing::info!(cause = ?error.cause, "the client did not ask its user");
                        Ok(None)
                    }
                },
                _ = changes.changed() => {}
                () = tokio::time::sleep(left) => {}
                () = self.context.cancel.cancelled() => return Err(kit::Error::cancelled()),
            }
        }
    }

    async fn answered(&self, approval: &Approval, answer: &Value) -> Result<Option<Leave>> {
        match decision(answer) {
            Some(decision) => decided(self, approval, decision).await,
            None => Ok(None),
        }
    }
}

/// `None` when the user closed the prompt without an answer.
fn decision(answer: &Value) -> Option<Decision> {
    let text = |field: &str| {
        let content = answer.get("content")?;
        content.get(field)?.as_str().map(str::to_owned)
    };
    let deny = || Decision::Deny {
        reason: text("reason").unwrap_or_default(),
    };
    match answer.get("action")?.as_str()? {
        "accept" => Some(match text("decision").as_deref() {
            Some("once") => Decision::Once,
            Some("always") => Decision::Always,
            _ => deny(),
        }),
        "decline" => Some(deny()),
        _ => None,
    }
}

fn request(context: &Context, approval: &Approval) -> ClientRequest {
    let words = words(context.language);
    let card = &approval.card;
    let mut message = format!(
        "{}\n\n{}: {}\n{}: {}.{}",
        card.summary, words.asks, approval.caller.name, words.tool, approval.counter, approval.tool
    );
    if let Some(recipient) = &card.recipient {
        message.push_str(&format!("\n{}: {recipient}", words.recipient));
    }
    for line in &card.lines {
        message.push_str(&format!("\n{}: {}", line.label, line.text));
    }
    let mut choices = vec![json!({ "const": "once", "title": words.once })];
    if card.allows_standing_grant() {
        choices.push(json!({ "const": "always", "title": words.always }));
    }
    choices.push(json!({ "const": "deny", "title": words.deny }));
    // No `mode`: older revisions do not know it, and a form is the default.
    ClientRequest {
        method: "elicitation/create".into(),
        params: json!({
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "decision": { "type": "string", "title": words.decision, "oneOf": choices },
                    "reason": { "type": "string", "title": words.reason, "maxLength": 500 },
                },
                "required": ["decision"],
            },
        }),
    }
}

struct Words {
    asks: &'static str,
    tool: &'static str,
    recipient: &'static str,
    decision: &'static str,
    once: &'static str,
    always: &'static str,
    deny: &'static str,
    reason: &'static str,
}

fn words(language: Language) -> Words {
    match language {
        Language::English => Words {
            asks: "Asked by",
            tool: "Tool",
            recipient: "Recipient",
            decision: "May this be done?",
            once: "This time only",
            always: "Always, for this tool and recipient",
            deny: "No",
            reason: "Reason, if no",
        },
        Language::Japanese => Words {
            asks: "依頼者",
            tool: "ツール",
            recipient: "宛先",
            decision: "実行してよいですか",
            once: "今回だけ許可",
            always: "このツールと宛先は常に許可",
            deny: "許可しない",
            reason: "許可しない理由",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_is_a_yes() {
        let of = |answer: Value| decision(&answer);
        let accept = |content: Value| json!({ "action": "accept", "content": content });
        assert_eq!(
            of(accept(json!({ "decision": "once" }))),
            Some(Decision::Once)
        );
        assert_eq!(
            of(accept(json!({ "decision": "always" }))),
            Some(Decision::Always)
        );
        for no in [
            accept(json!({ "decision": "deny", "reason": "" })),
            accept(json!({ "decision": true })),
            accept(json!({})),
            json!({ "action": "accept" }),
            json!({ "action": "decline" }),
        ] {
            assert!(matches!(of(no), Some(Decision::Deny { .. })));
        }
        assert_eq!(of(json!({ "action": "cancel" })), None);
        assert_eq!(of(json!({})), None);
    }
}
