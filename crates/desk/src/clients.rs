//! Which MCP clients have called, by the name that each gives itself. The console shows
//! it to people who connect one. The names prove nothing, and decide nothing.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use kit::{Result, Sql, sql::Budget, time::Clock};
use serde::Deserialize;
use tokio::sync::watch;

use crate::state::{self, DeskState};

/// Begins the names in `desk_versions` of clients. The number beside each is the time of
/// its first call, which changes never; so processes that watch versions learn it too.
const PREFIX: &str = "client/";
/// How many clients are remembered. A stranger could give any number of names.
const MOST: usize = 100;
/// No client has a longer name, or describes itself with more text.
const LONGEST_NAME: usize = 80;
const LONGEST_INFO: usize = 1_000;

pub struct ClientsSeen {
    state: Arc<DeskState>,
    clock: Clock,
    /// What clients of this process said about themselves, and their names.
    noted: Mutex<HashSet<String>>,
    /// The times of first calls, of clients of all processes.
    first_calls: watch::Sender<BTreeMap<String, i64>>,
    /// Whether the rows may be opened for this alone.
    may_open: AtomicBool,
}

/// `clientInfo` of a request.
#[derive(Deserialize)]
struct ClientInfo {
    name: String,
}

impl ClientsSeen {
    pub fn new(state: &Arc<DeskState>, clock: &Clock) -> Self {
        Self {
            state: Arc::clone(state),
            clock: clock.clone(),
            noted: Mutex::default(),
            first_calls: watch::Sender::default(),
            may_open: AtomicBool::new(false),
        }
    }

    /// For a process whose user may look at the console of another.
    pub fn is_watched(&self) {
        self.may_open.store(true, Ordering::Relaxed);
    }

    /// The time of the first call of each client.
    pub fn first_calls(&self) -> watch::Receiver<BTreeMap<String, i64>> {
        self.first_calls.subscribe()
    }

    /// Notes a call of the client that describes itself so, in JSON.
    pub fn note_info(self: &Arc<Self>, info: &str) {
        if info.len() <= LONGEST_INFO
            && self.is_new(info)
            && let Ok(client) = serde_json::from_str::<ClientInfo>(info)
        {
            self.note(&client.name);
        }
    }

    /// Notes a call of the client with this name. The call does not wait for it.
    pub fn note(self: &Arc<Self>, name: &str) {
        let name = name.trim();
        if name.is_empty() || name.len() > LONGEST_NAME || !self.is_new(name) {
            return;
        }
        let (this, name) = (Arc::clone(self), name.to_owned());
        tokio::spawn(async move {
            if let Err(error) = this.store(name.clone()).await {
                tracing::debug!(cause = ?error.cause, "the name of a client could not be stored");
                let mut noted = this.noted.lock().unwrap_or_else(PoisonError::into_inner);
                noted.remove(&name);
            }
        });
    }

    /// Whether this text has not been noted before. Cheap, because every call asks.
    fn is_new(&self, text: &str) -> bool {
        if self.state.opened().is_none() && !self.may_open.load(Ordering::Relaxed) {
            return false;
        }
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        !noted.contains(text) && noted.len() < 2 * MOST && noted.insert(text.to_owned())
    }

    async fn store(&self, name: String) -> Result<()> {
        let store = &self.state.get().await?.store;
        let row = format!("{PREFIX}{name}");
        let now = self.clock.now().as_millisecond();
        let insert = move |sql: &mut dyn Sql| {
            let known = sql.query_one(
                "SELECT COUNT(*) FROM desk_versions WHERE name LIKE 'client/%'",
                &[],
            )?;
            let known = known.map_or(Ok(0), |row| row.int(0))?;
            if known >= MOST as i64 {
                return Ok(0);
            }
            sql.execute(
                "INSERT INTO desk_versions (name, version) VALUES ($1, $2)
                 ON CONFLICT (name) DO NOTHING",
                &[(&row).into(), now.into()],
            )
        };
        if store.transaction(Budget::default(), insert).await? > 0 {
            self.first_calls
                .send_modify(|known| _ = known.entry(name).or_insert(now));
            state::announce(store, PREFIX);
        }
        Ok(())
    }

    /// Takes over what the rows say.
    pub(crate) fn learn(&self, versions: &HashMap<String, i64>) {
        let clients = versions.iter().filter_map(|(name, at)| {
            let name = name.strip_prefix(PREFIX)?;
            Some((name.to_owned(), *at))
        });
        self.first_calls.send_if_modified(|known| {
            let mut is_changed = false;
            for (name, at) in clients {
                is_changed |= known.insert(name, at) != Some(at);
            }
            is_changed
        });
    }
}
