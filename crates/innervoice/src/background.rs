//! What goes on beside the calls: messages leave, reminders fire.

use std::{sync::Arc, time::Duration};

use kit::{
    BoxFuture, Presence, Result,
    counter::{Announce, Background},
    time::Clock,
};
use serde_json::{Value, json};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{voice::Voice, worker::Worker};

/// How long something that is just being sent may keep the program from ending.
const LAST_WAIT: Duration = Duration::from_secs(5);

pub struct Night {
    voice: Arc<Voice>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Night {
    pub fn new(voice: &Arc<Voice>) -> Self {
        Self {
            voice: Arc::clone(voice),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }
}

impl Background for Night {
    fn start(&self, announce: Announce) {
        let clock = Clock::system();
        let presence = self.voice.store.presence().unwrap_or_else(|error| {
            tracing::warn!(%error, cause = ?error.cause, "what this process leaves unfinished will wait");
            Presence::unmarked()
        });
        let presence = Arc::new(presence);
        let worker = || Worker::new(&self.voice, &clock, &presence, &self.stop);
        self.tasks.spawn(worker().send());
        self.tasks.spawn(worker().remind(announce));
        self.tasks.spawn(worker().tell());
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.stop.cancel();
        // A counter that was never started is stopped too.
        self.tasks.close();
        Box::pin(async {
            // What hangs is left to its claim, which runs out.
            let _ = tokio::time::timeout(LAST_WAIT, self.tasks.wait()).await;
        })
    }

    fn check(&self) -> BoxFuture<'_, Vec<(&'static str, Result<String>)>> {
        Box::pin(async {
            let mut answers = Vec::new();
            if let Some(mailer) = &self.voice.channels.email {
                answers.push(("smtp", mailer.check().await));
            }
            if let Some(server) = &self.voice.caldav {
                answers.push(("caldav", server.check().await));
            }
            answers
        })
    }

    fn health(&self) -> Option<Value> {
        Some(json!({ "sends_by": self.voice.channels.names() }))
    }
}
