//! Sends what is in the outbox.
//!
//! A claim is renewed while its message is being sent. Whoever can't renew it
//! breaks the sending off before the claim runs out, so that nobody sends what
//! another has taken over. Where the store can tell that a process has ended,
//! what it was doing is taken over at once.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt as _;
use kit::{Result, Sql, sql::Budget};
use tokio::time::Instant;

use crate::{
    store::outbox::{self, Item, Outcome},
    worker::{EVERY, Worker, pause_after},
};

/// How long whoever sends something answers for it, counted anew each time the
/// claim is renewed. Longer than [`LOST`] by more than clocks differ.
const CLAIM_MS: i64 = 45_000;
const RENEW: Duration = Duration::from_secs(5);
/// A claim that was not renewed for so long may soon be somebody else's.
const LOST: Duration = Duration::from_secs(15);
const ATTEMPT: Duration = Duration::from_secs(90);
/// Together shorter than what is left of a claim, with all the waiting for a lock.
const SETTLE_TRIES: u32 = 4;
/// What is sent at once.
const BATCH: i64 = 8;
/// After so long nobody expects a message any more.
pub const GIVE_UP_MS: i64 = 24 * 60 * 60_000;

const LEASE: &str = "innervoice-outbox";

impl Worker {
    /// Sends until it is stopped.
    pub async fn send(self) {
        self.repeat(LEASE, || self.send_round()).await;
    }

    /// Everything that is due is sent once.
    pub async fn send_round(&self) -> Result<()> {
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
            let abandoned = has_run_out || !holders.is_empty();
            if (due.is_empty() && !abandoned) || !self.holds(LEASE).await? {
                return Ok(());
            }
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
        Ok(())
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
        let next = now + pause_after(item.attempts);
        let settle = Arc::new((item.id, holder, outcome));
        // What is not written down is taken for not sent once the claim has run
        // out, so a database that is busy is asked again.
        let mut tries = 1;
        loop {
            let settle = Arc::clone(&settle);
            let settle = move |sql: &mut dyn Sql| {
                let (id, holder, outcome) = &*settle;
                outbox::settle(sql, id, holder, outcome, next, now)
            };
            match self.store().transaction(Budget::default(), settle).await {
                Ok(_) => return Ok(()),
                Err(error) if tries == SETTLE_TRIES => return Err(error),
                Err(_) => tries += 1,
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn attempt(&self, item: &Item) -> Outcome {
        let is_too_old = |now: i64| now - item.undo_until > GIVE_UP_MS;
        if is_too_old(self.now()) {
            return Outcome::Failed("It could not be sent for more than a day.".into());
        }
        let sending = self.state.channels.send(item, self.clock.now());
        let why = tokio::select! {
            sent = AssertUnwindSafe(sending).catch_unwind() => match sent {
                Ok(outcome) => return outcome,
                Err(_) if item.channel == "sms" => "Sending it failed on our side",
                // It would only happen again.
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

    /// Renews the claim; ends when that can't be done.
    async fn until_lost(&self, item: &Item) {
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
