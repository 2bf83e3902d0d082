//! Work beside the calls: tells subscribers when a hold expires, offers its seats to those
//! who wait for them, and deletes old holds.

use std::{sync::Arc, time::Duration};

use kit::{
    BoxFuture, Context, Result,
    context::Change,
    counter::{Announce, Background},
    sql::Budget,
    time::Clock,
};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    state::{CounterState, MINUTE},
    store, tickets, uris, waiting,
};

/// How often seats are looked for while somebody waits.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often to look whether somebody waits. Parties that join through this process
/// wake the work up.
const IDLE: Duration = Duration::from_secs(15);
/// How long the call of a party that joined takes at most to be committed.
const COMMITTED: Duration = Duration::from_millis(200);
const DELETE_EVERY: Duration = Duration::from_secs(600);
/// How long an expired hold can be looked up.
const REMEMBERED: i64 = 24 * 60 * MINUTE;

pub struct BackgroundWork {
    state: Arc<CounterState>,
    stop: CancellationToken,
}

impl BackgroundWork {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
            stop: CancellationToken::new(),
        }
    }
}

impl Background for BackgroundWork {
    fn start(&self, announce: Announce) {
        let (state, stop) = (Arc::clone(&self.state), self.stop.clone());
        tokio::spawn(async move {
            let work = run(&state, &announce);
            tokio::select! {
                () = work => {}
                () = stop.cancelled() => {}
            }
        });
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.stop.cancel();
        Box::pin(std::future::ready(()))
    }
}

async fn run(state: &Arc<CounterState>, announce: &Announce) {
    let clock = state.store.clock();
    // From here on every booking has a ticket, and signing needs no query.
    if let Err(error) = tickets::key(state, &Context::of_the_desk(clock.clone())).await {
        tracing::warn!(%error, cause = ?error.cause, "there is no key for tickets yet");
    }
    let mut next_deletion = Instant::now();
    let mut told_until = clock.now().as_millisecond();
    loop {
        let next_expiry = match announce_expired(state, &clock, announce, &mut told_until).await {
            Ok(pause) => pause,
            Err(error) => {
                tracing::warn!(%error, cause = ?error.cause, "expired holds could not be read");
                IDLE
            }
        };
        let pause = match serve_waiting(state, &clock, announce).await {
            Ok(true) => LOOK_EVERY,
            Ok(false) => IDLE,
            Err(error) => {
                tracing::warn!(%error, cause = ?error.cause, "the waiting lists could not be served");
                IDLE
            }
        };
        if Instant::now() >= next_deletion {
            next_deletion = Instant::now() + DELETE_EVERY;
            if let Err(error) = delete_old(state, clock.now().as_millisecond()).await {
                tracing::warn!(%error, cause = ?error.cause, "expired holds could not be deleted");
            }
        }
        tokio::select! {
            () = sleep(pause.min(next_expiry)) => {}
            // The party that joined is visible once its call is committed.
            () = state.waiting_changed.notified() => sleep(COMMITTED).await,
        }
    }
}

/// Tells subscribers of the seat maps on which holds have expired since `told_until`.
/// Returns the time until the next one does. A hold lasts longer than [`IDLE`], so none
/// that is made meanwhile is missed.
async fn announce_expired(
    state: &CounterState,
    clock: &Clock,
    announce: &Announce,
    told_until: &mut i64,
) -> Result<Duration> {
    let (after, now) = (*told_until, clock.now().as_millisecond());
    let find = move |sql: &mut dyn kit::Sql| store::expiring(sql, after, now);
    let (shows, next) = state.store.query(Budget::default(), find).await?;
    for show in shows {
        announce(Change::Resource(uris::seats(&show)));
    }
    *told_until = now;
    let until_next = next.and_then(|at| u64::try_from(at - now).ok());
    Ok(until_next.map_or(IDLE, Duration::from_millis).min(IDLE))
}

/// Offers free seats of every screening for which somebody waits. Returns whether
/// anybody does.
pub async fn serve_waiting(
    state: &Arc<CounterState>,
    clock: &Clock,
    announce: &Announce,
) -> Result<bool> {
    let context = Context::of_the_desk(clock.clone());
    let after = state.sales_time(&context);
    let (looking, work) = (Arc::clone(state), context.clone());
    let find = move |sql: &mut dyn kit::Sql| {
        let shows = store::shows_with_waiting(sql, after)?;
        let any = !shows.is_empty();
        let mut served = Vec::new();
        for show in shows {
            if waiting::fit_somebody(&looking, &work, sql, &show)? {
                served.push(show);
            }
        }
        Ok((any, served))
    };
    let (any, shows) = state.store.query(Budget::default(), find).await?;
    for show in shows {
        let (state, work) = (Arc::clone(state), context.clone());
        let (store, id) = (Arc::clone(&state.store), show.id.clone());
        let offer = move |sql: &mut dyn kit::Sql| {
            work.take_changes();
            waiting::offer_free_seats(&state, &work, sql, &show)
        };
        if let Err(error) = store.transaction(Budget::default(), offer).await {
            // The others are served nevertheless.
            tracing::warn!(%error, cause = ?error.cause, show = id, "free seats could not be offered");
            continue;
        }
        let changes = context.take_changes().into_iter();
        changes.for_each(|change| announce(change));
    }
    Ok(any)
}

/// Deletes what nobody asks about any more, in small transactions.
async fn delete_old(state: &CounterState, now: i64) -> Result<()> {
    let before = now - REMEMBERED;
    loop {
        let deletion = move |sql: &mut dyn kit::Sql| store::delete_expired_holds(sql, before);
        let deleted = state.store.transaction(Budget::default(), deletion).await?;
        if deleted < store::HOLDS_PER_DELETION {
            break;
        }
    }
    let deletion = move |sql: &mut dyn kit::Sql| store::delete_waiting(sql, before);
    state.store.transaction(Budget::default(), deletion).await
}
