//! Sends what is in the outbox, and fires reminders.
//!
//! Both look with a cheap read whether anything is due; only then is the lease
//! taken that says which process does it. The rows decide in any case: a
//! message is claimed, a reminder moved on, by an `UPDATE` that only one wins.
//!
//! A claim is renewed while its message is being sent. Whoever can't renew it
//! breaks the sending off before the claim runs out, so that nobody sends what
//! another has taken over. Where the store can tell that a process has ended,
//! what it was doing is taken over at once.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt as _;
use kit::{Presence, Result, Sql, Store, counter::Announce, lease, sql::Budget, time::Clock};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    reminders,
    store::outbox::{self, Item, Outcome},
    voice::Voice,
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
/// It only spares work, so nobody has to wait for it long.
const LEASE_MS: i64 = 5_000;
const EVERY: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// What is sent at once.
const BATCH: i64 = 8;
const FIRST_RETRY_MS: i64 = 2_000;
const LONGEST_RETRY_MS: i64 = 10 * 60_000;
/// After so long nobody expects a message any more.
pub const GIVE_UP_MS: i64 = 24 * 60 * 60_000;

pub struct Worker {
    voice: Arc<Voice>,
    clock: Clock,
    presence: Arc<Presence>,
    /// Cancelled when nothing new is to be begun.
    stop: CancellationToken,
}

impl Worker {
    pub fn new(
        voice: &Arc<Voice>,
        clock: &Clock,
        presence: &Arc<Presence>,
        stop: &CancellationToken,
    ) -> Self {
        Self {
            voice: Arc::clone(voice),
            clock: clock.clone(),
            stop: stop.clone(),
            presence: Arc::clone(presence),
        }
    }

    /// Sends until it is stopped.
    pub async fn send(self) {
        self.repeat("innervoice-outbox", || self.send_round()).await;
    }

    /// Fires reminders until it is stopped.
    pub async fn remind(self, announce: Announce) {
        self.repeat("innervoice-reminders", || self.remind_round(&announce))
            .await;
    }

    async fn repeat<F: Future<Output = Result<()>>>(
        &self,
        lease: &'static str,
        round: impl Fn() -> F,
    ) {
        let mut pause = EVERY;
        loop {
            // A round is never broken off: a message half sent would be a claim
            // that has to run out first.
            // Nor does one that panics end the work for all that come after it.
            pause = match AssertUnwindSafe(round()).catch_unwind().await {
                Ok(Ok(())) => EVERY,
                Ok(Err(error)) => {
                    tracing::warn!(%error, cause = ?error.cause, lease, "a round failed");
                    (pause * 2).min(LONGEST_PAUSE)
                }
                Err(_) => {
                    tracing::error!(lease, "a round panicked");
                    (pause * 2).min(LONGEST_PAUSE)
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.stop.cancelled() => break,
            }
        }
        let holder = self.holder();
        let given_back = self
            .store()
            .transaction(Budget::default(), move |sql| {
                lease::release(sql, lease, &holder)
            })
            .await;
        if let Err(error) = given_back {
            tracing::warn!(%error, lease, "a lease was not given back; it runs out by itself");
        }
    }

    fn store(&self) -> &Arc<dyn Store> {
        &self.voice.store
    }

    fn now(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    fn holder(&self) -> String {
        self.presence.name().to_owned()
    }

    async fn holds(&self, name: &'static str) -> Result<bool> {
        let (holder, now) = (self.presence.name(), self.now());
        lease::take(self.store(), name, holder, now, LEASE_MS).await
    }

    /// Everything that is due is sent once.
    pub async fn send_round(&self) -> Result<()> {
        while !self.stop.is_cancelled() {
            let channels = self.voice.channels.names();
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
            if (due.is_empty() && !abandoned) || !self.holds("innervoice-outbox").await? {
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
        let sending = self.voice.channels.send(item, self.clock.now());
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

    /// Everything that is due fires once.
    pub async fn remind_round(&self, announce: &Announce) -> Result<()> {
        loop {
            let now = self.now();
            let is_due = move |sql: &mut dyn Sql| reminders::is_due(sql, now);
            let due = self.store().query(Budget::default(), is_due).await?;
            if !due || !self.holds("innervoice-reminders").await? {
                return Ok(());
            }
            let voice = Arc::clone(&self.voice);
            let fire = move |sql: &mut dyn Sql| reminders::fire(&voice, sql, now);
            let fired = self.store().transaction(Budget::default(), fire).await?;
            if fired > 0 {
                announce(kit::context::Change::Resource(
                    crate::resources::REMINDERS.into(),
                ));
            }
        }
    }
}

/// Two seconds, four, eight, …, ten minutes.
fn pause_after(attempts: i64) -> i64 {
    let doublings = u32::try_from(attempts.saturating_sub(1))
        .unwrap_or(0)
        .min(20);
    FIRST_RETRY_MS
        .saturating_mul(1_i64 << doublings)
        .min(LONGEST_RETRY_MS)
}
