//! A stand-in for Meilisearch on its own port. It answers like the recorded exchanges
//! in `tests/data`, stores documents, processes tasks, and can be made to misbehave.
//! `index` holds its documents, `filter` is its filter language.

mod filter;
mod index;

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::stream;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::{
    Method, Request, Response,
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use index::{Index, Problem};

pub const KEY: &str = "masterKey123";
const NOW: &str = "2026-11-15T01:19:40.881191123Z";

/// A client to ask it, or a real server, without the counter.
pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// How it misbehaves.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Answers after this long.
    Slow(Duration),
    /// Answers with this status and a useless body.
    Status(u16),
    /// Closes the connection in place of an answer.
    HangUp,
    /// Answers 200 with this.
    Answer(&'static str),
    /// Answers 403 with this.
    Refusal(&'static str),
    /// Answers 200 with this many mebibytes of spaces.
    Flood(u64),
}

/// A request as it was received.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: Method,
    pub path: String,
    pub body: Value,
}

pub struct Server {
    address: SocketAddr,
    inner: Arc<Inner>,
    /// Ends when the server goes down.
    up: Mutex<CancellationToken>,
}

#[derive(Default)]
struct Inner {
    index: Mutex<Option<Index>>,
    tasks: Mutex<Vec<Task>>,
    seen: Mutex<Vec<Seen>>,
    faults: Mutex<Vec<(&'static str, Fault)>>,
    is_holding_tasks: Mutex<bool>,
    failing: Mutex<Option<&'static str>>,
    flooded: AtomicU64,
}

struct Task {
    kind: &'static str,
    work: Work,
    due: Instant,
    outcome: Option<Outcome>,
}

#[derive(Clone)]
enum Work {
    Create(Value),
    Settings(Value),
    Put { documents: Vec<Value>, whole: bool },
    Remove(String),
    Drop,
}

struct Outcome {
    details: Value,
    error: Option<Problem>,
}

impl Server {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            inner: Arc::default(),
            up: Mutex::default(),
        };
        server.serve(listener);
        server
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn host(&self) -> String {
        self.address.to_string()
    }

    fn serve(&self, listener: TcpListener) {
        let (inner, up) = (Arc::clone(&self.inner), lock(&self.up).clone());
        tokio::spawn(up.clone().run_until_cancelled_owned(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let talk = connection(Arc::clone(&inner), stream);
                tokio::spawn(up.clone().run_until_cancelled_owned(talk));
            }
        }));
    }

    /// Connections are refused until [`Server::come_back`].
    pub async fn go_down(&self) {
        lock(&self.up).cancel();
        while TcpStream::connect(self.address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub async fn come_back(&self) {
        *lock(&self.up) = CancellationToken::new();
        loop {
            match TcpListener::bind(self.address).await {
                Ok(listener) => return self.serve(listener),
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    /// From now on, requests whose path contains `path` get this fault.
    pub fn fault(&self, path: &'static str, fault: Fault) {
        lock(&self.inner.faults).push((path, fault));
    }

    pub fn mend(&self) {
        lock(&self.inner.faults).clear();
        *lock(&self.inner.failing) = None;
    }

    /// Tasks with documents fail, with this code.
    pub fn fail_tasks(&self, code: &'static str) {
        *lock(&self.inner.failing) = Some(code);
    }

    /// Whether tasks stay enqueued.
    pub fn hold_tasks(&self, hold: bool) {
        *lock(&self.inner.is_holding_tasks) = hold;
    }

    /// Loses everything.
    pub fn lose_index(&self) {
        *lock(&self.inner.index) = None;
    }

    /// Keeps its index but loses the documents.
    pub fn lose_documents(&self) {
        if let Some(index) = &mut *lock(&self.inner.index) {
            index.documents.clear();
        }
    }

    /// Adds a document that is not the counter's.
    pub fn add_foreign(&self, document: Value) {
        let mut index = lock(&self.inner.index);
        index.as_mut().unwrap().put(document, true);
    }

    pub fn document(&self, id: i64) -> Option<Value> {
        let index = lock(&self.inner.index);
        index.as_ref()?.documents.get(&id.to_string()).cloned()
    }

    pub fn documents(&self) -> usize {
        let index = lock(&self.inner.index);
        index.as_ref().map_or(0, |index| index.documents.len())
    }

    pub fn settings(&self) -> Value {
        let index = lock(&self.inner.index);
        index.as_ref().map_or(Value::Null, Index::settings)
    }

    /// All requests since the last call.
    pub fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut lock(&self.inner.seen))
    }

    /// How many requests so far had `path` in their path.
    pub fn count(&self, path: &str) -> usize {
        let seen = lock(&self.inner.seen);
        seen.iter().filter(|seen| seen.path.contains(path)).count()
    }

    /// How many bytes of a flood were sent.
    pub fn flooded(&self) -> u64 {
        self.inner.flooded.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        lock(&self.up).cancel();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

async fn connection(inner: Arc<Inner>, stream: TcpStream) {
    let service = service_fn(move |request| answer(Arc::clone(&inner), request));
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

type Body = BoxBody<Bytes, Infallible>;

async fn answer(
    inner: Arc<Inner>,
    request: Request<Incoming>,
) -> Result<Response<Body>, &'static str> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| "cut off")?.to_bytes();
    let path = parts.uri.path().to_owned();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let seen = Seen {
        method: parts.method,
        path,
        body,
    };
    lock(&inner.seen).push(seen.clone());
    let faults = lock(&inner.faults).clone();
    let fault = faults.into_iter().find(|(on, _)| seen.path.contains(on));
    match fault.map(|(_, fault)| fault) {
        Some(Fault::Slow(pause)) => tokio::time::sleep(pause).await,
        Some(Fault::Status(status)) => return Ok(plain(status, "<h1>Sorry</h1>".into())),
        Some(Fault::HangUp) => return Err("hung up"),
        Some(Fault::Answer(text)) => return Ok(plain(200, text.into())),
        Some(Fault::Refusal(text)) => return Ok(plain(403, text.into())),
        Some(Fault::Flood(mebibytes)) => return Ok(flood(inner, mebibytes)),
        None => {}
    }
    let key = parts.headers.get("authorization");
    let key = key.map(|value| value.to_str().unwrap_or_default().to_owned());
    let (status, answer) = inner
        .handle(&seen, key.as_deref())
        .unwrap_or_else(|problem| (problem.status, problem.body()));
    Ok(plain(status, answer.to_string()))
}

fn plain(status: u16, text: String) -> Response<Body> {
    let mut response = Response::new(Full::from(text).boxed());
    *response.status_mut() = status.try_into().unwrap();
    response
}

fn flood(inner: Arc<Inner>, mebibytes: u64) -> Response<Body> {
    const CHUNK: &[u8] = &[b' '; 64 * 1024];
    let chunks = (0..mebibytes * 16).map(move |_| {
        inner
            .flooded
            .fetch_add(CHUNK.len() as u64, Ordering::Relaxed);
        Ok(Frame::data(Bytes::from_static(CHUNK)))
    });
    Response::new(StreamBody::new(stream::iter(chunks)).boxed())
}

type Answer = Result<(u16, Value), Problem>;

impl Inner {
    fn handle(&self, seen: &Seen, key: Option<&str>) -> Answer {
        self.work();
        let path: Vec<&str> = seen.path.trim_matches('/').split('/').collect();
        if path == ["health"] {
            return Ok((200, json!({"status": "available"})));
        }
        match key.map(|key| key.strip_prefix("Bearer ")) {
            None => return Err(Problem::no_key()),
            Some(Some(KEY)) => {}
            Some(_) => return Err(Problem::wrong_key()),
        }
        let body = &seen.body;
        match (seen.method.as_str(), &*path) {
            ("GET", ["tasks", uid]) => self.task(uid),
            ("POST", ["indexes"]) => Ok(self.enqueue("indexCreation", Work::Create(body.clone()))),
            ("DELETE", ["indexes", "products"]) => Ok(self.enqueue("indexDeletion", Work::Drop)),
            ("POST", ["indexes", "products", "search"]) => self.read(|index| index.search(body)),
            ("GET", ["indexes", "products", "stats"]) => self.read(|index| Ok(index.stats())),
            ("GET", ["indexes", "products", "settings"]) => self.read(|index| Ok(index.settings())),
            ("PATCH", ["indexes", "products", "settings"]) => {
                Ok(self.enqueue("settingsUpdate", Work::Settings(body.clone())))
            }
            (method @ ("POST" | "PUT"), ["indexes", "products", "documents"]) => {
                let work = Work::Put {
                    documents: body.as_array().cloned().unwrap_or_default(),
                    whole: method == "POST",
                };
                Ok(self.enqueue("documentAdditionOrUpdate", work))
            }
            ("GET", ["indexes", "products", "documents", id]) => {
                self.read(|index| index.document(id))
            }
            ("DELETE", ["indexes", "products", "documents", id]) => {
                Ok(self.enqueue("documentDeletion", Work::Remove((*id).into())))
            }
            _ => Err(Problem::new(404, "not_found", "Not found".into())),
        }
    }

    fn read(&self, read: impl FnOnce(&Index) -> Result<Value, Problem>) -> Answer {
        let index = lock(&self.index);
        let index = index.as_ref().ok_or_else(Problem::no_index)?;
        Ok((200, read(index)?))
    }

    fn enqueue(&self, kind: &'static str, work: Work) -> (u16, Value) {
        let mut tasks = lock(&self.tasks);
        tasks.push(Task {
            kind,
            work,
            due: Instant::now() + Duration::from_millis(30),
            outcome: None,
        });
        let answer = json!({
            "taskUid": tasks.len() - 1, "indexUid": "products", "status": "enqueued",
            "type": kind, "enqueuedAt": NOW,
        });
        (202, answer)
    }

    /// Processes the tasks that are due, in order.
    fn work(&self) {
        if *lock(&self.is_holding_tasks) {
            return;
        }
        let failing = *lock(&self.failing);
        let mut tasks = lock(&self.tasks);
        for task in tasks.iter_mut().filter(|task| task.outcome.is_none()) {
            if task.due > Instant::now() {
                return;
            }
            task.outcome = Some(work(&mut lock(&self.index), task.work.clone(), failing));
        }
    }

    fn task(&self, uid: &str) -> Answer {
        let tasks = lock(&self.tasks);
        let number: usize = uid.parse().unwrap_or(usize::MAX);
        let task = tasks.get(number).ok_or_else(|| Problem::no_task(uid))?;
        let done = task.outcome.as_ref();
        let status = match done {
            None => "enqueued",
            Some(Outcome { error: None, .. }) => "succeeded",
            Some(_) => "failed",
        };
        let at = done.map(|_| NOW);
        Ok((
            200,
            json!({
                "uid": number, "batchUid": done.map(|_| number), "indexUid": "products",
                "status": status, "type": task.kind, "canceledBy": null,
                "details": done.map(|done| &done.details),
                "error": done.and_then(|done| done.error.as_ref()).map(Problem::body),
                "duration": done.map(|_| "PT0.006596447S"),
                "enqueuedAt": NOW, "startedAt": at, "finishedAt": at,
            }),
        ))
    }
}

fn work(index: &mut Option<Index>, work: Work, failing: Option<&'static str>) -> Outcome {
    let (details, error) = match work {
        Work::Create(body) => {
            let details = json!({"primaryKey": body["primaryKey"]});
            match index {
                Some(_) => (details, Some(Problem::index_exists())),
                None => {
                    *index = Some(Index::default());
                    (details, None)
                }
            }
        }
        Work::Settings(body) => {
            index.get_or_insert_default().set(&body);
            (body, None)
        }
        Work::Put { documents, whole } => {
            let received = documents.len();
            let error = failing
                .map(|code| Problem::new(500, code, format!("It happens that {code}.")))
                .or_else(|| documents.iter().find_map(index::without_id));
            let indexed = if error.is_some() { 0 } else { received };
            if error.is_none() {
                let index = index.get_or_insert_default();
                for document in documents {
                    index.put(document, whole);
                }
            }
            (
                json!({"receivedDocuments": received, "indexedDocuments": indexed}),
                error,
            )
        }
        Work::Remove(id) => {
            let removed = index
                .as_mut()
                .is_some_and(|index| index.documents.remove(&id).is_some());
            (
                json!({"providedIds": 1, "originalFilter": null, "deletedDocuments": u8::from(removed)}),
                None,
            )
        }
        Work::Drop => {
            let had = index.take().map_or(0, |index| index.documents.len());
            (json!({"deletedDocuments": had}), None)
        }
    };
    Outcome { details, error }
}
