//! Takes messages from a connection: parses them, admits requests, and answers
//! plain calls on the direct path. The protocol crate does the rest. It is
//! started for the first message that needs it, because what it sets up for a
//! connection takes more memory than everything else.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use desk::{
    Desk,
    methods::TOOLS_CALL,
    pipeline::{Admitted, Refusal},
    stations::identify::Credentials,
};
use rmcp::{
    RoleServer,
    model::{ClientNotification, ClientRequest, GetExtensions},
    service::{RunningService, RxJsonRpcMessage, serve_directly_with_ct},
};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::{
    messages::{Channel, Outgoing, Received},
    transport::ChannelTransport,
};
use crate::{
    address_limits::OverLimit,
    wire::{
        definitions::PublishedCounter,
        direct::{CallOptions, DirectCall},
        errors::{Fault, error_message},
        handler::Handler,
        inbound, subscriptions,
    },
};

/// How long calls may go on when the client has sent its last request.
const AFTER_THE_END: Duration = Duration::from_secs(10);
/// Requests that one connection may have in flight.
const IN_FLIGHT: u32 = 256;
/// How long a further request waits before it is refused.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Serves the connection until it ends and its last request is answered, or
/// until `gone` reports that the client has gone.
pub async fn serve(
    desk: Arc<Desk>,
    published: Arc<PublishedCounter>,
    channel: Channel,
    gone: CancellationToken,
) {
    let intake = Intake {
        desk,
        published,
        channel,
        gone,
        rmcp: None,
        calls: Arc::default(),
        initialized: false,
        admitted: false,
        in_flight: Arc::new(Semaphore::new(IN_FLIGHT as usize)),
    };
    intake.run().await;
}

struct Intake {
    desk: Arc<Desk>,
    published: Arc<PublishedCounter>,
    channel: Channel,
    gone: CancellationToken,
    rmcp: Option<RmcpService>,
    calls: Arc<Calls>,
    initialized: bool,
    /// Whether a request was admitted: its key is not a guess.
    admitted: bool,
    in_flight: Arc<Semaphore>,
}

/// The protocol crate, serving this connection in tasks of its own.
struct RmcpService {
    /// Boxed, because a queue allocates room for 32 entries.
    ready: mpsc::Sender<Box<RxJsonRpcMessage<RoleServer>>>,
    service: RunningService<RoleServer, Handler>,
}

/// Cancels the calls on the direct path, by the request's id as JSON.
#[derive(Default)]
struct Calls(Mutex<HashMap<String, CancellationToken>>);

impl Calls {
    fn with<T>(&self, work: impl FnOnce(&mut HashMap<String, CancellationToken>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Intake {
    async fn run(mut self) {
        let (stopping, gone) = (self.desk.stopping.clone(), self.gone.clone());
        loop {
            let received = tokio::select! {
                received = self.channel.incoming.recv() => received,
                () = stopping.cancelled() => None,
                () = gone.cancelled() => return,
            };
            let Some(received) = received else {
                break;
            };
            let Received { bytes, mut permit } = *received;
            if self.take_plain(&bytes, &mut permit).await {
                continue;
            }
            // Boxed: it is large, and for most connections never needed.
            if let Some(message) = Box::pin(self.take(&bytes, permit)).await
                && self.rmcp().send(Box::new(message)).await.is_err()
            {
                return;
            }
        }
        // No more requests. Those in flight are answered first, because the
        // protocol crate does not wait for them when it is told of the end.
        let limit = if stopping.is_cancelled() {
            Duration::from_secs(self.desk.settings.http.shutdown_seconds)
        } else {
            AFTER_THE_END
        };
        tokio::select! {
            _ = tokio::time::timeout(limit, self.in_flight.acquire_many(IN_FLIGHT)) => {}
            () = gone.cancelled() => return,
        }
        if let Some(RmcpService { ready, service }) = self.rmcp {
            drop(ready);
            let _ = service.waiting().await;
        }
    }

    fn rmcp(&mut self) -> &mpsc::Sender<Box<RxJsonRpcMessage<RoleServer>>> {
        let rmcp = self.rmcp.get_or_insert_with(|| {
            let (ready, incoming) = mpsc::channel(1);
            let handler = Handler::new(Arc::clone(&self.desk), Arc::clone(&self.published))
                .with_own_names(self.channel.own_dialect);
            let transport = ChannelTransport {
                incoming,
                outgoing: self.channel.outgoing.clone(),
                published: Arc::clone(&self.published),
                flat_results: self.channel.own_dialect,
            };
            // Without a prescribed handshake: each request says by itself, or by an
            // earlier `initialize`, which era it belongs to.
            let service = serve_directly_with_ct(handler, transport, None, self.gone.clone());
            RmcpService { ready, service }
        });
        &rmcp.ready
    }

    /// Begins a call that fits the direct path; false if it does not.
    async fn take_plain(
        &mut self,
        bytes: &[u8],
        budget: &mut Option<OwnedSemaphorePermit>,
    ) -> bool {
        if !self.published.direct_path {
            return false;
        }
        let Some(call) = DirectCall::read(bytes, !self.initialized) else {
            return false;
        };
        let id = serde_json::from_str(&call.id).ok();
        let Some(admitted) = self.admit(id.as_ref(), TOOLS_CALL.name).await else {
            return true;
        };
        let Some(permit) = self.permit(id.as_ref()).await else {
            return true;
        };
        let id = id.as_ref().map(Value::to_string).unwrap_or_default();
        let cancel = self.gone.child_token();
        self.calls
            .with(|calls| calls.insert(id.clone(), cancel.clone()));
        let options = CallOptions {
            admitted,
            language: self.channel.language,
            cancel: cancel.clone(),
            flat: self.channel.own_dialect,
        };
        let (desk, published) = (Arc::clone(&self.desk), Arc::clone(&self.published));
        let (outgoing, calls) = (self.channel.outgoing.clone(), Arc::clone(&self.calls));
        let budget = budget.take();
        tokio::spawn(async move {
            let (_, answer) = call.serve(&desk, &published, options).await;
            calls.with(|calls| calls.remove(&id));
            // A cancelled call is not answered.
            if !cancel.is_cancelled() {
                outgoing.send(answer).await;
            }
            drop((permit, budget));
        });
        true
    }

    /// The message for the protocol crate; `None` if it was answered here.
    async fn take(
        &mut self,
        bytes: &[u8],
        budget: Option<OwnedSemaphorePermit>,
    ) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut message = match inbound::message(bytes) {
            Ok(message) => message,
            Err((id, fault)) => {
                self.answer(id.as_ref(), &fault).await;
                return None;
            }
        };
        let request = match &mut message {
            RxJsonRpcMessage::<RoleServer>::Request(request) => request,
            RxJsonRpcMessage::<RoleServer>::Notification(it)
                if self.cancels_plain_call(&it.notification) =>
            {
                return None;
            }
            // Until a request was admitted the client is unknown: nothing may
            // make the protocol crate send it notifications.
            _ => return self.admitted.then_some(message),
        };
        let id = serde_json::to_value(&request.id).ok();
        let admitted = self.admit(id.as_ref(), request.request.method()).await?;
        if matches!(&request.request, ClientRequest::InitializeRequest(_)) {
            self.initialized = true;
        }
        if let ClientRequest::SubscriptionsListenRequest(listen) = &request.request
            && let Err(refused) = subscriptions::admit_listen(
                &self.desk,
                &self.published,
                &admitted,
                &listen.params.notifications,
            )
            .await
        {
            self.answer(id.as_ref(), &refused.into()).await;
            return None;
        }
        let permit = self.permit(id.as_ref()).await?;
        let extensions = request.request.extensions_mut();
        extensions.insert(admitted);
        if let Some(language) = self.channel.language {
            extensions.insert(language);
        }
        // Lives as long as the request's context, so it counts requests in flight.
        extensions.insert(Arc::new((permit, budget)));
        Some(message)
    }

    /// Cancels the call on the direct path that this names, if there is one.
    fn cancels_plain_call(&self, notification: &ClientNotification) -> bool {
        let ClientNotification::CancelledNotification(cancelled) = notification else {
            return false;
        };
        let id = serde_json::to_string(&cancelled.params.request_id).unwrap_or_default();
        let call = self.calls.with(|calls| calls.get(&id).cloned());
        call.inspect(CancellationToken::cancel).is_some()
    }

    /// The caller; `None` if the request was refused and answered.
    async fn admit(&mut self, id: Option<&Value>, method: &str) -> Option<Admitted> {
        if let Err(barred) = self.ask_address() {
            self.answer(id, &Fault::from(barred)).await;
            return None;
        }
        let admitted = match &self.channel.identified {
            Ok(()) => {
                let credentials = &self.channel.credentials;
                self.desk.admit(&self.published, credentials, method).await
            }
            Err(why) => Err(self.desk.refuse_unidentified(&self.published, why)),
        };
        match admitted {
            Ok(mut admitted) => {
                self.admitted = true;
                admitted.address = self.channel.visit.as_ref().map(|visit| visit.address);
                Some(admitted)
            }
            Err(refusal) => {
                self.answer(id, &Fault::from(&refusal)).await;
                let ends = match &refusal {
                    Refusal::InvalidKey => {
                        self.note_wrong_key();
                        true
                    }
                    Refusal::OutOfScope { .. } => true,
                    // The key is only looked up when a connection begins.
                    Refusal::Unavailable { .. } => self.channel.identified.is_err(),
                    _ => false,
                };
                if ends {
                    let outgoing = &self.channel.outgoing;
                    let why = Outgoing::Unidentified(Box::new(refusal));
                    outgoing.end(why).await;
                }
                None
            }
        }
    }

    /// Checks the limits of the address, before the key.
    fn ask_address(&self) -> Result<(), OverLimit> {
        match &self.channel.visit {
            Some(visit) => {
                let is_right = || self.desk.keyring.recognises(&self.channel.credentials);
                // A key that was wrong from the beginning is not looked at again.
                let may_guess = self.brings_key() && self.channel.identified.is_ok();
                visit.request(|| may_guess && !self.admitted && !is_right())
            }
            None => Ok(()),
        }
    }

    /// A key that was wrong when the connection began was counted then.
    fn note_wrong_key(&self) {
        let became_wrong = self.channel.identified.is_ok() && self.brings_key();
        if let Some(visit) = self.channel.visit.as_ref().filter(|_| became_wrong) {
            visit.wrong_key();
        }
    }

    fn brings_key(&self) -> bool {
        matches!(self.channel.credentials, Credentials::Key(_))
    }

    /// A permit to begin one more request: there is room for its answer, and not
    /// too many are in flight. Refused after a while, so that the client of a
    /// connection full of long calls can still cancel them.
    async fn permit(&self, id: Option<&Value>) -> Option<OwnedSemaphorePermit> {
        self.channel.outgoing.has_room().await;
        let permit = Arc::clone(&self.in_flight).acquire_owned();
        if let Ok(Ok(permit)) = tokio::time::timeout(MAX_WAIT, permit).await {
            return Some(permit);
        }
        let fault = Fault {
            code: 429,
            message: "Too many requests are in flight on this connection.".into(),
            data: Some(serde_json::json!({ "retry_after_ms": 1000 })),
        };
        self.answer(id, &fault).await;
        None
    }

    async fn answer(&self, id: Option<&Value>, fault: &Fault) {
        let message = error_message(id, fault).to_string();
        self.channel.outgoing.send(message).await;
    }
}
