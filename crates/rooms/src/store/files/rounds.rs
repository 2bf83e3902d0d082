//! Work between calls: notices what other processes do and who is idle.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use kit::{context::Change, counter::Announce};

use super::FileStore;
use crate::model::uris;

/// How often files that cannot be watched are looked at.
const LOOK: Duration = Duration::from_secs(1);
const SWEEP_AT_MOST: Duration = Duration::from_secs(15);

pub async fn rounds(store: Arc<FileStore>, announce: Announce) {
    let idle = Duration::from_secs(u64::from(store.data.settings.idle_minutes.get()) * 60);
    let sweep_every = (idle / 4).min(SWEEP_AT_MOST);
    let mut swept = Instant::now();
    let mut watching = false;
    loop {
        if !watching {
            let looking = Arc::clone(&store);
            let looked = store.blocking().run(move || {
                let watching = looking.watch();
                // Also when watching has just begun: nothing reports what was
                // written a moment before.
                looking.look_around();
                Ok(watching)
            });
            watching = looked.await.unwrap_or_default();
        }
        if swept.elapsed() >= sweep_every {
            swept = Instant::now();
            let sweeping = Arc::clone(&store);
            let gone = store
                .blocking()
                .run(move || sweeping.sweep(Timestamp::now()))
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
