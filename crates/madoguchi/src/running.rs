//! Which desks run on the same data, and at which addresses.
//!
//! On the embedded database each desk leaves a small file beside it and holds a lock
//! on that file; the kernel releases the lock however the desk ends. On PostgreSQL
//! each desk holds a lease, which it renews.

mod in_files;
mod in_leases;
mod running_desk;

use std::sync::Arc;

use desk::state::DeskState;
use kit::Result;
use store::url::DatabaseUrl;

pub use running_desk::RunningDesk;

use crate::{cli::Global, config::Config, location};

/// Kept while a desk runs.
pub enum Announcement {
    File(in_files::AnnouncedFile),
    Lease(in_leases::AnnouncedLease),
    /// Others can't find this desk; the log says why.
    Failed,
}

impl Announcement {
    pub async fn withdraw(self) {
        match self {
            Self::File(file) => drop(file),
            Self::Lease(lease) => lease.release().await,
            Self::Failed => {}
        }
    }
}

/// Lets others find this desk until the announcement is withdrawn.
pub async fn announce(
    database: &DatabaseUrl,
    state: &Arc<DeskState>,
    desk: &RunningDesk,
) -> Announcement {
    let announced = match database {
        DatabaseUrl::Sqlite(path) => {
            in_files::announce(&location::beside(path, "-desks"), desk).map(Announcement::File)
        }
        DatabaseUrl::Postgres(_) => in_leases::announce(state, desk)
            .await
            .map(Announcement::Lease),
    };
    announced.unwrap_or_else(|error| {
        let what = error.text();
        tracing::warn!("`madoguchi approvals open` will not find this desk: {what}");
        Announcement::Failed
    })
}

/// The desks that run on this data, the newest first.
pub async fn desks(
    global: &Global,
    config: &Config,
    state: &Arc<DeskState>,
) -> Result<Vec<RunningDesk>> {
    match database(global, config)? {
        DatabaseUrl::Sqlite(_) => Ok(desks_beside(global, config)),
        DatabaseUrl::Postgres(_) => Ok(newest_first(in_leases::desks(state).await?)),
    }
}

/// The same without opening a database: nothing if the data is on PostgreSQL.
pub fn desks_beside(global: &Global, config: &Config) -> Vec<RunningDesk> {
    match database(global, config) {
        Ok(DatabaseUrl::Sqlite(path)) => {
            newest_first(in_files::desks(&location::beside(&path, "-desks")))
        }
        _ => Vec::new(),
    }
}

fn newest_first(mut desks: Vec<RunningDesk>) -> Vec<RunningDesk> {
    desks.sort_by_key(|desk| std::cmp::Reverse(desk.started_at));
    desks
}

/// Makes addresses of the console lead to the desk that runs on this data, for
/// commands that show some. Whether there is one.
pub fn use_its_console(global: &Global, config: &mut Config) -> bool {
    let is_set = !config.settings.http.public_url.is_empty();
    let mut found = desks_beside(global, config).into_iter();
    let console = found.find_map(|desk| desk.console);
    let is_found = console.is_some();
    if let Some(console) = console.filter(|_| !is_set) {
        config.settings.http.public_url = console;
    }
    is_found
}

fn database(global: &Global, config: &Config) -> Result<DatabaseUrl> {
    location::database_url(&config.settings.database.url, global.data.as_deref())
}
