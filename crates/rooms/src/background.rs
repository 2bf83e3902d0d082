//! What goes on beside the calls: hearing of other processes, noticing who is
//! idle, and saying good-bye.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use kit::{
    BoxFuture,
    context::Change,
    counter::{Announce, Background},
};
use tokio::task::AbortHandle;

use crate::{house::House, resources};

/// How often files are looked at that cannot be watched.
const LOOK: Duration = Duration::from_secs(1);
const SWEEP_AT_MOST: Duration = Duration::from_secs(15);

pub struct Caretaker {
    house: Arc<House>,
    round: Mutex<Option<AbortHandle>>,
}

impl Caretaker {
    pub fn new(house: &Arc<House>) -> Self {
        Self {
            house: Arc::clone(house),
            round: Mutex::default(),
        }
    }
}

impl Background for Caretaker {
    fn start(&self, announce: Announce) {
        self.house.store.announce_to(Arc::clone(&announce));
        let task = tokio::spawn(rounds(Arc::clone(&self.house), announce));
        let mut round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        *round = Some(task.abort_handle());
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        let round = self
            .round
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(round) = round {
            round.abort();
        }
        Box::pin(async move {
            let ended = self.house.blocking(|house| {
                house.store.stop_watching();
                house.store.retire()?;
                house.store.write_counts()
            });
            if let Err(error) = ended.await {
                tracing::warn!(%error, cause = ?error.cause, "agents could not be taken offline");
            }
        })
    }
}

async fn rounds(house: Arc<House>, announce: Announce) {
    let idle = Duration::from_secs(u64::from(house.settings.idle_minutes.get()) * 60);
    let sweep_every = (idle / 4).min(SWEEP_AT_MOST);
    let mut swept = Instant::now();
    let mut watching = false;
    loop {
        if !watching {
            let looked = house.blocking(|house| {
                let watching = house.store.watch();
                // Also when watching has just begun: what was written a moment
                // before it did is heard of in no other way.
                house.store.look_around();
                Ok(watching)
            });
            watching = looked.await.unwrap_or_default();
        }
        if swept.elapsed() >= sweep_every {
            swept = Instant::now();
            let gone = house
                .blocking(|house| house.store.sweep(Timestamp::now()))
                .await;
            match gone {
                Ok(rooms) => {
                    for room in rooms {
                        announce(Change::Resource(resources::room_uri(&room)));
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, cause = ?error.cause, "idle agents could not be noted");
                }
            }
        }
        let pause = if watching { sweep_every } else { LOOK };
        tokio::time::sleep(pause).await;
    }
}
