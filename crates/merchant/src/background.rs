//! Work beside the calls: keeps the search engines up to date and deletes expired
//! carts.

use std::{sync::Arc, time::Duration};

use kit::{
    BoxFuture, Result,
    counter::{Announce, Background},
    sql::Budget,
    time::Clock,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{state::CounterState, store};

const EVERY: Duration = Duration::from_secs(60);

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
    fn start(&self, _: Announce) {
        let clock = self.state.store.clock();
        self.state.finder.start(&clock);
        tokio::spawn(delete_expired(
            Arc::clone(&self.state),
            clock,
            self.stop.clone(),
        ));
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.stop.cancel();
        Box::pin(self.state.finder.stop())
    }

    fn check(&self) -> BoxFuture<'_, Vec<(&'static str, Result<String>)>> {
        Box::pin(self.state.finder.check())
    }

    fn health(&self) -> Option<Value> {
        Some(json!({ "search": self.state.finder.health() }))
    }
}

async fn delete_expired(state: Arc<CounterState>, clock: Clock, stop: CancellationToken) {
    loop {
        let before = clock.now().as_millisecond();
        let deleted = state
            .store
            .transaction(Budget::default(), move |sql| {
                store::drop_expired(sql, before, before - store::REMEMBERED_MS)
            })
            .await;
        if let Err(error) = deleted {
            tracing::warn!(%error, cause = ?error.cause, "expired carts could not be deleted");
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = stop.cancelled() => return,
        }
    }
}
