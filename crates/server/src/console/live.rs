//! A stream that sends the inbox again whenever a question arrives, is decided or
//! expires.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::response::{
    IntoResponse, Response,
    sse::{Event, KeepAlive, Sse},
};
use desk::{Desk, ServedCounter};
use futures::{Stream, StreamExt};
use jiff::tz::TimeZone;
use kit::{Result, context::Language};
use serde_json::json;
use tokio::sync::{broadcast::error::RecvError, watch};

use super::{
    inbox::Inbox,
    open_pages::Viewer,
    session::Session,
    view::{Address, View},
    words::Words,
};

/// The script takes three missed ones for the end of the connection.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Changes within this time are sent as one message.
const AT_MOST_EVERY: Duration = Duration::from_millis(100);

/// How long after a failure the rows are asked again.
const AFTER_TROUBLE: Duration = Duration::from_secs(2);

struct Watcher {
    desk: Arc<Desk>,
    session: Session,
    language: Language,
    changes: watch::Receiver<u64>,
    /// When to read the inbox again without a change; `None` for at once.
    look_again: Option<Duration>,
}

pub fn stream(desk: Arc<Desk>, session: Session, language: Language) -> Response {
    let watcher = Watcher {
        changes: desk.approvals.changes(),
        desk,
        session,
        language,
        look_again: None,
    };
    Sse::new(watcher.messages())
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response()
}

impl Watcher {
    fn messages(self) -> impl Stream<Item = Result<Event, Infallible>> {
        futures::stream::unfold(self, |mut watcher| async move {
            let message = watcher.next().await?;
            Some((Ok(message), watcher))
        })
    }

    /// `None` ends the stream: the desk stops, or the session is over.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(pause) = self.look_again {
                let stopping = self.desk.stopping.clone();
                tokio::select! {
                    changed = self.changes.changed() => changed.ok()?,
                    () = tokio::time::sleep(pause) => {}
                    () = stopping.cancelled() => return None,
                }
                tokio::time::sleep(AT_MOST_EVERY).await;
            }
            self.changes.mark_unchanged();
            match self.look().await {
                Ok(message) => return message,
                Err(error) => {
                    tracing::warn!(cause = ?error.cause, "the inbox could not be read");
                    self.look_again = Some(AFTER_TROUBLE);
                }
            }
        }
    }

    async fn look(&mut self) -> Result<Option<Event>> {
        let now = self.desk.clock.now().as_millisecond();
        let state = self.desk.state.get().await?;
        if self.session.expires_at <= now || !self.session.is_open(state).await? {
            return Ok(None);
        }
        let inbox = Inbox::read(&self.desk).await?;
        let until = inbox.next_lapse().unwrap_or(i64::MAX);
        let until = until.min(self.session.expires_at) - now;
        self.look_again = Some(Duration::from_millis(until.max(0).unsigned_abs()));
        let view = View {
            desk: Arc::clone(&self.desk),
            words: Words::of(self.language),
            form_token: String::new(),
            address: Address::default(),
            zone: TimeZone::system(),
        };
        let data = json!({ "now": now, "html": inbox.sections(&view).into_string() });
        Ok(Some(Event::default().data(data.to_string())))
    }
}

/// Says whenever something of a counter has changed, by whichever process.
pub fn counter_stream(
    desk: Arc<Desk>,
    session: Session,
    served: &ServedCounter,
    viewer: Viewer,
) -> Response {
    let start = (served.events.subscribe(), viewer);
    let changes = futures::stream::unfold(start, |(mut changes, mut viewer)| async move {
        if matches!(changes.recv().await, Err(RecvError::Closed)) {
            return None;
        }
        viewer.turn().await;
        Some(((), (changes.resubscribe(), viewer)))
    });
    changes_stream(desk, session, changes)
}

/// Says whenever a client has called for the first time, by whichever process.
pub fn client_stream(desk: Arc<Desk>, session: Session) -> Response {
    let seen = desk.clients.first_calls();
    let changes = futures::stream::unfold(seen, |mut seen| async move {
        seen.changed().await.ok()?;
        Some(((), seen))
    });
    changes_stream(desk, session, changes)
}

/// A message after each change, and one after each change of what waits for a decision,
/// until the session or the desk ends.
fn changes_stream(
    desk: Arc<Desk>,
    session: Session,
    changes: impl Stream<Item = ()> + Send + 'static,
) -> Response {
    // Signing out counts as a change of the approvals.
    let approvals = desk.approvals.changes();
    let messages = futures::stream::unfold(
        (desk, session, Box::pin(changes), approvals),
        |(desk, session, mut changes, mut approvals)| async move {
            let stopping = desk.stopping.clone();
            let expires_in = session.expires_at - desk.clock.now().as_millisecond();
            let expires_in = Duration::from_millis(expires_in.max(0).unsigned_abs());
            let what = tokio::select! {
                changed = changes.next() => changed.map(|()| "changed")?,
                changed = approvals.changed() => {
                    changed.ok()?;
                    tokio::time::sleep(AT_MOST_EVERY).await;
                    "waiting"
                }
                () = tokio::time::sleep(expires_in) => return None,
                () = stopping.cancelled() => return None,
            };
            let state = desk.state.get().await.ok()?;
            if !session.is_open(state).await.ok()? {
                return None;
            }
            let message: Result<Event, Infallible> = Ok(Event::default().data(what));
            Some((message, (desk, session, changes, approvals)))
        },
    );
    Sse::new(messages)
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response()
}
