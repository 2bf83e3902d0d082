//! Work that goes on beside the calls: demo data kept current, old rows dropped.

use std::{sync::Arc, time::Duration};

use kit::Context;

use crate::{Desk, events, ledger};

const EVERY: Duration = Duration::from_secs(60 * 60);

/// Starts what goes on until the desk stops.
pub fn start(desk: &Arc<Desk>) {
    for window in &desk.windows {
        if let Some(background) = &window.counter.background {
            let window = Arc::clone(window);
            background.start(Arc::new(move |change| window.publish([change])));
        }
    }
    tokio::spawn(events::watch(Arc::clone(desk)));
    tokio::spawn(run(Arc::clone(desk)));
}

/// Ends it, when no more calls come.
pub async fn stop(desk: &Desk) {
    for window in &desk.windows {
        if let Some(background) = &window.counter.background {
            background.stop().await;
        }
    }
}

async fn run(desk: Arc<Desk>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(EVERY) => once(&desk).await,
            () = desk.stopping.cancelled() => return,
        }
    }
}

/// One round. A failure is logged and tried again next time.
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
}
