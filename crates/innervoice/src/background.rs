//! Background work: sends messages, fires reminders, syncs the calendar.

use std::{sync::Arc, time::Duration};

use kit::{
    BoxFuture, Presence, Result,
    counter::{Announce, Background, Notice},
};
use serde_json::{Value, json};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{notices, settings::SET_UP_SMTP, state::CounterState, worker::Worker};

/// How long a shutdown waits for messages that are being sent.
const LAST_WAIT: Duration = Duration::from_secs(5);

pub struct Workers {
    state: Arc<CounterState>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Workers {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }
}

impl Background for Workers {
    fn start(&self, announce: Announce) {
        let clock = self.state.store.clock();
        let presence = self.state.store.presence().unwrap_or_else(|error| {
            tracing::warn!(%error, cause = ?error.cause, "unfinished work of this process will wait until its claims expire");
            Presence::unmarked()
        });
        let presence = Arc::new(presence);
        let worker = || Worker::new(&self.state, &clock, &presence, &self.stop);
        self.tasks.spawn(worker().send(Arc::clone(&announce)));
        self.tasks.spawn(worker().remind(announce));
        self.tasks.spawn(worker().sync_calendar());
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.stop.cancel();
        // `stop` is also called for a counter that was never started.
        self.tasks.close();
        Box::pin(async {
            // Whatever hangs is taken over when its claim expires.
            let _ = tokio::time::timeout(LAST_WAIT, self.tasks.wait()).await;
        })
    }

    fn check(&self) -> BoxFuture<'_, Vec<(&'static str, Result<String>)>> {
        Box::pin(async {
            let mut answers = Vec::new();
            answers.push(match &self.state.channels.email {
                Some(mailer) => ("smtp", mailer.check().await),
                None => {
                    let message = format!("none; e-mails stay in the outbox. {SET_UP_SMTP}");
                    ("smtp", Ok(message))
                }
            });
            if let Some(server) = &self.state.caldav {
                answers.push(("caldav", server.check().await));
            }
            answers
        })
    }

    fn notify(&self, notice: Notice) -> BoxFuture<'_, Result<()>> {
        Box::pin(notices::store(&self.state, notice))
    }

    fn health(&self) -> Option<Value> {
        Some(json!({ "sends_by": self.state.channels.names() }))
    }
}
