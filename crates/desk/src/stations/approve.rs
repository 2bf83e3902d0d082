//! Does the user have to say yes first?
//!
//! The policy decides per tool. Where it says `ask`, a person is asked: by the
//! client's own prompt where that can be trusted, else in the console or by
//! `madoguchi approvals`, while the call is held for a while. An approval is
//! bound to the caller, the tool, a digest of the exact arguments and the
//! recipient they meant, and the state of what they change. It is used once, by
//! the work itself (`run.rs`).

use std::{sync::Arc, time::Duration};

use kit::{Error, Reply, Result, approval::Card, sql::Budget};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    approvals::{Approval, Granted, Holder, LAPSES_MS, Question, Status, redemption},
    digest,
    ledger::{self, Entry},
    settings::Policy,
    stations::authorize,
};

mod asking;
mod card;
mod outcome;
mod prompt;

pub use asking::Asking;
pub use outcome::{Leave, used};

/// A denial answers the identical call for this long by itself, so that an agent
/// that tries again does not ask again.
const DENIED_FOR_MS: i64 = 60_000;

/// How often a client that waits is told so.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// The strictest policy of all the tools that the call runs holds for it.
pub async fn check(asking: &Asking<'_>) -> Result<Leave> {
    let inner = asking.inner.iter().map(|tool| &***tool);
    let mut tools = std::iter::once(asking.tool).chain(inner);
    if let Some(denied) = tools.clone().find(|tool| tool.policy == Policy::Deny) {
        return Err(authorize::denied(denied));
    }
    match tools.any(|tool| tool.policy == Policy::Ask) {
        // Boxed: it is large, and most calls ask nobody.
        true => Box::pin(asking.ask()).await,
        false => Ok(Leave::Free {
            grant: None,
            card: None,
        }),
    }
}

impl Asking<'_> {
    async fn ask(&self) -> Result<Leave> {
        if let Some(reply) = self.done_under_its_key().await? {
            return Ok(Leave::Again {
                approval: None,
                answer: Ok(reply),
            });
        }
        let approvals = &self.desk.approvals;
        let (card, grant) = self.card_and_grant().await?;
        if grant.is_some() || (card.exempt && !self.tool.policy_is_configured) {
            let card = Some(card);
            return Ok(Leave::Free { grant, card });
        }
        let question = self.question(card);
        if let Some(before) = approvals.latest(&question).await?
            && let Some(leave) = self.settled_before(before, &question.card).await?
        {
            return Ok(leave);
        }
        // Nobody is asked for a call whose client has gone.
        self.context.check_cancelled()?;
        let approval = approvals.ask(question).await?;
        if self.who.trusts_client_prompts()
            && let Some(leave) = prompt::ask(self, &approval).await?
        {
            self.check_card(&approval).await?;
            return Ok(leave);
        }
        self.hold(approval).await
    }

    /// A retry with an idempotency key asks nobody: its answer is there.
    async fn done_under_its_key(&self) -> Result<Option<Reply>> {
        let entry = Entry::new(self.desk, self.window, self.tool, self.arguments);
        let Some(store) = &self.window.counter.store else {
            return Ok(None);
        };
        if !entry.has_key() {
            return Ok(None);
        }
        let caller = self.context.caller.clone();
        let kept = move |sql: &mut dyn kit::Sql| ledger::kept(&entry, &caller, sql);
        store.query(Budget::default(), kept).await
    }

    fn question(&self, card: Card) -> Question {
        // The same name can come to mean somebody else: that is another question.
        let digest = match &card.recipient {
            Some(recipient) => {
                digest::of_json(&json!({ "arguments": self.arguments, "recipient": recipient }))
            }
            None => digest::of_json(self.arguments),
        };
        Question {
            counter: self.window.counter.about.name,
            tool: self.tool.tool.name,
            caller: self.context.caller.clone(),
            arguments: self.arguments.clone(),
            digest,
            card,
        }
    }

    /// What is asked, and the standing grant that answers it: with one look where
    /// both are in one store.
    async fn card_and_grant(&self) -> Result<(Card, Option<String>)> {
        if self.tool.tool.inner_calls.is_some() {
            // What the next one runs is not known, so no grant holds for it.
            return Ok((
                card::of_inner_calls(self.tool, self.arguments, self.inner),
                None,
            ));
        }
        let granted = Granted {
            caller: Arc::clone(&self.context.caller.id),
            counter: self.window.counter.about.name,
            tool: self.tool.tool.name,
        };
        if let (Some(describe), Some(store)) = (&self.tool.tool.card, &self.window.counter.store)
            && self.desk.keeps_rows_in(store)
        {
            let (describe, context) = (describe.clone(), self.context.clone());
            let arguments = self.arguments.clone();
            let read = move |sql: &mut dyn kit::Sql| {
                let card = describe(&context, sql, &arguments)?;
                let grant = granted.find(sql, &card)?;
                Ok((card, grant))
            };
            return store.query(Budget::default(), read).await;
        }
        let card = self.card().await?;
        let grant = self.desk.approvals.granted(granted, &card).await?;
        Ok((card, grant))
    }

    /// What an earlier question about the same call leads to, if anything. `card`
    /// is what it would ask now.
    async fn settled_before(&self, before: Approval, card: &Card) -> Result<Option<Leave>> {
        let now = self.desk.clock.now().as_millisecond();
        if before.status == Status::Denied {
            let fresh = before.decided_at.is_some_and(|at| now - at < DENIED_FOR_MS);
            return if fresh {
                Err(outcome::denied(&before))
            } else {
                Ok(None)
            };
        }
        let was_approved = before.decided_at.is_some();
        if !was_approved || before.expires_at + LAPSES_MS <= now {
            return Ok(None);
        }
        let approvals = &self.desk.approvals;
        loop {
            match approvals.holder(&before) {
                Holder::Nobody => {}
                Holder::Waits => return Ok(None),
                // What it began goes on to its end, and this call gets the answer.
                Holder::Gone(over) => tokio::select! {
                    () = over.cancelled() => {}
                    () = self.context.cancel.cancelled() => return Err(Error::cancelled()),
                },
            }
            // Whether it was used is for the work's own store to say.
            return match self.redeemed(&before).await? {
                Some(Some(answer)) => {
                    // Done since it was asked whether somebody has it: then the answer is theirs.
                    let in_hand = approvals.take_if_free(&before.id, &self.context.cancel);
                    Ok(in_hand.map(|in_hand| Leave::Again {
                        approval: Some(in_hand),
                        answer: redemption::answer(answer),
                    }))
                }
                // Begun since then.
                Some(None) if !matches!(approvals.holder(&before), Holder::Nobody) => continue,
                Some(None) => Err(outcome::unknown_outcome(&before)),
                // What was approved has since become something else: that is another question.
                None if before.card.state != card.state => Ok(None),
                None if before.status == Status::Approved => {
                    Ok(Some(Leave::Approved(Box::new(before))))
                }
                None => Ok(None),
            };
        }
    }

    async fn redeemed(&self, approval: &Approval) -> Result<Option<Option<String>>> {
        let store = match &self.window.counter.store {
            Some(store) if self.tool.tool.run.is_transaction() => store,
            _ => &self.desk.state.get().await?.store,
        };
        let id = approval.id.clone();
        store
            .query(Budget::default(), move |sql| redemption::find(sql, &id))
            .await
    }

    /// Waits for a person, for a while. The question stays when the wait ends.
    async fn hold(&self, approval: Approval) -> Result<Leave> {
        let approvals = &self.desk.approvals;
        let mut changes = approvals.changes();
        let started = Instant::now();
        let hold = Duration::from_secs(self.desk.settings.approval.hold_seconds);
        let mut next_progress = started;
        loop {
            changes.borrow_and_update();
            let now = approvals.get(&approval.id).await?;
            if let Some(leave) = outcome::settled(&now)? {
                // The client may have gone in the very moment the answer came.
                self.context.check_cancelled()?;
                self.check_card(&now).await?;
                return Ok(leave);
            }
            if started.elapsed() >= hold || self.desk.stopping.is_cancelled() {
                let name = self.tool.listed_name;
                return Err(outcome::pending(&now, name, &self.address(&now)));
            }
            if Instant::now() >= next_progress {
                next_progress += PROGRESS_EVERY;
                let message = format!("Waiting for the user's approval: {}", self.address(&now));
                let client = &self.context.client;
                client
                    .progress(
                        started.elapsed().as_secs_f64(),
                        Some(hold.as_secs_f64()),
                        Some(message),
                    )
                    .await;
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = tokio::time::sleep_until(next_progress.min(started + hold)) => {}
                () = self.desk.stopping.cancelled() => {}
                () = self.context.cancel.cancelled() => return Err(Error::cancelled()),
            }
        }
    }
}
