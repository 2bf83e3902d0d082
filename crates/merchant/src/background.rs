//! What goes on beside the calls: search engines are kept in step, carts that
//! ended are forgotten.

use std::{sync::Arc, time::Duration};

use kit::{
    BoxFuture, Result,
    counter::{Announce, Background},
    sql::Budget,
    time::Clock,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{shop::Shop, store};

const EVERY: Duration = Duration::from_secs(60);

pub struct Caretaker {
    shop: Arc<Shop>,
    stop: CancellationToken,
}

impl Caretaker {
    pub fn new(shop: &Arc<Shop>) -> Self {
        Self {
            shop: Arc::clone(shop),
            stop: CancellationToken::new(),
        }
    }
}

impl Background for Caretaker {
    fn start(&self, _: Announce) {
        let clock = Clock::system();
        self.shop.finder.start(&clock);
        tokio::spawn(forget(Arc::clone(&self.shop), clock, self.stop.clone()));
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.stop.cancel();
        Box::pin(self.shop.finder.stop())
    }

    fn check(&self) -> BoxFuture<'_, Vec<(&'static str, Result<String>)>> {
        Box::pin(self.shop.finder.check())
    }

    fn health(&self) -> Option<Value> {
        Some(json!({ "search": self.shop.finder.health() }))
    }
}

async fn forget(shop: Arc<Shop>, clock: Clock, stop: CancellationToken) {
    loop {
        let before = clock.now().as_millisecond();
        let forgotten = shop
            .store
            .transaction(Budget::default(), move |sql| {
                store::drop_expired(sql, before, before - store::REMEMBERED_MS)
            })
            .await;
        if let Err(error) = forgotten {
            tracing::warn!(%error, cause = ?error.cause, "carts that ended could not be dropped");
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = stop.cancelled() => return,
        }
    }
}
