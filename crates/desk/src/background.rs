//! Background work: refreshes demo data, deletes old rows, recovers the audit trail.

use std::{sync::Arc, time::Duration};

use kit::Context;
use tokio::time::MissedTickBehavior;

use crate::{
    audit::{self, acts::DESK},
    desk::Desk,
    ledger, watch,
};

const EVERY: Duration = Duration::from_secs(60 * 60);

/// How often to look for audit segments whose process died.
const RECOVER_EVERY: Duration = Duration::from_secs(15);

/// How often sealed audit segments are compressed, and the disk's space is looked at.
const TIDY_EVERY: Duration = Duration::from_secs(30);

/// For this long after the database was away, nobody is taken for dead.
const AFTER_ABSENCE: Duration = Duration::from_secs(30);

/// Starts the background work. It runs until the desk stops.
pub fn start(desk: &Arc<Desk>) {
    for served in &desk.counters {
        if let Some(background) = &served.counter.background {
            let served = Arc::clone(served);
            background.start(Arc::new(move |change| served.publish([change])));
        }
    }
    tokio::spawn(watch::watch(Arc::clone(desk)));
    tokio::spawn(run(Arc::clone(desk)));
}

/// Stops it, after the last call.
pub async fn stop(desk: &Desk) {
    for served in &desk.counters {
        if let Some(background) = &served.counter.background {
            background.stop().await;
        }
    }
    desk.audit.close().await;
}

async fn run(desk: Arc<Desk>) {
    let mut hourly = tokio::time::interval_at(tokio::time::Instant::now() + EVERY, EVERY);
    let mut recovering =
        tokio::time::interval_at(tokio::time::Instant::now() + RECOVER_EVERY, RECOVER_EVERY);
    recovering.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut tidying = tokio::time::interval(TIDY_EVERY);
    tidying.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut was_short = false;
    loop {
        tokio::select! {
            _ = hourly.tick() => once(&desk).await,
            _ = tidying.tick() => tidy_audit(&desk, &mut was_short).await,
            _ = recovering.tick() => recover_audit(&desk).await,
            () = desk.stopping.cancelled() => return,
        }
    }
}

/// One round. A failure is logged, and the next round tries again.
pub async fn once(desk: &Desk) {
    if let Err(error) = desk.approvals.purge().await {
        tracing::warn!(%error, cause = ?error.cause, "old approvals could not be dropped");
    }
    for served in &desk.counters {
        let counter = served.counter.about.name;
        let context = Context::of_the_desk(desk.clock.clone());
        if let Some(demo) = &served.counter.demo
            && let Err(error) = demo.refresh(&context).await
        {
            tracing::warn!(counter, %error, cause = ?error.cause, "demo data could not be kept current");
        }
        served.publish(context.take_changes());
        if let Some(store) = &served.counter.store
            && let Err(error) = ledger::purge(store, desk.clock.now().as_millisecond()).await
        {
            tracing::warn!(counter, %error, cause = ?error.cause, "old replies could not be dropped");
        }
    }
    recover_audit(desk).await;
    drop_old_audit(desk).await;
}

/// Records the calls of processes that died before they could.
async fn recover_audit(desk: &Desk) {
    let Some(trail) = desk.audit.trail.clone() else {
        return;
    };
    // Processes that live could not show it while their database was away.
    let own = desk.state.opened().map(|state| &state.store);
    if own.is_some_and(|store| store.was_away_within(AFTER_ABSENCE)) {
        return;
    }
    let stores = desk.counters.iter().filter_map(|served| {
        let store = served.counter.store.as_ref()?;
        Some((served.counter.about.name, Arc::clone(store)))
    });
    let own = own.map(|store| (DESK, Arc::clone(store)));
    let rows: Vec<audit::CounterStore> = stores.chain(own).collect();
    let store = Arc::clone(&trail.store);
    let recovered = audit::blocking(&store, move |_, runtime| {
        audit::recover(&trail, &rows, runtime)
    })
    .await;
    if let Err(error) = recovered {
        tracing::warn!(error = %error.text(), cause = ?error.cause, "the audit trail could not be recovered");
    }
}

/// Finishes erasures of processes that died in the middle of them.
pub async fn finish_erasures(desk: &Desk) {
    let Some(trail) = desk.audit.trail.clone() else {
        return;
    };
    let finished = audit::blocking(&trail.store, |store, _| audit::finish_erasures(store)).await;
    match finished {
        Ok(0) => {}
        Ok(records) => tracing::info!(records, "finished an interrupted erasure"),
        Err(error) => {
            tracing::warn!(error = %error.text(), cause = ?error.cause, "an interrupted erasure could not be finished");
        }
    }
}

async fn drop_old_audit(desk: &Desk) {
    let Some(trail) = desk.audit.trail.clone() else {
        return;
    };
    trail.tidy().await;
    let keep_days = desk.audit.keep_days();
    let now = trail.now();
    let dropped = audit::blocking(&trail.store, move |store, _| {
        audit::drop_old(store, keep_days, now)
    })
    .await;
    match dropped {
        Ok(0) => {}
        Ok(segments) => tracing::info!(segments, "dropped old audit segments"),
        Err(error) => {
            tracing::warn!(error = %error.text(), cause = ?error.cause, "old audit segments could not be dropped");
        }
    }
}

/// Compresses sealed segments, drops the oldest of a trail that is too large, and looks
/// how long the disk will suffice.
async fn tidy_audit(desk: &Desk, was_short: &mut bool) {
    let Some(trail) = desk.audit.trail.clone() else {
        return;
    };
    let (settings, now) = (desk.settings.audit.clone(), trail.now());
    let tidied = audit::blocking(&trail.store, move |store, _| {
        let compressed = store.compress();
        let dropped = audit::drop_excess(store, settings.max_bytes, now)?;
        let space = audit::Space::read(store, &settings, now)?;
        compressed.map(|compressed| (compressed, dropped, space))
    });
    match tidied.await {
        Ok((compressed, dropped, space)) => {
            if compressed > 0 {
                tracing::debug!(files = compressed, "compressed the audit trail");
            }
            if dropped > 0 {
                tracing::warn!(
                    segments = dropped,
                    "dropped the oldest audit segments: the trail was larger than max_bytes"
                );
            }
            desk.metrics.space.set(space);
            if space.is_short() && !*was_short {
                tracing::warn!(
                    free_bytes = space.free,
                    audit_bytes_per_day = space.per_day,
                    days_left = space.days_left,
                    "the disk will soon be full"
                );
            }
            *was_short = space.is_short();
        }
        Err(error) => {
            tracing::warn!(error = %error.text(), cause = ?error.cause, "the audit trail could not be tidied up");
        }
    }
}
