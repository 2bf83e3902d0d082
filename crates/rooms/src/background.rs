//! Work between calls: notices what other processes do and who is idle, and takes
//! agents offline when this process ends.

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

use crate::{model::uris, state::CounterState};

/// How often files that cannot be watched are looked at.
const LOOK: Duration = Duration::from_secs(1);
const SWEEP_AT_MOST: Duration = Duration::from_secs(15);

pub struct Caretaker {
    state: Arc<CounterState>,
    round: Mutex<Option<AbortHandle>>,
}

impl Caretaker {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
            round: Mutex::default(),
        }
    }
}

impl Background for Caretaker {
    fn start(&self, announce: Announce) {
        self.state.store.announce_to(Arc::clone(&announce));
        let task = tokio::spawn(rounds(Arc::clone(&self.state), announce));
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
            let ended = self.state.blocking(|state| {
                state.store.stop_watching();
                state.store.retire()?;
                state.store.write_counts()
            });
            if let Err(error) = ended.await {
                tracing::warn!(%error, cause = ?error.cause, "agents could not be taken offline");
            }
        })
    }
}

async fn rounds(state: Arc<CounterState>, announce: Announce) {
    let idle = Duration::from_secs(u64::from(state.settings.idle_minutes.get()) * 60);
    let sweep_every = (idle / 4).min(SWEEP_AT_MOST);
    let mut swept = Instant::now();
    let mut watching = false;
    loop {
        if !watching {
            let looked = state.blocking(|state| {
                let watching = state.store.watch();
                // Also when watching has just begun: nothing reports what was
                // written a moment before.
                state.store.look_around();
                Ok(watching)
            });
            watching = looked.await.unwrap_or_default();
        }
        if swept.elapsed() >= sweep_every {
            swept = Instant::now();
            let gone = state
                .blocking(|state| state.store.sweep(Timestamp::now()))
                .await;
            match gone {
                Ok(rooms) => {
                    for room in rooms {
                        announce(Change::Resource(uris::room(&room)));
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
