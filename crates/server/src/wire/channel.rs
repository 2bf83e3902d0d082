//! A connection that carries whole messages, one after another: what stdio and
//! WebSocket have in common. A request may come bare, with neither handshake nor
//! metadata. Parsing and admission happen here, and plain calls take the short
//! way; the protocol crate does the rest, from the first message on that needs
//! it: what it sets up for a connection takes more memory than all else.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use desk::{
    Desk,
    methods::TOOLS_CALL,
    pipeline::{Admitted, Refusal},
    stations::identify::Credentials,
};
use kit::context::Language;
use rmcp::{
    RoleServer,
    model::{ClientNotification, ClientRequest, GetExtensions, ServerResult},
    service::{RunningService, RxJsonRpcMessage, TxJsonRpcMessage, serve_directly_with_ct},
    transport::Transport,
};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::{
    backlog::{Backlog, Held},
    direct::{How, PlainCall},
    handler::Handler,
    inbound,
    outbound::{Fault, error_message, explain, shorten},
    subscriptions, tool_result,
};
use crate::{
    addresses::{Barred, Visit},
    wire::definitions::PublishedCounter,
};

/// How long calls may go on when the client has sent its last request.
const AFTER_THE_END: Duration = Duration::from_secs(10);
/// Requests one connection may have under way. Further ones wait unread,
const IN_FLIGHT: u32 = 256;
/// and are refused after this long.
const PATIENCE: Duration = Duration::from_secs(2);

/// What goes out: a message, or the end with the reason for it.
pub enum Outgoing {
    Message(Text),
    /// The key was not valid; nothing else will be answered.
    Unauthorized,
    /// The client broke the rules of its transport.
    Broken(Breach),
}

/// A message, and what counts it as unread until it is dropped.
pub struct Text {
    pub text: String,
    pub held: Option<Held>,
}

/// The way out of a connection.
#[derive(Clone)]
pub struct Outbox {
    queue: mpsc::Sender<Outgoing>,
    /// `None` where a single client serves itself.
    backlog: Option<Arc<Backlog>>,
}

impl Outbox {
    pub fn new(queue: mpsc::Sender<Outgoing>, backlog: Option<Arc<Backlog>>) -> Self {
        Self { queue, backlog }
    }

    /// Waits while too many others wait, which slows down a client that does not
    /// read. A closed connection shows itself where its messages are received.
    async fn send(&self, text: String) {
        let held = self.backlog.as_ref().map(|it| it.hold(text.len()));
        let text = Text { text, held };
        let _ = self.queue.send(Outgoing::Message(text)).await;
    }

    /// The same, where nothing can be awaited.
    pub fn blocking_send(&self, text: String) {
        let text = Text { text, held: None };
        let _ = self.queue.blocking_send(Outgoing::Message(text));
    }

    /// Ends the connection.
    pub async fn end(&self, with: Outgoing) {
        let _ = self.queue.send(with).await;
    }
}

/// A message that came, and its part of the memory for large ones. It is held
/// until the message is answered: what is made of it is larger still.
pub struct Received {
    pub bytes: Bytes,
    pub permit: Option<OwnedSemaphorePermit>,
}

#[derive(Debug, Clone, Copy)]
pub enum Breach {
    /// More than a message may hold.
    TooLarge,
    /// Text that is not UTF-8.
    NotText,
    /// Anything else.
    Protocol,
}

/// The two ends a transport pumps bytes through, and who is on the other side.
pub struct Channel {
    pub incoming: mpsc::Receiver<Received>,
    pub outgoing: Outbox,
    pub credentials: Credentials,
    /// Whether they were good when the connection began. If not, they never
    /// are: nobody would close it when a key that came later is revoked.
    pub is_identified: bool,
    /// Whether it speaks as the counter's document has it: tools under the names
    /// given there, and their fields at the top of a result as well.
    pub own_dialect: bool,
    pub language: Option<Language>,
    /// Where it comes from; nobody knows of a pipe.
    pub visit: Option<Arc<Visit>>,
}

/// Serves the connection until it ends and its last request is answered, or
/// until `gone` says that nobody is there to read the answers.
pub async fn serve(
    desk: Arc<Desk>,
    window: Arc<PublishedCounter>,
    channel: Channel,
    gone: CancellationToken,
) {
    let intake = Intake {
        desk,
        window,
        channel,
        gone,
        long_way: None,
        calls: Arc::default(),
        initialized: false,
        admitted: false,
        in_flight: Arc::new(Semaphore::new(IN_FLIGHT as usize)),
    };
    intake.run().await;
}

struct Intake {
    desk: Arc<Desk>,
    window: Arc<PublishedCounter>,
    channel: Channel,
    gone: CancellationToken,
    long_way: Option<LongWay>,
    calls: Arc<Calls>,
    initialized: bool,
    /// Whether its key has opened the desk: it is no guess.
    admitted: bool,
    in_flight: Arc<Semaphore>,
}

/// The protocol crate, serving this connection in tasks of its own.
struct LongWay {
    /// In boxes: a queue sets room aside for 32 of what it holds.
    ready: mpsc::Sender<Box<RxJsonRpcMessage<RoleServer>>>,
    service: RunningService<RoleServer, Handler>,
}

/// What cancels the calls that took the short way, by the request's id as JSON.
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
            let Some(Received { bytes, mut permit }) = received else {
                break;
            };
            if self.take_plain(&bytes, &mut permit).await {
                continue;
            }
            // Boxed: it is large, and for most connections never needed.
            if let Some(message) = Box::pin(self.take(&bytes, permit)).await
                && self.long_way().send(Box::new(message)).await.is_err()
            {
                return;
            }
        }
        // No more requests. Those under way are answered before the end is
        // passed on, for the protocol crate would not wait for them.
        let limit = if stopping.is_cancelled() {
            Duration::from_secs(self.desk.settings.http.shutdown_seconds)
        } else {
            AFTER_THE_END
        };
        tokio::select! {
            _ = tokio::time::timeout(limit, self.in_flight.acquire_many(IN_FLIGHT)) => {}
            () = gone.cancelled() => return,
        }
        if let Some(LongWay { ready, service }) = self.long_way {
            drop(ready);
            let _ = service.waiting().await;
        }
    }

    fn long_way(&mut self) -> &mpsc::Sender<Box<RxJsonRpcMessage<RoleServer>>> {
        let long_way = self.long_way.get_or_insert_with(|| {
            let (ready, incoming) = mpsc::channel(1);
            let handler = Handler::new(Arc::clone(&self.desk), Arc::clone(&self.window))
                .with_own_names(self.channel.own_dialect);
            let transport = ChannelTransport {
                incoming,
                outgoing: self.channel.outgoing.clone(),
                window: Arc::clone(&self.window),
                flat_results: self.channel.own_dialect,
            };
            // Without a prescribed handshake: each request says by itself, or by an
            // earlier `initialize`, which era it belongs to.
            let service = serve_directly_with_ct(handler, transport, None, self.gone.clone());
            LongWay { ready, service }
        });
        &long_way.ready
    }

    /// Begins a call that can take the short way; false if it can't.
    async fn take_plain(
        &mut self,
        bytes: &[u8],
        budget: &mut Option<OwnedSemaphorePermit>,
    ) -> bool {
        if !self.window.direct_path {
            return false;
        }
        let Some(call) = PlainCall::read(bytes, !self.initialized) else {
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
        let how = How {
            admitted,
            language: self.channel.language,
            cancel: cancel.clone(),
            flat: self.channel.own_dialect,
        };
        let (desk, window) = (Arc::clone(&self.desk), Arc::clone(&self.window));
        let (outgoing, calls) = (self.channel.outgoing.clone(), Arc::clone(&self.calls));
        let budget = budget.take();
        tokio::spawn(async move {
            let (_, answer) = call.serve(&desk, &window, how).await;
            calls.with(|calls| calls.remove(&id));
            // Who cancels a call wants no answer to it.
            if !cancel.is_cancelled() {
                outgoing.send(answer).await;
            }
            drop((permit, budget));
        });
        true
    }

    /// The message for the protocol crate, unless it is dealt with here.
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
            // Until a request was admitted nobody knows who this is, and no
            // message may make the protocol crate tell them anything.
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
                &self.window,
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
        // Lives as long as the request's context, and so counts those under way.
        extensions.insert(Arc::new((permit, budget)));
        Some(message)
    }

    /// Whether a call that took the short way is cancelled by this.
    fn cancels_plain_call(&self, notification: &ClientNotification) -> bool {
        let ClientNotification::CancelledNotification(cancelled) = notification else {
            return false;
        };
        let id = serde_json::to_string(&cancelled.params.request_id).unwrap_or_default();
        let call = self.calls.with(|calls| calls.get(&id).cloned());
        call.inspect(CancellationToken::cancel).is_some()
    }

    /// Who asks; `None` when they may not, and have been told so.
    async fn admit(&mut self, id: Option<&Value>, method: &str) -> Option<Admitted> {
        if let Err(barred) = self.ask_address() {
            self.answer(id, &Fault::from(barred)).await;
            return None;
        }
        let admitted = if self.channel.is_identified {
            let credentials = &self.channel.credentials;
            self.desk.admit(&self.window, credentials, method).await
        } else {
            Err(self.desk.refuse_unidentified(&self.window))
        };
        match admitted {
            Ok(admitted) => {
                self.admitted = true;
                Some(admitted)
            }
            Err(refusal) => {
                self.answer(id, &Fault::from(&refusal)).await;
                if refusal == Refusal::InvalidKey {
                    self.note_wrong_key();
                    self.channel.outgoing.end(Outgoing::Unauthorized).await;
                }
                None
            }
        }
    }

    /// Whether the address may ask, before its key is looked at.
    fn ask_address(&self) -> Result<(), Barred> {
        match &self.channel.visit {
            Some(visit) => {
                let is_right = || self.desk.keyring.recognises(&self.channel.credentials);
                // A key that was wrong from the beginning is not looked at again.
                let may_guess = self.brings_key() && self.channel.is_identified;
                visit.request(|| may_guess && !self.admitted && !is_right())
            }
            None => Ok(()),
        }
    }

    /// One that was wrong when the connection began was counted then.
    fn note_wrong_key(&self) {
        let became_wrong = self.channel.is_identified && self.brings_key();
        if let Some(visit) = self.channel.visit.as_ref().filter(|_| became_wrong) {
            visit.wrong_key();
        }
    }

    fn brings_key(&self) -> bool {
        matches!(self.channel.credentials, Credentials::Key(_))
    }

    /// Leave to begin one more request: there is room for its answer, and not
    /// too many are under way. Refused after a while, so that a connection full
    /// of long calls still hears that they are cancelled.
    async fn permit(&self, id: Option<&Value>) -> Option<OwnedSemaphorePermit> {
        drop(self.channel.outgoing.queue.reserve().await);
        let permit = Arc::clone(&self.in_flight).acquire_owned();
        if let Ok(Ok(permit)) = tokio::time::timeout(PATIENCE, permit).await {
            return Some(permit);
        }
        let fault = Fault {
            code: 429,
            message: "Too many requests are under way on this connection.".into(),
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

struct ChannelTransport {
    incoming: mpsc::Receiver<Box<RxJsonRpcMessage<RoleServer>>>,
    outgoing: Outbox,
    window: Arc<PublishedCounter>,
    flat_results: bool,
}

/// A message as text; with `flat`, the fields of a tool's answer stand at the
/// top of the result too.
fn written(item: &TxJsonRpcMessage<RoleServer>, flat: bool) -> serde_json::Result<String> {
    if flat
        && let TxJsonRpcMessage::<RoleServer>::Response(response) = item
        && let ServerResult::CallToolResult(result) = &response.result
    {
        return tool_result::flat_response(&response.id, result);
    }
    serde_json::to_string(item)
}

impl Transport<RoleServer> for ChannelTransport {
    type Error = Infallible;

    fn send(
        &mut self,
        mut item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (outgoing, flat) = (self.outgoing.clone(), self.flat_results);
        if let TxJsonRpcMessage::<RoleServer>::Error(error) = &mut item {
            explain(&mut error.error, &self.window);
            shorten(&mut error.error);
        }
        async move {
            match written(&item, flat) {
                Ok(text) => outgoing.send(text).await,
                Err(error) => tracing::error!(%error, "a message could not be written"),
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.incoming.recv().await.map(|message| *message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.incoming.close();
        Ok(())
    }
}
