//! The client's own prompt as the channel: `elicitation/create`, asked while the
//! call runs or, in the stateless era, between two rounds of it.

use kit::{
    Reply, Result,
    approval::Card,
    context::{ClientRequest, Language},
    text::{cut, visible, visible_lines},
};
use serde_json::{Value, json};

use super::{
    asking::Asking,
    outcome::{Leave, settled},
};
use crate::approvals::{Approval, Decision};

/// Characters of one text, of one label, and of all texts together; and how many
/// texts there are. A prompt can't be scrolled in every client.
const LONGEST_TEXT: usize = 1_500;
const LONGEST_LABEL: usize = 100;
const MOST_SHOWN: usize = 4_000;
const MOST_LINES: usize = 60;

/// Under this name the answer comes back in the stateless era.
const ANSWER: &str = "approval";
/// What the sealed state says, before the approval's id.
const STATE: &str = "approval:";

/// `None` when the prompt settled nothing, so that another channel has to.
pub async fn ask(asking: &Asking<'_>, approval: &Approval) -> Result<Option<Leave>> {
    let client = &asking.context.client;
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
            Some(answer) => answered(asking, approval, &answer).await,
            None => Ok(Some(Leave::Ask(Reply::InputRequired {
                requests: vec![(ANSWER.to_owned(), request(asking, approval))],
                state: Some(format!("{STATE}{}", approval.id)),
            }))),
        };
    }
    let approvals = &asking.desk.approvals;
    let mut changes = approvals.changes();
    let mut asked = client.request(request(asking, approval));
    loop {
        changes.borrow_and_update();
        // It may be decided in the console meanwhile.
        if let Some(leave) = settled(&approvals.get(&approval.id).await?)? {
            return Ok(Some(leave));
        }
        let left = approval.expires_at - asking.desk.clock.now().as_millisecond();
        let left = std::time::Duration::from_millis(u64::try_from(left).unwrap_or(0) + 1);
        tokio::select! {
            answer = &mut asked => return match answer {
                Ok(answer) => answered(asking, approval, &answer).await,
                Err(error) => {
                    tracing::info!(cause = ?error.cause, "the client did not ask its user");
                    Ok(None)
                }
            },
            _ = changes.changed() => {}
            () = tokio::time::sleep(left) => {}
            () = asking.context.cancel.cancelled() => return Err(kit::Error::cancelled()),
        }
    }
}

async fn answered(
    asking: &Asking<'_>,
    approval: &Approval,
    answer: &Value,
) -> Result<Option<Leave>> {
    match decision(answer, &approval.card) {
        Some(decision) => decided(asking, approval, decision).await,
        None => Ok(None),
    }
}

/// What the user's answer leads to.
async fn decided(
    asking: &Asking<'_>,
    approval: &Approval,
    decision: Decision,
) -> Result<Option<Leave>> {
    let approvals = &asking.desk.approvals;
    let by = format!("the prompt of {}", asking.context.caller.name);
    match approvals.decide(&approval.id, decision, &by).await {
        Ok(approval) => settled(&approval),
        // Somebody else was quicker: what they said holds.
        Err(error) if matches!(&*error.code, "ALREADY_DECIDED" | "APPROVAL_EXPIRED") => {
            settled(&approvals.get(&approval.id).await?)
        }
        Err(error) => Err(error),
    }
}

/// `None` when the user closed the prompt without an answer. What was not offered
/// is a no.
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

fn request(asking: &Asking<'_>, approval: &Approval) -> ClientRequest {
    let words = words(asking.context.language);
    let message = message(&words, approval, &asking.address(approval));
    let mut choices = vec![json!({ "const": "once", "title": words.once })];
    if approval.card.allows_standing_grant() {
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

/// What the desk knows stands first; then what the agent wrote, marked so that no
/// part of it looks like the desk's, and no longer than a prompt can show.
fn message(words: &Words, approval: &Approval, address: &str) -> String {
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
    let mut text = part(words.what, &card.summary);
    if let Some(recipient) = &card.recipient {
        text.push_str(&part(words.recipient, recipient));
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
        words.asks,
        visible(cut(&approval.caller.name, LONGEST_LABEL).0),
        words.tool,
        approval.counter,
        approval.tool
    );
    if left_out > 0 {
        facts.push('\n');
        facts.push_str(
            &words
                .shortened
                .replace("{count}", &left_out.to_string())
                .replace("{address}", address),
        );
    }
    format!("{facts}\n{text}")
}

struct Words {
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

fn words(language: Language) -> Words {
    match language {
        Language::English => Words {
            asks: "Asked by",
            tool: "Tool",
            what: "What",
            shortened: "Shortened: {count} characters are left out here. See all of it at {address} or with `madoguchi approvals list` before you decide.",
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
        approval::{Card, Line},
    };

    use super::*;

    #[test]
    fn only_a_plain_yes_is_a_yes() {
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

    fn approval(summary: &str, lines: &[(&str, &str)]) -> Approval {
        let lines = lines.iter().map(|(label, text)| Line::new(label, *text));
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
    fn an_agents_text_cannot_look_like_the_desks() {
        let forged = format!("{FORGED}\u{202e}\u{2800}\r");
        let asked = approval(&forged, &[("title", &forged), (FORGED, "x")]);
        for language in [Language::English, Language::Japanese] {
            let words = words(language);
            let text = message(&words, &asked, "http://desk/#ap_1");
            let mut lines = text.lines();
            let who = format!("{}: phone⟨U+000A⟩Tool: other", words.asks);
            assert_eq!(lines.next(), Some(who.as_str()));
            let tool = format!("{}: todo.create_task", words.tool);
            assert_eq!(lines.next(), Some(tool.as_str()));
            let own = [words.what, "title", "Tidy up⟨U+000A⟩"];
            for line in lines.filter(|line| !line.is_empty()) {
                let is_own = own.iter().any(|label| line.starts_with(label));
                assert!(is_own || line.starts_with('│'), "{line:?} in {text}");
            }
            assert!(text.contains("⟨U+202E⟩⟨U+2800⟩⟨U+000D⟩"), "{text}");
        }
    }

    #[test]
    fn a_long_text_leaves_the_facts_in_sight() {
        let long = "x".repeat(100_000);
        let many: Vec<(&str, &str)> = vec![("a", long.as_str()); 500];
        let text = message(
            &words(Language::English),
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
