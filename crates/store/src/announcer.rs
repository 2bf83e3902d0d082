//! Carries announcements to the other processes on the same PostgreSQL.
//!
//! One task collects what this process announces, and receives what others do: with
//! `NOTIFY` and `LISTEN` on a connection of its own, or, behind a pooler, with a table
//! that it reads often. It starts with the first use, so a short command costs nothing.
//!
//! `NOTIFY` is never sent in a transaction that writes: it takes a lock on the whole
//! database until the end of the commit, which would let only one commit in at a time.

mod listen;
mod poll;
mod state;

use std::{
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::Duration,
};

use kit::{Announcement, Result, announcement::LocalAnnouncements};
use tokio::{runtime::Handle, sync::broadcast, task::JoinHandle, time::timeout};
use tokio_util::sync::DropGuard;

use crate::postgres::{Connector, Postgres};
use state::AnnouncerState;

/// How long the last announcements may take.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// What the announcements of one database need. Ends its task when it is dropped.
pub(crate) struct Announcer {
    local: LocalAnnouncements,
    state: Arc<AnnouncerState>,
    postgres: Postgres,
    /// `None`: there is no direct connection to listen on.
    direct: Option<Arc<Connector>>,
    runtime: Handle,
    task: Mutex<Option<JoinHandle<()>>>,
    _stop: DropGuard,
}

impl Announcer {
    /// Starts nothing yet. Has to be called in a runtime.
    pub fn new(postgres: Postgres, direct: Option<Arc<Connector>>) -> Self {
        let state = Arc::new(AnnouncerState::default());
        Self {
            local: LocalAnnouncements::default(),
            _stop: state.stop.clone().drop_guard(),
            state,
            postgres,
            direct,
            runtime: Handle::current(),
            task: Mutex::default(),
        }
    }

    pub fn announce(&self, topic: &str) {
        let topic: Arc<str> = topic.into();
        self.local.send(Announcement::Topic(Arc::clone(&topic)));
        self.state.add(topic);
        self.start();
    }

    pub fn subscribe(&self) -> broadcast::Receiver<Announcement> {
        let receiver = self.local.subscribe();
        self.start();
        receiver
    }

    fn start(&self) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if task.is_some() || self.state.stop.is_cancelled() {
            return;
        }
        let (state, local) = (Arc::clone(&self.state), self.local.clone());
        let postgres = self.postgres.clone();
        *task = Some(match self.direct.clone() {
            Some(connector) => self.runtime.spawn(async move {
                if listen::run(&connector, &state, &local).await.is_pooled() {
                    tracing::warn!(
                        "announcements of other desks are read every 100 ms, because a pooler such \
                         as PgBouncer is in between; set `listen_url` in [database] to an address \
                         without it"
                    );
                    poll::run(&postgres, &state, &local).await;
                }
            }),
            None => self
                .runtime
                .spawn(async move { poll::run(&postgres, &state, &local).await }),
        });
    }

    /// Whether announcements of others arrive at present.
    pub fn is_listening(&self) -> bool {
        self.state.is_listening.load(Ordering::Relaxed)
    }

    /// Sends what is left, then stops.
    pub async fn close(&self) {
        self.state.stop.cancel();
        let task = self
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(task) = task {
            let _ = timeout(LAST_WAIT, task).await;
        }
    }

    /// How announcements arrive, for `doctor`. An error if they can't arrive that way.
    pub async fn check(&self) -> Result<String> {
        let is_direct = match &self.direct {
            Some(connector) => listen::check(connector).await?,
            None => false,
        };
        Ok(match is_direct {
            true => "changes of other desks arrive at once (LISTEN)".into(),
            false => {
                "the database is behind a pooler such as PgBouncer, so desks look for changes \
                      every 100 ms; `listen_url` in [database], an address without it, lets them \
                      arrive at once"
                    .into()
            }
        })
    }
}
