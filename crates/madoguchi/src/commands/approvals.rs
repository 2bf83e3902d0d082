//! `madoguchi approvals`: pending approvals and standing grants.

use std::process::ExitCode;

use desk::{
    Settings,
    approvals::{Approval, Approvals, Decision, Grant, Status},
    state::OpenState,
};
use kit::{
    Result,
    text::{visible, visible_lines},
    time::Clock,
};
use serde_json::{Value, json};
use server::console::links;

use super::time;
use crate::{
    cli::{ApprovalsAction, CounterOptions, Global},
    open,
    output::{pretty, print, table},
    runtime::on_one_thread,
};

/// How many approvals are listed.
const NEWEST: i64 = 200;

pub fn run(global: &Global, action: &ApprovalsAction) -> Result<ExitCode> {
    let config = open::configuration(global, &CounterOptions::default())?;
    on_one_thread(async {
        let own = open::own_rows(global, &config);
        let state = own.state().await?;
        let approvals = Approvals::new(&own.state, &Clock::system());
        let text = act(state, &config.settings, &approvals, action).await;
        own.close().await?;
        print(&text?)
    })
}

async fn act(
    state: &OpenState,
    settings: &Settings,
    approvals: &Approvals,
    action: &ApprovalsAction,
) -> Result<String> {
    match action {
        ApprovalsAction::List { pending, json } => {
            let only = pending.then_some(Status::Pending);
            let mut found = approvals.list(only, NEWEST).await?;
            // Pending ones first; within each group, the newest first.
            found.sort_by_key(|approval| approval.status != Status::Pending);
            Ok(if *json {
                pretty(&Value::Array(found.iter().map(described).collect()))
            } else {
                cards(&found)
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
                pretty(&Value::Array(grants.iter().map(grant).collect()))
            } else {
                grants_table(&grants)
            })
        }
        ApprovalsAction::Revoke { id } => {
            approvals.revoke_grant(id).await?;
            Ok("The grant is revoked. The next call asks again.".into())
        }
        ApprovalsAction::Open { port, json } => link(state, settings, *port, *json).await,
    }
}

/// A one-time link to the console of a desk that runs on the same data.
async fn link(
    state: &OpenState,
    settings: &Settings,
    port: Option<u16>,
    as_json: bool,
) -> Result<String> {
    let mut settings = settings.clone();
    settings.http.port = port.unwrap_or(settings.http.port);
    let now = Clock::system().now().as_millisecond();
    let token = links::create(state, now).await?;
    let url = links::address(&settings, &token);
    if as_json {
        let expires_at = time::utc(now + links::LASTS_MS);
        return Ok(pretty(&json!({ "url": url, "expires_at": expires_at })));
    }
    Ok(url)
}

/// Who decided, for the record.
fn user() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("USERNAME"));
    name.map_or_else(
        |_| "the command line".into(),
        |name| format!("{name} (command line)"),
    )
}

fn outcome(approval: &Approval, text: &str, as_json: bool) -> String {
    if as_json {
        return pretty(&described(approval));
    }
    text.to_owned()
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
        "created_at": time::utc(approval.created_at),
        "expires_at": time::utc(approval.expires_at),
        "decided_at": approval.decided_at.map(time::utc),
        "decided_by": approval.decided_by,
        "reason": approval.reason,
    })
}

/// Approvals with everything that a person needs to decide.
fn cards(approvals: &[Approval]) -> String {
    if approvals.is_empty() {
        return "No approvals are pending.".into();
    }
    let cards = approvals.iter().map(|approval| {
        let mut text = format!(
            "{}  {}\n  asked by {}, {}.{}, {}",
            approval.id,
            approval.status.word(),
            visible(&approval.caller.name),
            approval.counter,
            approval.tool,
            time::local(approval.created_at),
        );
        if approval.status == Status::Pending {
            text.push_str(&format!("\n  lapses {}", time::local(approval.expires_at)));
        }
        text.push_str(&format!("\n  {}", visible(&approval.card.summary)));
        if let Some(recipient) = &approval.card.recipient {
            text.push_str(&format!("\n  recipient: {}", visible(recipient)));
        }
        for line in &approval.card.lines {
            text.push_str(&format!(
                "\n  {}: {}",
                visible(&line.label),
                text_of_card(&line.text)
            ));
        }
        if let Some(reason) = &approval.reason {
            text.push_str(&format!("\n  reason: {}", visible(reason)));
        }
        text
    });
    cards.collect::<Vec<_>>().join("\n\n")
}

fn grant(grant: &Grant) -> Value {
    json!({
        "id": grant.id,
        "counter": grant.counter,
        "tool": grant.tool,
        "caller": &*grant.caller.name,
        "caller_id": &*grant.caller.id,
        "recipient": grant.recipient,
        "created_at": time::utc(grant.created_at),
        "granted_by": grant.granted_by,
    })
}

fn grants_table(grants: &[Grant]) -> String {
    if grants.is_empty() {
        return "There are no standing grants.".into();
    }
    let rows = grants.iter().map(|grant| {
        let recipient = match grant.recipient.as_str() {
            "" => "-".to_owned(),
            recipient => visible(recipient),
        };
        [
            grant.id.clone(),
            visible(&grant.caller.name),
            format!("{}.{}", grant.counter, grant.tool),
            recipient,
            time::local(grant.created_at),
        ]
    });
    table(["id", "caller", "tool", "recipient", "since"], rows)
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
