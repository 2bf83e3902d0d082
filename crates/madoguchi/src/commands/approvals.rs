//! `madoguchi approvals`: pending approvals and standing grants.

mod open_console;

use std::process::ExitCode;

use desk::approvals::{Approval, Approvals, Decision, Grant, Status};
use kit::{
    Result,
    context::Language,
    text::{visible, visible_lines},
};
use serde_json::{Value, json};

use crate::{
    cli::{ApprovalsAction, CounterOptions, Global},
    config::Config,
    locale::{self, pick},
    open::{self, OwnRows},
    output::{Cell, Look, Styled, pretty, table},
    runtime::on_one_thread,
};

/// How many approvals are listed.
const NEWEST: i64 = 200;

pub fn run(global: &Global, action: &ApprovalsAction) -> Result<ExitCode> {
    let config = open::configuration(global, &CounterOptions::default())?;
    on_one_thread(async {
        let own = open::own_rows(global, &config);
        let text = act(global, &config, &own, action).await;
        own.close().await?;
        text?.print()
    })
}

async fn act(
    global: &Global,
    config: &Config,
    own: &OwnRows,
    action: &ApprovalsAction,
) -> Result<Styled> {
    let clock = own.state().await?.store.clock();
    let approvals = Approvals::new(&own.state, &clock);
    match action {
        ApprovalsAction::List { pending, json } => {
            let only = pending.then_some(Status::Pending);
            let mut found = approvals.list(only, NEWEST).await?;
            // Pending ones first; within each group, the newest first.
            found.sort_by_key(|approval| approval.status != Status::Pending);
            Ok(if *json {
                pretty(&Value::Array(found.iter().map(described).collect())).into()
            } else {
                cards(&found, clock.now().as_millisecond())
            })
        }
        ApprovalsAction::Approve { id, always, json } => {
            let decision = if *always {
                Decision::Always
            } else {
                Decision::Once
            };
            let approval = approvals.decide(id, decision, &user()).await?;
            let text = "Approved. The call continues, or runs when the agent repeats it.";
            Ok(outcome(&approval, text, *json))
        }
        ApprovalsAction::Deny { id, reason, json } => {
            let reason = reason.clone().unwrap_or_default();
            let decision = Decision::Deny { reason };
            let approval = approvals.decide(id, decision, &user()).await?;
            Ok(outcome(&approval, "Denied.", *json))
        }
        ApprovalsAction::Grants { json } => {
            let grants = approvals.grants().await?;
            Ok(if *json {
                pretty(&Value::Array(grants.iter().map(grant).collect())).into()
            } else {
                grants_table(&grants)
            })
        }
        ApprovalsAction::Revoke { id, json } => {
            approvals.revoke_grant(id).await?;
            Ok(if *json {
                pretty(&json!({ "id": id, "revoked": true })).into()
            } else {
                "The grant is revoked. The next call asks again.".into()
            })
        }
        ApprovalsAction::Open { port, json } => {
            open_console::links(global, config, own, *port, *json).await
        }
    }
}

/// Who decided, for the record.
fn user() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("USERNAME"));
    name.map_or_else(
        |_| "the command line".into(),
        |name| format!("{name} (command line)"),
    )
}

fn outcome(approval: &Approval, text: &str, as_json: bool) -> Styled {
    if as_json {
        return pretty(&described(approval)).into();
    }
    text.into()
}

fn described(approval: &Approval) -> Value {
    json!({
        "id": approval.id,
        "counter": approval.counter,
        "tool": approval.tool,
        "arguments": approval.arguments,
        "caller": &*approval.caller.name,
        "caller_id": &*approval.caller.id,
        "summary": approval.card.summary,
        "recipient": approval.card.recipient,
        "lines": approval.card.lines,
        "status": approval.status,
        "created_at": locale::utc(approval.created_at),
        "expires_at": locale::utc(approval.expires_at),
        "decided_at": approval.decided_at.map(locale::utc),
        "decided_by": approval.decided_by,
        "reason": approval.reason,
    })
}

/// Approvals with everything that a person needs to decide.
fn cards(approvals: &[Approval], now: i64) -> Styled {
    if approvals.is_empty() {
        return pick("No approvals are pending.", "承認待ちはありません。").into();
    }
    let mut text = Styled::default();
    for (number, approval) in approvals.iter().enumerate() {
        if number > 0 {
            text.plain("\n\n");
        }
        card(&mut text, approval, now);
    }
    text
}

fn card(text: &mut Styled, approval: &Approval, now: i64) {
    let look = match approval.status {
        Status::Pending => Look::Action,
        Status::Approved | Status::Used => Look::Good,
        Status::Denied => Look::Bad,
        Status::Expired => Look::Dim,
    };
    let when = |at| format!("{} ({})", locale::written(at), locale::distance(at, now));
    let (caller, created) = (visible(&approval.caller.name), when(approval.created_at));
    let tool = format!("{}.{}", approval.counter, approval.tool);
    text.add(Look::Bold, &approval.id)
        .plain("  ")
        .add(look, approval.status.word())
        .plain(&match locale::language() {
            Language::English => format!("\n  asked by {caller}, {tool}, {created}"),
            Language::Japanese => format!("\n  依頼元: {caller}、{tool}、{created}"),
        });
    if approval.status == Status::Pending {
        let expires = when(approval.expires_at);
        text.plain(&format!("\n  {} {expires}", pick("lapses", "期限:")));
    }
    text.plain("\n  ")
        .add(Look::Bold, &visible(&approval.card.summary));
    if let Some(recipient) = &approval.card.recipient {
        let label = pick("recipient", "相手");
        text.plain(&format!("\n  {label}: {}", visible(recipient)));
    }
    for line in &approval.card.lines {
        let (label, content) = (visible(&line.label), text_of_card(&line.text));
        text.plain(&format!("\n  {label}: {content}"));
    }
    if let Some(reason) = &approval.reason {
        let label = pick("reason", "理由");
        text.plain(&format!("\n  {label}: {}", visible(reason)));
    }
    if approval.status == Status::Pending {
        let approve = format!("madoguchi approvals approve {}", approval.id);
        text.plain("\n  → ").add(Look::Action, &approve);
    }
}

fn grant(grant: &Grant) -> Value {
    json!({
        "id": grant.id,
        "counter": grant.counter,
        "tool": grant.tool,
        "caller": &*grant.caller.name,
        "caller_id": &*grant.caller.id,
        "recipient": grant.recipient,
        "created_at": locale::utc(grant.created_at),
        "granted_by": grant.granted_by,
    })
}

fn grants_table(grants: &[Grant]) -> Styled {
    if grants.is_empty() {
        return pick(
            "There are no standing grants.",
            "常に許可する設定はありません。",
        )
        .into();
    }
    let rows = grants.iter().map(|grant| {
        let recipient = match grant.recipient.as_str() {
            "" => "-",
            recipient => recipient,
        };
        [
            Cell::new(Look::Bold, &grant.id),
            Cell::from(&*grant.caller.name),
            format!("{}.{}", grant.counter, grant.tool).into(),
            recipient.into(),
            locale::written(grant.created_at).into(),
        ]
    });
    let head = match locale::language() {
        Language::English => ["id", "caller", "tool", "recipient", "since"],
        Language::Japanese => ["ID", "依頼元", "ツール", "相手", "許可日時"],
    };
    table(head, rows)
}

/// A text on a card. Agents write these, so none of their lines may look like a
/// line of the card itself.
fn text_of_card(text: &str) -> String {
    visible_lines(text, "    │ ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_card_cannot_lie() {
        assert_eq!(super::text_of_card("a\u{1b}[2Kb"), "a⟨U+001B⟩[2Kb");
        assert_eq!(super::text_of_card("一行\n二行"), "一行\n    │ 二行");
    }
}
