//! Work between calls: shows that this process is alive, and notes who is offline.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Result, Store, context::Change, counter::Announce, sql::Budget};

use super::{
    tables::{BEAT_MS, DEAD_MS, Tables},
    wake::{RoomChange, Wake},
};
use crate::model::uris;

const SWEEP_AT_MOST: Duration = Duration::from_secs(15);
const TIME_LIMIT: Duration = Duration::from_secs(10);

pub struct Rounds {
    pub database: Arc<dyn Store>,
    pub tables: Arc<Tables>,
    pub wake: Arc<Wake>,
    pub announce: Announce,
}

impl Rounds {
    pub async fn run(self) {
        let idle = Duration::from_secs(u64::from(self.tables.settings.idle_minutes.get()) * 60);
        let sweep_every = (idle / 4).min(SWEEP_AT_MOST);
        let mut swept = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_millis(BEAT_MS.unsigned_abs())).await;
            if let Err(error) = self.show_life().await {
                tracing::warn!(%error, cause = ?error.cause, "a sign of life could not be written");
            }
            if swept.elapsed() >= sweep_every {
                swept = Instant::now();
                if let Err(error) = self.sweep().await {
                    tracing::warn!(%error, cause = ?error.cause, "idle agents could not be noted");
                }
            }
        }
    }

    async fn show_life(&self) -> Result<()> {
        if !self.tables.has_served() {
            return Ok(());
        }
        let tables = Arc::clone(&self.tables);
        let shown = self
            .database
            .transaction(limited(), move |sql| tables.show_life(sql));
        shown.await?;
        self.tables.has_shown_life();
        Ok(())
    }

    async fn sweep(&self) -> Result<()> {
        // While the database was away, no process could show that it is alive.
        let silence = Duration::from_millis(DEAD_MS.unsigned_abs());
        if self.database.was_away_within(silence) {
            return Ok(());
        }
        let (tables, now) = (Arc::clone(&self.tables), self.database.clock().now());
        let gone = self
            .database
            .transaction(limited(), move |sql| tables.sweep(sql, now));
        for room in gone.await? {
            self.wake.changed(&room, RoomChange::Presence);
            (self.announce)(Change::Resource(uris::room(&room)));
        }
        Ok(())
    }
}

/// For work that nobody waits for.
pub fn limited() -> Budget {
    Budget {
        deadline: Some(Instant::now() + TIME_LIMIT),
        ..Budget::default()
    }
}
