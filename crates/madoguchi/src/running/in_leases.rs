//! One lease for each desk, in the desk's own rows.

use std::{sync::Arc, time::Duration};

use desk::state::DeskState;
use kit::{Error, Result, Store, lease, sql::Budget};
use tokio::task::JoinHandle;

use super::running_desk::RunningDesk;

const PREFIX: &str = "desk:";
const LASTS: Duration = Duration::from_secs(45);
const RENEWED_EVERY: Duration = Duration::from_secs(15);

pub struct AnnouncedLease {
    store: Arc<dyn Store>,
    name: String,
    holder: String,
    renewing: JoinHandle<()>,
}

pub async fn announce(state: &Arc<DeskState>, desk: &RunningDesk) -> Result<AnnouncedLease> {
    let store = Arc::clone(&state.get().await?.store);
    let name = kit::ids::random(PREFIX, 16);
    let holder = serde_json::to_string(desk).map_err(Error::internal)?;
    hold(&store, &name, &holder).await?;
    let (renewed, lease, by) = (Arc::clone(&store), name.clone(), holder.clone());
    let renewing = tokio::spawn(async move {
        loop {
            tokio::time::sleep(RENEWED_EVERY).await;
            // While the database is away nobody can ask for this desk either.
            let _ = hold(&renewed, &lease, &by).await;
        }
    });
    Ok(AnnouncedLease {
        store,
        name,
        holder,
        renewing,
    })
}

impl AnnouncedLease {
    pub async fn release(self) {
        self.renewing.abort();
        let (name, holder) = (self.name, self.holder);
        let release = move |sql: &mut dyn kit::Sql| lease::release(sql, &name, &holder);
        // It expires by itself if the database is away.
        let _ = self.store.transaction(Budget::default(), release).await;
    }
}

async fn hold(store: &Arc<dyn Store>, name: &str, holder: &str) -> Result<()> {
    let (name, holder, clock) = (name.to_owned(), holder.to_owned(), store.clock());
    let hold = move |sql: &mut dyn kit::Sql| {
        let now = clock.now().as_millisecond();
        lease::remove_expired(sql, PREFIX, now)?;
        lease::hold(sql, &name, &holder, now, LASTS.as_millis() as i64).map(drop)
    };
    store.transaction(Budget::default(), hold).await
}

pub async fn desks(state: &Arc<DeskState>) -> Result<Vec<RunningDesk>> {
    let store = &state.get().await?.store;
    let now = store.clock().now().as_millisecond();
    let holders = store
        .query(Budget::default(), move |sql| {
            lease::holders(sql, PREFIX, now)
        })
        .await?;
    let desks = holders.iter().map(|text| serde_json::from_str(text));
    Ok(desks.filter_map(std::result::Result::ok).collect())
}
