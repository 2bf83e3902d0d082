//! Does the user have to approve this call?
//!
//! Each tool has a policy. If it is `ask`, the user is asked: by the client's own
//! prompt if that is trusted, else in the console or by `madoguchi approvals`, while
//! the call waits for a while. An approval is bound to the caller, the tool, the
//! exact arguments, the recipient, and the state of what the call changes. The work
//! itself uses it, once (`run.rs`).

use std::{sync::Arc, time::Duration};

use kit::{Error, Reply, Result, approval::Card, error::ErrorShape, sql::Budget};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    approvals::{
        Approval, ApprovalHolder, ApprovalQuestion, GrantScope, LAPSES_MS, Status, redemption,
    },
    digest,
    ledger::{self, LedgerEntry},
    served_counter::PreparedTool,
    settings::Policy,
    stations::{audit::OpenRecord, authorize},
};

mod card;
mod client_prompt;
mod outcome;
mod request;

pub use outcome::{ApprovalOutcome, used};
pub use request::ApprovalRequest;

/// For this long after a denial the identical call is denied without asking, so that
/// an agent that retries does not bother the user.
const DENIED_FOR_MS: i64 = 60_000;

/// How often a waiting client gets a progress notification.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// Applies the strictest policy of all tools that the call runs.
pub async fn check(
    request: &ApprovalRequest<'_>,
    record: &mut OpenRecord<'_>,
) -> Result<ApprovalOutcome> {
    request.refuse_denied()?;
    let asks = request.tools().any(|tool| tool.policy() == Policy::Ask);
    if !asks && request.implied_that_ask().is_empty() {
        return Ok(ApprovalOutcome::NotRequired {
            grant: None,
            card: None,
        });
    }
    // Boxed: it is large, and most calls ask nobody.
    let outcome = Box::pin(request.ask(record)).await?;
    // The call may have waited for a while, and a tool may be denied by now.
    request.refuse_denied()?;
    Ok(outcome)
}

impl ApprovalRequest<'_> {
    /// The called tool, and those that its arguments call.
    fn tools(&self) -> impl Iterator<Item = &PreparedTool> {
        let inner = self.others.inner.iter().map(|tool| &***tool);
        std::iter::once(self.tool).chain(inner)
    }

    fn refuse_denied(&self) -> Result<()> {
        let is_denied = |tool: &PreparedTool| tool.policy() == Policy::Deny;
        if let Some(denied) = self.tools().find(|tool| is_denied(tool)) {
            return Err(authorize::denied(denied));
        }
        let mut implied = self.others.implied.iter();
        match implied.find(|implied| is_denied(implied.tool)) {
            Some(denied) => Err(denied.explain(authorize::denied(denied.tool))),
            None => Ok(()),
        }
    }

    async fn ask(&self, record: &mut OpenRecord<'_>) -> Result<ApprovalOutcome> {
        if self.who.is_in_person() {
            // They have just said that they want it. The work still checks that what
            // it changes has not changed meanwhile.
            let (card, _) = self.card_and_grant().await?;
            return Ok(ApprovalOutcome::NotRequired {
                grant: None,
                card: Some(card),
            });
        }
        if let Some(reply) = self.reply_by_idempotency_key().await? {
            return Ok(ApprovalOutcome::Replay {
                approval: None,
                answer: Ok(reply),
            });
        }
        let approvals = &self.desk.approvals;
        let (card, grant) = self.card_and_grant().await?;
        let is_exempt = card.exempt && !self.tool.policy_is_chosen();
        if grant.is_some() || (is_exempt && self.implied_that_ask().is_empty()) {
            let card = Some(card);
            return Ok(ApprovalOutcome::NotRequired { grant, card });
        }
        let question = self.question(card);
        let before = approvals.latest(&question).await?;
        let has_lapsed = before
            .as_ref()
            .is_some_and(|it| it.status == Status::Expired);
        if let Some(before) = before
            && let Some(outcome) = self.settled_before(before, &question.card).await?
        {
            return Ok(outcome);
        }
        // Do not ask for a call whose client has disconnected.
        self.context.check_cancelled()?;
        let approval = approvals.ask(question).await?;
        record.waits();
        let decided = self.decided(approval, has_lapsed).await;
        record.goes_on();
        decided
    }

    /// Waits for the person's decision.
    async fn decided(&self, approval: Approval, has_lapsed: bool) -> Result<ApprovalOutcome> {
        if self.who.trusts_client_prompts()
            && let Some(outcome) = client_prompt::ask(self, &approval).await?
        {
            self.check_card(&approval).await?;
            return Ok(outcome);
        }
        self.hold(approval, has_lapsed).await
    }

    /// A retry with an idempotency key has its answer already, so nobody is asked.
    async fn reply_by_idempotency_key(&self) -> Result<Option<Reply>> {
        let entry = LedgerEntry::new(self.desk, self.served, self.tool, self.arguments);
        let Some(store) = &self.served.counter.store else {
            return Ok(None);
        };
        if !entry.has_key() {
            return Ok(None);
        }
        let caller = self.context.caller.clone();
        let kept = move |sql: &mut dyn kit::Sql| ledger::kept_reply(&entry, &caller, sql);
        store.query(Budget::default(), kept).await
    }

    fn question(&self, card: Card) -> ApprovalQuestion {
        // The same name can later mean somebody else, which is another question.
        let digest = match &card.recipient {
            Some(recipient) => {
                digest::of_json(&json!({ "arguments": self.arguments, "recipient": recipient }))
            }
            None => digest::of_json(self.arguments),
        };
        ApprovalQuestion {
            counter: self.served.counter.about.name,
            tool: self.tool.tool.name,
            caller: self.context.caller.clone(),
            arguments: self.arguments.clone(),
            digest,
            card,
        }
    }

    /// The names of the implied tools for which the user is asked.
    fn implied_that_ask(&self) -> Vec<&'static str> {
        let implied = self.others.implied.iter().map(|implied| implied.tool);
        let asks = implied.filter(|tool| tool.policy() == Policy::Ask);
        asks.map(|tool| tool.listed_name).collect()
    }

    /// The card of this call, and the standing grant that allows it. One query if
    /// both are in one store.
    async fn card_and_grant(&self) -> Result<(Card, Option<String>)> {
        if self.tool.tool.inner_calls.is_some() {
            // No grants: another call of this tool may run other tools.
            return Ok((
                card::of_inner_calls(self.tool, self.context, self.arguments, &self.others.inner),
                None,
            ));
        }
        let implied = self.implied_that_ask();
        if !implied.is_empty() {
            return Ok((card::with_implied(self.card().await?, &implied), None));
        }
        let granted = GrantScope {
            caller: Arc::clone(&self.context.caller.id),
            counter: self.served.counter.about.name,
            tool: self.tool.tool.name,
        };
        if let (Some(describe), Some(store)) = (&self.tool.tool.card, &self.served.counter.store)
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

    /// The outcome of an earlier question about the same call, if it still applies.
    /// `card` is what would be asked now.
    async fn settled_before(
        &self,
        before: Approval,
        card: &Card,
    ) -> Result<Option<ApprovalOutcome>> {
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
                ApprovalHolder::None => {}
                ApprovalHolder::Waiting => return Ok(None),
                // Its work goes on to the end, and this call gets the answer.
                ApprovalHolder::Disconnected(over) => tokio::select! {
                    () = over.cancelled() => {}
                    () = self.context.cancel.cancelled() => return Err(Error::cancelled()),
                },
            }
            // The store of the work knows whether it was used.
            let mut redeemed = self.redeemed(&before).await?;
            if let Some(None) = redeemed {
                // A call may have started to use it after the check above. If none uses it
                // now, its answer is there, if there is one.
                if !matches!(approvals.holder(&before), ApprovalHolder::None) {
                    continue;
                }
                redeemed = self.redeemed(&before).await?;
            }
            return match redeemed {
                Some(Some(answer)) => {
                    // If a call started to use it after the check above, the answer
                    // belongs to that call.
                    let in_use = approvals.start_use_if_free(&before.id, &self.context.cancel);
                    Ok(in_use.map(|in_use| ApprovalOutcome::Replay {
                        approval: Some(in_use),
                        answer: redemption::answer(answer),
                    }))
                }
                Some(None) => Err(outcome::unknown_outcome(&before)),
                // The object has changed since the approval, which is another question.
                None if before.card.state != card.state => Ok(None),
                None if before.status == Status::Approved => {
                    Ok(Some(ApprovalOutcome::Approved(Box::new(before))))
                }
                None => Ok(None),
            };
        }
    }

    async fn redeemed(&self, approval: &Approval) -> Result<Option<Option<String>>> {
        let store = match &self.served.counter.store {
            Some(store) if self.tool.tool.run.is_transaction() => store,
            _ => &self.desk.state.get().await?.store,
        };
        let id = approval.id.clone();
        store
            .query(Budget::default(), move |sql| redemption::find(sql, &id))
            .await
    }

    /// Waits for a decision, up to `hold_seconds`. The question stays afterwards.
    /// `has_lapsed`: the same question was asked before, and nobody answered.
    async fn hold(&self, approval: Approval, has_lapsed: bool) -> Result<ApprovalOutcome> {
        let approvals = &self.desk.approvals;
        let mut changes = approvals.changes();
        let started = Instant::now();
        let hold = Duration::from_secs(self.desk.settings.approval.hold_seconds);
        let mut next_progress = started;
        loop {
            changes.borrow_and_update();
            let now = approvals.get(&approval.id).await?;
            if let Some(outcome) = outcome::settled(&now)? {
                // The client may have disconnected at the same moment.
                self.context.check_cancelled()?;
                self.check_card(&now).await?;
                return Ok(outcome);
            }
            if started.elapsed() >= hold || self.desk.stopping.is_cancelled() {
                return Err(outcome::pending(&outcome::Pending {
                    approval: &now,
                    tool: self.tool.listed_name,
                    address: &self.address(&now),
                    is_read_out: self.served.error_shape() == ErrorShape::Flat,
                    has_lapsed,
                }));
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
