//! Background work: refreshes demo data, deletes old rows, recovers the audit trail.

use std::{sync::Arc, time::Duration};

use kit::Context;

use crate::{audit, desk::Desk, ledger, watch};

const EVERY: Duration = Duration::from_secs(60 * 60);

/// How often to look for audit segments whose process died.
const RECOVER_EVERY: Duration = Duration::from_secs(15);

/// For this long after the database was away, nobody is taken for dead.
const AFTER_ABSENCE: Duration = Duration::from_secs(30);

/// Starts the background work. It runs until the desk stops.
pub fn start(desk: &Arc<Desk>) {
    for window in &desk.windows {
        if let Some(background) = &window.counter.background {
            let window = Arc::clone(window);
            background.start(Arc::new(move |change| window.publish([change])));
        }
    }
    tokio::spawn(watch::watch(Arc::clone(desk)));
    tokio::spawn(run(Arc::clone(desk)));
}

/// Stops it, after the last call.
pub async fn stop(desk: &Desk) {
    for window in &desk.windows {
        if let Some(background) = &window.counter.background {
            background.stop().await;
        }
    }
    desk.audit.close().await;
}

async fn run(desk: Arc<Desk>) {
    let mut hourly = tokio::time::interval_at(tokio::time::Instant::now() + EVERY, EVERY);
    loop {
        tokio::select! {
            _ = hourly.tick() => once(&desk).await,
            () = tokio::time::sleep(RECOVER_EVERY) => recover_audit(&desk).await,
            () = desk.stopping.cancelled() => return,
        }
    }
}

/// One round. A failure is logged, and the next round tries again.
pub async fn once(desk: &Desk) {
    if let Err(error) = desk.approvals.purge().await {
        tracing::warn!(%error, cause = ?error.cause, "old approvals could not be dropped");
    }
    for window in &desk.windows {
        let counter = window.counter.about.name;
        let context = Context::of_the_desk(desk.clock.clone());
        if let Some(demo) = &window.counter.demo
            && let Err(error) = demo.refresh(&context).await
        {
            tracing::warn!(counter, %error, cause = ?error.cause, "demo data could not be kept current");
        }
        window.publish(context.take_changes());
        if let Some(store) = &window.counter.store
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
    let stores = desk.windows.iter().filter_map(|window| {
        let store = window.counter.store.as_ref()?;
        Some((window.counter.about.name, Arc::clone(store)))
    });
    let rows: Vec<audit::CounterStore> = stores.collect();
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
