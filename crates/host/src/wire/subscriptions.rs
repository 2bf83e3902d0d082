//! Changes on their way to the client: `subscriptions/listen` of the stateless
//! era, and what a client of the handshake era subscribed to on its connection.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use kit::{Context, Error, Result, context::Change};
use rmcp::{
    RoleServer, ServiceError,
    model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::{Peer, SubscriptionContext},
};
use serde_json::json;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    client::{LogLevel, PlainClient},
    outbound,
};
use crate::{
    desk::{Desk, Window},
    events::Event,
    methods::SUBSCRIPTIONS_LISTEN,
    pipeline::{Admitted, ReadRequest},
    stations::authorize::Target,
};

/// Addresses that one connection, or one `subscriptions/listen`, may watch.
const MOST_WATCHED: usize = 100;

/// Subscriptions of one connection that wait to be acknowledged. Each request
/// under way begins at most one.
const MOST_BEGINNING: usize = 256;

/// The stations for `subscriptions/listen`. The protocol crate acknowledges a
/// subscription without saying whose it is, so transports ask here before.
pub async fn admit_listen(
    desk: &Desk,
    window: &Window,
    admitted: &Admitted,
    filter: &SubscriptionFilter,
) -> Result<(), ErrorData> {
    let who = &admitted.who;
    let client = PlainClient {
        capabilities: json!({}),
        stateless: true,
    };
    let context = Context::new(who.caller.clone(), desk.clock.clone(), Arc::new(client));
    let uris = filter.resource_subscriptions.as_deref().unwrap_or_default();
    let read = ReadRequest {
        who,
        method: SUBSCRIPTIONS_LISTEN,
        target: Target::Resources(uris),
        context: &context,
    };
    let work = async { check_count(uris.len()) };
    desk.read(window, &read, work)
        .await
        .map_err(|error| outbound::read_refused(error, context.call, &read.target))
}

fn check_count(watched: usize) -> Result<()> {
    if watched <= MOST_WATCHED {
        return Ok(());
    }
    Err(Error::new(
        "TOO_MANY_SUBSCRIPTIONS",
        format!("One connection watches at most {MOST_WATCHED} addresses."),
    )
    .next("End subscriptions that are no longer needed."))
}

/// Forwards changes until the client or the desk ends the subscription.
pub async fn listen(desk: &Desk, mut events: Receiver<Event>, context: &SubscriptionContext) {
    let sink = context.sink();
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = context.cancelled() => return,
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

/// What a client of the handshake era has set up on its connection.
#[derive(Default)]
pub struct Connection {
    pub log_level: LogLevel,
    /// Whether one of its requests was admitted. It hears nothing before.
    is_admitted: AtomicBool,
    watched: Arc<Mutex<HashSet<String>>>,
    /// Ends the forwarding of changes when the connection does.
    forwarding: OnceLock<DropGuard>,
    /// Of subscriptions that are being acknowledged. A change that comes right
    /// after the acknowledgement must not be missed, so they start before it.
    beginning: Mutex<Vec<Receiver<Event>>>,
}

impl Connection {
    /// Called for a request that passed the first stations.
    pub fn admit(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
    }

    pub fn watch(&self, uris: &[String]) -> Result<()> {
        let mut watched = locked(&self.watched);
        let new = uris.iter().filter(|uri| !watched.contains(*uri)).count();
        check_count(watched.len() + new)?;
        watched.extend(uris.iter().cloned());
        Ok(())
    }

    pub fn unwatch(&self, uri: &str) {
        locked(&self.watched).remove(uri);
    }

    /// Called before a subscription is acknowledged.
    pub fn begin(&self, window: &Window) {
        let mut beginning = locked(&self.beginning);
        // One whose acknowledgement could not be sent was never fetched.
        if beginning.len() == MOST_BEGINNING {
            beginning.remove(0);
        }
        beginning.push(window.events.subscribe());
    }

    /// The events since [`Connection::begin`].
    pub fn begun(&self, window: &Window) -> Receiver<Event> {
        locked(&self.beginning)
            .pop()
            .unwrap_or_else(|| window.events.subscribe())
    }

    /// Starts telling the client about changes, once.
    pub fn forward(&self, window: &Window, peer: &Peer<RoleServer>) {
        if !self.is_admitted.load(Ordering::Relaxed) {
            return;
        }
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
