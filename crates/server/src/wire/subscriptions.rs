//! Changes on their way to the client: `subscriptions/listen` of the stateless
//! era, and what a client of the handshake era subscribed to on its connection.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use desk::{
    Desk,
    events::Event,
    methods::SUBSCRIPTIONS_LISTEN,
    pipeline::{Admitted, ReadRequest},
    stations::{
        authorize::{self, ReadTarget},
        identify::Identified,
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
    errors,
};
use crate::wire::definitions::PublishedCounter;

/// Addresses that one connection, or one `subscriptions/listen`, may watch.
const MOST_WATCHED: usize = 100;

/// Bytes of all these addresses together. The protocol crate keeps several
/// copies of them for as long as a subscription lasts.
const MOST_BYTES: usize = 8 * 1024;

/// Subscriptions of one connection that wait to be acknowledged. Each request
/// in flight begins at most one.
const MOST_BEGINNING: usize = 256;

/// The stations for `subscriptions/listen`. Transports call this first, because
/// the protocol crate acknowledges a subscription without naming its caller.
pub async fn admit_listen(
    desk: &Desk,
    published: &PublishedCounter,
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
    if !uris.is_empty() && published.counter.resources.is_none() {
        let name = published.counter.about.name;
        let message = format!("The counter {name} has no resources to subscribe to.");
        return Err(ErrorData::invalid_params(message, None));
    }
    let read = ReadRequest {
        from: admitted,
        method: SUBSCRIPTIONS_LISTEN,
        target: ReadTarget::Resources(uris),
        context: &context,
    };
    let work = async { check_size(uris.iter()) };
    desk.read(published, &read, work)
        .await
        .map_err(|error| errors::read_refused(error, context.call, &read.target))
}

fn check_size<'a>(watched: impl Iterator<Item = &'a String>) -> Result<()> {
    let (mut count, mut bytes) = (0, 0);
    for uri in watched {
        count += 1;
        bytes += uri.len();
    }
    if count <= MOST_WATCHED && bytes <= MOST_BYTES {
        return Ok(());
    }
    Err(Error::new(
        "TOO_MANY_SUBSCRIPTIONS",
        format!(
            "One connection watches at most {MOST_WATCHED} addresses of {MOST_BYTES} bytes together."
        ),
    )
    .next("End subscriptions that are no longer needed."))
}

/// Forwards changes until the client or the desk ends the subscription, or the
/// key it was made with is revoked.
pub async fn listen(
    desk: &Desk,
    published: &PublishedCounter,
    mut events: Receiver<Event>,
    context: &SubscriptionContext,
    who: &Identified,
) {
    let sink = context.sink();
    let revoked = who.revoked();
    let hears_of_lists = authorize::may_list_resources(published, who);
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
            Change::ResourceList if !hears_of_lists => continue,
            Change::ResourceList => sink.notify_resource_list_changed().await,
            Change::ToolList => sink.notify_tool_list_changed().await,
            Change::PromptList => sink.notify_prompt_list_changed().await,
            Change::Page => continue,
        };
    }
}

/// What a client of the handshake era has set up on its connection.
#[derive(Default)]
pub struct Connection {
    pub log_level: LogLevel,
    watched: Arc<Mutex<HashSet<String>>>,
    /// Whose handshake or subscription was admitted. Without it nothing is sent.
    who: OnceLock<Identified>,
    /// Ends the forwarding of changes when the connection does.
    forwarding: OnceLock<DropGuard>,
    /// Events for subscriptions that are being acknowledged. They start before
    /// the acknowledgement, so that no change right after it is missed.
    beginning: Mutex<Vec<Receiver<Event>>>,
}

impl Connection {
    pub fn watch(&self, uris: &[String]) -> Result<()> {
        let mut watched = locked(&self.watched);
        let new = uris.iter().filter(|uri| !watched.contains(*uri));
        check_size(watched.iter().chain(new))?;
        watched.extend(uris.iter().cloned());
        Ok(())
    }

    pub fn unwatch(&self, uri: &str) {
        locked(&self.watched).remove(uri);
    }

    /// Called before a subscription is acknowledged.
    pub fn begin(&self, published: &PublishedCounter) {
        let mut beginning = locked(&self.beginning);
        // One whose acknowledgement could not be sent was never fetched.
        if beginning.len() == MOST_BEGINNING {
            beginning.remove(0);
        }
        beginning.push(published.events.subscribe());
    }

    /// The events since [`Connection::begin`].
    pub fn begun(&self, published: &PublishedCounter) -> Receiver<Event> {
        locked(&self.beginning)
            .pop()
            .unwrap_or_else(|| published.events.subscribe())
    }

    /// Notes that a handshake, or a subscription, was admitted.
    pub fn admit(&self, who: &Identified) {
        self.who.get_or_init(|| who.clone());
    }

    /// Starts telling an admitted client about changes, once.
    pub fn forward(&self, published: &PublishedCounter, peer: &Peer<RoleServer>) {
        let Some(who) = self.who.get() else {
            return;
        };
        let revoked = who.revoked();
        let hears_of_lists = authorize::may_list_resources(published, who);
        self.forwarding.get_or_init(|| {
            let ended = CancellationToken::new();
            let guard = ended.clone().drop_guard();
            let mut events = published.events.subscribe();
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
                        Ok(Event(Change::ResourceList)) if !hears_of_lists => Ok(()),
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
        Change::Page => Ok(()),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
