//! Asks the user through the client's own prompt (`elicitation/create`): while the
//! call runs or, for stateless clients, between two rounds of it.

use kit::{
    Reply, Result,
    approval::Card,
    context::{ClientRequest, Language},
    text::{cut, visible, visible_lines},
};
use serde_json::{Value, json};

use super::{
    outcome::{ApprovalOutcome, settled},
    request::ApprovalRequest,
};
use crate::approvals::{Approval, Decision};

/// The most characters of one text, of one label and of all texts together, and the
/// most lines. Not every client can scroll a prompt.
const LONGEST_TEXT: usize = 1_500;
const LONGEST_LABEL: usize = 100;
const MOST_SHOWN: usize = 4_000;
const MOST_LINES: usize = 60;

/// The name of the answer from a stateless client.
const ANSWER: &str = "approval";
/// Prefix of the approval's id in the sealed state.
const STATE: &str = "approval:";

/// `None`: the prompt led to no decision, so another channel is needed.
pub async fn ask(
    request: &ApprovalRequest<'_>,
    approval: &Approval,
) -> Result<Option<ApprovalOutcome>> {
    let client = &request.context.client;
    if client.capabilities().get("elicitation").is_none() {
        return Ok(None);
    }
    if client.is_stateless() {
        // An answer is valid only for its own question: other arguments are another
        // question.
        let state = client.state();
        let asked = state.as_deref().and_then(|state| state.strip_prefix(STATE));
        let answer = client.input(ANSWER).filter(|_| asked == Some(&approval.id));
        return match answer {
            Some(answer) => answered(request, approval, &answer).await,
            None => Ok(Some(ApprovalOutcome::AskClient(Reply::InputRequired {
                requests: vec![(ANSWER.to_owned(), elicitation(request, approval))],
                state: Some(format!("{STATE}{}", approval.id)),
            }))),
        };
    }
    let approvals = &request.desk.approvals;
    let mut changes = approvals.changes();
    let mut asked = client.request(elicitation(request, approval));
    loop {
        changes.borrow_and_update();
        // Meanwhile it may be decided in the console.
        if let Some(outcome) = settled(&approvals.get(&approval.id).await?)? {
            return Ok(Some(outcome));
        }
        let left = approval.expires_at - request.desk.clock.now().as_millisecond();
        let left = std::time::Duration::from_millis(u64::try_from(left).unwrap_or(0) + 1);
        tokio::select! {
            answer = &mut asked => return match answer {
                Ok(answer) => answered(request, approval, &answer).await,
                Err(error) => {
                    tracing::info!(cause = ?error.cause, "the client did not ask its user");
                    Ok(None)
                }
            },
            _ = changes.changed() => {}
            () = tokio::time::sleep(left) => {}
            () = request.context.cancel.cancelled() => return Err(kit::Error::cancelled()),
        }
    }
}

async fn answered(
    request: &ApprovalRequest<'_>,
    approval: &Approval,
    answer: &Value,
) -> Result<Option<ApprovalOutcome>> {
    match decision(answer, &approval.card) {
        Some(decision) => decided(request, approval, decision).await,
        None => Ok(None),
    }
}

/// Stores the user's decision.
async fn decided(
    request: &ApprovalRequest<'_>,
    approval: &Approval,
    decision: Decision,
) -> Result<Option<ApprovalOutcome>> {
    let approvals = &request.desk.approvals;
    let by = format!("the prompt of {}", request.context.caller.name);
    match approvals.decide(&approval.id, decision, &by).await {
        Ok(approval) => settled(&approval),
        // Somebody else decided first, and that decision holds.
        Err(error) if matches!(&*error.code, "ALREADY_DECIDED" | "APPROVAL_EXPIRED") => {
            settled(&approvals.get(&approval.id).await?)
        }
        Err(error) => Err(error),
    }
}

/// `None`: the user closed the prompt without an answer. A choice that was not
/// offered denies the call.
fn decision(answer: &Value, card: &Card) -> Option<Decision> {
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
            Some("always") if card.allows_standing_grant() => Decision::Always,
            _ => deny(),
        }),
        "decline" => Some(deny()),
        _ => None,
    }
}

fn elicitation(request: &ApprovalRequest<'_>, approval: &Approval) -> ClientRequest {
    let labels = labels(request.context.language);
    let message = message(&labels, approval, &request.address(approval));
    let mut choices = vec![json!({ "const": "once", "title": labels.once })];
    if approval.card.allows_standing_grant() {
        choices.push(json!({ "const": "always", "title": labels.always }));
    }
    choices.push(json!({ "const": "deny", "title": labels.deny }));
    // No `mode`: older revisions do not have it, and a form is the default.
    ClientRequest {
        method: "elicitation/create".into(),
        params: json!({
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "decision": { "type": "string", "title": labels.decision, "oneOf": choices },
                    "reason": { "type": "string", "title": labels.reason, "maxLength": 500 },
                },
                "required": ["decision"],
            },
        }),
    }
}

/// First the facts that the desk knows, then the agent's text. That is marked so
/// that it can't look like the desk's, and cut to what a prompt can show.
fn message(labels: &Labels, approval: &Approval, address: &str) -> String {
    let card = &approval.card;
    let mut left_out = 0;
    let mut room = MOST_SHOWN;
    let mut part = |label: &str, whole: &str| {
        let (label, label_cut) = cut(label, LONGEST_LABEL);
        let (kept, rest) = cut(whole, room.min(LONGEST_TEXT));
        room -= kept.chars().count();
        left_out += rest + label_cut;
        let end = if rest > 0 { "…" } else { "" };
        format!(
            "\n{}: {}{end}",
            visible(label),
            visible_lines(kept, "\u{2502} ")
        )
    };
    let mut text = part(labels.what, &card.summary);
    if let Some(recipient) = &card.recipient {
        text.push_str(&part(labels.recipient, recipient));
    }
    let (shown, more) = card.lines.split_at(card.lines.len().min(MOST_LINES));
    for line in shown {
        text.push_str(&part(&line.label, &line.text));
    }
    left_out += more
        .iter()
        .map(|line| line.label.chars().count() + line.text.chars().count())
        .sum::<usize>();
    let mut facts = format!(
        "{}: {}\n{}: {}.{}",
        labels.asks,
        visible(cut(&approval.caller.name, LONGEST_LABEL).0),
        labels.tool,
        approval.counter,
        approval.tool
    );
    if left_out > 0 {
        facts.push('\n');
        facts.push_str(
            &labels
                .shortened
                .replace("{count}", &left_out.to_string())
                .replace("{address}", address),
        );
    }
    format!("{facts}\n{text}")
}

struct Labels {
    asks: &'static str,
    tool: &'static str,
    what: &'static str,
    /// With `{count}` and `{address}`.
    shortened: &'static str,
    recipient: &'static str,
    decision: &'static str,
    once: &'static str,
    always: &'static str,
    deny: &'static str,
    reason: &'static str,
}

fn labels(language: Language) -> Labels {
    match language {
        Language::English => Labels {
            asks: "Asked by",
            tool: "Tool",
            what: "What",
            shortened: "Shortened: {count} characters are left out here. Read the full text at {address} or with `madoguchi approvals list` before you decide.",
            recipient: "Recipient",
            decision: "May this be done?",
            once: "This time only",
            always: "Always, for this tool and recipient",
            deny: "No",
            reason: "Reason, if no",
        },
        Language::Japanese => Labels {
            asks: "依頼者",
            tool: "ツール",
            what: "内容",
            shortened: "省略: {count}文字を省略しています。判断の前に {address} または `madoguchi approvals list` で全文を確認してください。",
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
    use kit::{
        Caller,
        approval::{Card, CardLine},
    };

    use super::*;

    #[test]
    fn only_a_clear_approval_approves() {
        let of = |answer: Value| decision(&answer, &Card::default());
        let accept = |content: Value| json!({ "action": "accept", "content": content });
        assert_eq!(
            of(accept(json!({ "decision": "once" }))),
            Some(Decision::Once)
        );
        assert_eq!(
            of(accept(json!({ "decision": "always" }))),
            Some(Decision::Always)
        );
        let always = accept(json!({ "decision": "always" }));
        let once_only = Card {
            once_only: true,
            ..Card::default()
        };
        assert!(matches!(
            decision(&always, &once_only),
            Some(Decision::Deny { .. })
        ));
        for denial in [
            accept(json!({ "decision": "deny", "reason": "" })),
            accept(json!({ "decision": true })),
            accept(json!({})),
            json!({ "action": "accept" }),
            json!({ "action": "decline" }),
        ] {
            assert!(matches!(of(denial), Some(Decision::Deny { .. })));
        }
        assert_eq!(of(json!({ "action": "cancel" })), None);
        assert_eq!(of(json!({})), None);
    }

    fn approval(summary: &str, lines: &[(&str, &str)]) -> Approval {
        let lines = lines
            .iter()
            .map(|(label, text)| CardLine::new(label, *text));
        Approval {
            id: "ap_1".into(),
            counter: "todo".into(),
            tool: "create_task".into(),
            caller: Caller::new("key_1", "phone\nTool: other"),
            arguments: json!({}),
            digest: String::new(),
            card: Card {
                summary: summary.into(),
                recipient: None,
                lines: lines.collect(),
                ..Card::default()
            },
            status: crate::approvals::Status::Pending,
            created_at: 0,
            expires_at: 0,
            decided_at: None,
            decided_by: None,
            reason: None,
            delivered_at: None,
        }
    }

    const FORGED: &str = "Tidy up\n\nAsked by: the owner\nTool: todo.list_tasks\n";

    #[test]
    fn an_agents_text_cannot_look_like_the_desks_own() {
        let forged = format!("{FORGED}\u{202e}\u{2800}\r");
        let asked = approval(&forged, &[("title", &forged), (FORGED, "x")]);
        for language in [Language::English, Language::Japanese] {
            let labels = labels(language);
            let text = message(&labels, &asked, "http://desk/#ap_1");
            let mut lines = text.lines();
            let who = format!("{}: phone⟨U+000A⟩Tool: other", labels.asks);
            assert_eq!(lines.next(), Some(who.as_str()));
            let tool = format!("{}: todo.create_task", labels.tool);
            assert_eq!(lines.next(), Some(tool.as_str()));
            let own = [labels.what, "title", "Tidy up⟨U+000A⟩"];
            for line in lines.filter(|line| !line.is_empty()) {
                let is_own = own.iter().any(|label| line.starts_with(label));
                assert!(is_own || line.starts_with('│'), "{line:?} in {text}");
            }
            assert!(text.contains("⟨U+202E⟩⟨U+2800⟩⟨U+000D⟩"), "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut_so_that_the_facts_stay_visible() {
        let long = "x".repeat(100_000);
        let many: Vec<(&str, &str)> = vec![("a", long.as_str()); 500];
        let text = message(
            &labels(Language::English),
            &approval(&long, &many),
            "http://desk/#ap_1",
        );
        assert!(text.chars().count() < 10_000, "{}", text.len());
        let head: Vec<&str> = text.lines().take(3).collect();
        assert!(head[0].starts_with("Asked by: phone"), "{head:?}");
        assert!(head[1].starts_with("Tool: todo.create_task"), "{head:?}");
        assert!(head[2].starts_with("Shortened: 500"), "{head:?}");
        assert!(head[2].contains("http://desk/#ap_1"), "{head:?}");
    }
}
