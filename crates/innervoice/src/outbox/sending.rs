//! Sends what is in the outbox.
//!
//! A claim is renewed while its message is being sent. A process that can't renew
//! its claim stops sending before the claim expires, so that no two processes send
//! the same message. Where the store can detect that a process has ended, its
//! claims are taken over at once.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt as _;
use kit::{
    Error, Result, Sql,
    context::Change,
    counter::Announce,
    error::{OUTCOME_UNKNOWN, UNAVAILABLE},
    sql::Budget,
};
use tokio::time::Instant;

use crate::{
    store::outbox::{self, NOTICE, OutboxItem, Outcome},
    worker::{EVERY, Worker, pause_after},
};

/// How long a claim lasts after it is taken or renewed. It exceeds [`LOST`] by more
/// than the clocks of two machines differ.
const CLAIM_MS: i64 = 45_000;
const CLAIM: Duration = Duration::from_millis(CLAIM_MS as u64);
const RENEW: Duration = Duration::from_secs(5);
/// A claim that was not renewed for this long counts as lost.
const LOST: Duration = Duration::from_secs(15);
const ATTEMPT: Duration = Duration::from_secs(90);
/// All tries together, with the waits for a lock, fit into the rest of a claim.
const SETTLE_TRIES: u32 = 4;
/// How many are sent concurrently.
const BATCH: i64 = 8;
/// A message that could not be sent for this long has failed.
pub const GIVE_UP_MS: i64 = 24 * 60 * 60_000;

/// By then the question that a notice is about has lapsed.
const NOTICE_LASTS_MS: i64 = 10 * 60_000;

const LEASE: &str = "innervoice-outbox";

impl Worker {
    /// Sends until it is stopped.
    pub async fn send(self, announce: Announce) {
        let round = || async {
            if self.send_round().await? {
                announce(Change::Page);
            }
            Ok(())
        };
        self.repeat(LEASE, round).await;
    }

    /// Sends everything that is due. Returns whether something changed.
    pub async fn send_round(&self) -> Result<bool> {
        let mut has_changed = false;
        while !self.stop.is_cancelled() {
            let channels = self.state.channels.names();
            let now = self.now();
            let (due, has_run_out, mut holders) = self
                .store()
                .query(Budget::default(), move |sql| {
                    let due = outbox::due(sql, &channels, now, BATCH)?;
                    let has_run_out = outbox::has_run_out(sql, now)?;
                    Ok((due, has_run_out, outbox::holders(sql)?))
                })
                .await?;
            holders.retain(|holder| self.store().is_gone(holder));
            // While the database was away nobody could renew a claim.
            let has_run_out = has_run_out && !self.store().was_away_within(CLAIM);
            let abandoned = has_run_out || !holders.is_empty();
            if (due.is_empty() && !abandoned) || !self.holds(LEASE).await? {
                return Ok(has_changed);
            }
            has_changed = true;
            if abandoned {
                let recover = move |sql: &mut dyn Sql| outbox::recover(sql, &holders, now);
                self.store().transaction(Budget::default(), recover).await?;
                continue;
            }
            let sending = due.iter().map(|id| self.send_one(id));
            for sent in futures::future::join_all(sending).await {
                sent?;
            }
        }
        Ok(has_changed)
    }

    async fn send_one(&self, id: &str) -> Result<()> {
        let now = self.now();
        let (id, holder) = (id.to_owned(), self.holder());
        let claim = move |sql: &mut dyn Sql| outbox::claim(sql, &id, &holder, now, now + CLAIM_MS);
        let claimed = self.store().transaction(Budget::default(), claim).await?;
        let Some(item) = claimed else {
            return Ok(());
        };
        let outcome = self.attempt(&item).await;
        let (now, holder) = (self.now(), self.holder());
        let pause = outcome.pause(pause_after(item.attempts));
        let next = pause.map(|pause| now + pause);
        let settle = Arc::new((item.id, holder, outcome));
        // The outcome has to be stored before the claim expires, or the message counts as
        // not sent. So storing is tried again while the database is busy or away.
        let mut tries = 1;
        loop {
            let settle = Arc::clone(&settle);
            let settle = move |sql: &mut dyn Sql| {
                let (id, holder, outcome) = &*settle;
                outbox::settle(sql, id, holder, outcome, next, now)
            };
            match self.store().transaction(Budget::default(), settle).await {
                Ok(_) => return Ok(()),
                Err(error) if is_away(&error) && !self.stop.is_cancelled() => {}
                Err(error) if tries == SETTLE_TRIES => return Err(error),
                Err(_) => tries += 1,
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn attempt(&self, item: &OutboxItem) -> Outcome {
        let (longest, said) = match item.id.starts_with(NOTICE) {
            true => (NOTICE_LASTS_MS, "It could not be sent in time."),
            false => (GIVE_UP_MS, "It could not be sent for more than a day."),
        };
        if self.now() - item.undo_until > longest {
            return Outcome::Failed(said.into());
        }
        let sending = self.state.channels.send(item, self.clock.now());
        let why = tokio::select! {
            sent = AssertUnwindSafe(sending).catch_unwind() => match sent {
                Ok(outcome) => return outcome,
                Err(_) if item.channel == "sms" => "Sending it failed on our side",
                // A retry would panic again.
                Err(_) => return Outcome::Failed("Sending it failed on our side.".into()),
            },
            () = tokio::time::sleep(ATTEMPT) => "It took too long",
            () = self.until_lost(item) => "The claim on it was lost",
        };
        match item.channel.as_str() {
            "sms" => Outcome::Unknown(format!("{why}; it may have been sent.")),
            _ => Outcome::Retry(format!("{why}.")),
        }
    }

    /// Renews the claim; returns when it is lost.
    async fn until_lost(&self, item: &OutboxItem) {
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(RENEW).await;
            let asked = Instant::now();
            let (id, holder, until) = (item.id.clone(), self.holder(), self.now() + CLAIM_MS);
            let renew = move |sql: &mut dyn Sql| outbox::renew(sql, &id, &holder, until);
            let renewing = self.store().transaction(Budget::default(), renew);
            match tokio::time::timeout_at(renewed + LOST, renewing).await {
                Ok(Ok(true)) => renewed = asked,
                Ok(Err(_)) if renewed.elapsed() < LOST => {}
                Ok(_) | Err(_) => return,
            }
        }
    }
}

/// Whether a later attempt may find the database there.
fn is_away(error: &Error) -> bool {
    error.code == UNAVAILABLE || error.code == OUTCOME_UNKNOWN
}
