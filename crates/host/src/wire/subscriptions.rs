//! Changes on their way to the client: `subscriptions/listen` of the stateless
//! era, and what a client of the handshake era subscribed to on its connection.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use kit::context::Change;
use rmcp::{
    ErrorData, RoleServer, ServiceError,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::{Peer, SubscriptionContext},
};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::client::LogLevel;
use crate::{
    desk::{Desk, Window},
    events::Event,
    stations::identify::Identified,
};

/// Forwards changes until the client or the desk ends the subscription, or the
/// key it was made with is `revoked`.
pub async fn listen(
    desk: &Desk,
    mut events: Receiver<Event>,
    context: &SubscriptionContext,
    revoked: &CancellationToken,
) {
    let sink = context.sink();
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = context.cancelled() => return,
            () = revoked.cancelled() => return,
            () = desk.stopping.cancelled() => return,
        };
        let change = match event {
            Ok(Event(change)) => change,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        // A change the subscriber did not ask for is refused by the sink.
        let _ = match change {
            Change::Resource(uri) => sink.notify_resource_updated(uri).await,
            Change::ResourceList => sink.notify_resource_list_changed().await,
            Change::ToolList => sink.notify_tool_list_changed().await,
            Change::PromptList => sink.notify_prompt_list_changed().await,
        };
    }
}

/// How many resources one connection may subscribe to, or one subscription name,
const MOST_WATCHED: usize = 500;
/// and how long the address of each may be.
const LONGEST_URI: usize = 1024;

/// Refuses a subscription that names too much.
pub fn check(filter: &SubscriptionFilter) -> Result<(), ErrorData> {
    let uris = filter.resource_subscriptions.as_deref().unwrap_or_default();
    if uris.len() > MOST_WATCHED {
        let text = format!(
            "The filter names more than {MOST_WATCHED} resources. Name fewer, or send several."
        );
        return Err(ErrorData::invalid_params(text, None));
    }
    uris.iter().try_for_each(|uri| check_uri(uri))
}

fn check_uri(uri: &str) -> Result<(), ErrorData> {
    if uri.len() <= LONGEST_URI {
        return Ok(());
    }
    let text = format!(
        "The uri is longer than {LONGEST_URI} bytes. resources/list names those there are."
    );
    Err(ErrorData::invalid_params(text, None))
}

/// What a client of the handshake era has set up on its connection.
#[derive(Default)]
pub struct Connection {
    pub log_level: LogLevel,
    watched: Arc<Mutex<HashSet<String>>>,
    /// Of the key whose handshake was admitted. Nobody is told anything before.
    revoked: OnceLock<CancellationToken>,
    /// Ends the forwarding of changes when the connection does.
    forwarding: OnceLock<DropGuard>,
    /// Of subscriptions that are being acknowledged. A change that comes right
    /// after the acknowledgement must not be missed, so they start before it.
    beginning: Mutex<Vec<Receiver<Event>>>,
}

impl Connection {
    pub fn watch(&self, uri: String) -> Result<(), ErrorData> {
        check_uri(&uri)?;
        let mut watched = locked(&self.watched);
        if watched.len() >= MOST_WATCHED && !watched.contains(&uri) {
            let text = format!(
                "This connection is subscribed to {MOST_WATCHED} resources already. Unsubscribe from some of them first."
            );
            return Err(ErrorData::invalid_params(text, None));
        }
        watched.insert(uri);
        Ok(())
    }

    pub fn unwatch(&self, uri: &str) {
        locked(&self.watched).remove(uri);
    }

    /// Called before a subscription is acknowledged.
    pub fn begin(&self, window: &Window) {
        locked(&self.beginning).push(window.events.subscribe());
    }

    /// The events since [`Connection::begin`].
    pub fn begun(&self, window: &Window) -> Receiver<Event> {
        locked(&self.beginning)
            .pop()
            .unwrap_or_else(|| window.events.subscribe())
    }

    /// Notes that a handshake, or a subscription, was admitted.
    pub fn admit(&self, who: &Identified) {
        self.revoked.get_or_init(|| who.revoked());
    }

    /// Starts telling an admitted client about changes, once.
    pub fn forward(&self, window: &Window, peer: &Peer<RoleServer>) {
        let Some(revoked) = self.revoked.get().cloned() else {
            return;
        };
        self.forwarding.get_or_init(|| {
            let ended = CancellationToken::new();
            let guard = ended.clone().drop_guard();
            let mut events = window.events.subscribe();
            let watched = Arc::clone(&self.watched);
            let peer = peer.clone();
            tokio::spawn(async move {
                loop {
                    let event = tokio::select! {
                        event = events.recv() => event,
                        () = ended.cancelled() => return,
                        () = revoked.cancelled() => return,
                    };
                    let sent = match event {
                        Ok(Event(change)) => notify(&peer, &watched, change).await,
                        Err(RecvError::Lagged(_)) => Ok(()),
                        Err(RecvError::Closed) => return,
                    };
                    if sent.is_err() {
                        return;
                    }
                }
            });
            guard
        });
    }
}

async fn notify(
    peer: &Peer<RoleServer>,
    watched: &Mutex<HashSet<String>>,
    change: Change,
) -> Result<(), ServiceError> {
    match change {
        Change::Resource(uri) => {
            let wanted = locked(watched).contains(&uri);
            if wanted {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri))
                    .await?;
            }
            Ok(())
        }
        Change::ResourceList => peer.notify_resource_list_changed().await,
        Change::ToolList => peer.notify_tool_list_changed().await,
        Change::PromptList => peer.notify_prompt_list_changed().await,
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
