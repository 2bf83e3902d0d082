//! Plain calls take a direct path past the protocol crate, over HTTP and on a
//! socket. Whatever is asked, both paths must give the same answer.

mod corpus;

use std::sync::Arc;

use desk::{
    Settings,
    settings::{self, Policy},
    state::{DeskState, OpenState, Secret},
    tables::TABLES,
};
use kit::{Store, time::Clock};
use serde_json::{Value, json};
use server::{
    console,
    transport::{
        endpoint::{Endpoints, endpoints},
        http,
        listener::{self, Listener, Site},
        own_port::{self, OwnPort},
    },
    wire::definitions::PublishedCounter,
};
use store::{Database, Options, url::DatabaseUrl};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::Message;

use crate::harness::{Socket, plain, request};

use corpus::{Case, corpus};

/// What both paths must agree on; the id of the call and sealed state differ.
async fn answer(port: u16, case: &Case) -> (u16, Vec<Value>) {
    let answer = request(
        port,
        "POST",
        "/mcp/fixture",
        &case.headers,
        case.body.clone(),
    )
    .await;
    let mut messages = answer.messages();
    messages.iter_mut().for_each(forget_what_differs);
    if messages.is_empty() {
        messages.push(answer.text().into());
    }
    (answer.status, messages)
}

fn forget_what_differs(message: &mut Value) {
    forget(message, "madoguchi/call");
    forget(message, "requestState");
}

fn forget(value: &mut Value, key: &str) {
    match value {
        Value::Object(object) => {
            object.remove(key);
            object.values_mut().for_each(|value| forget(value, key));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| forget(value, key)),
        _ => {}
    }
}

/// On a socket nothing is answered where no id is.
async fn answer_on_socket(socket: &mut Socket, case: &Case) -> Vec<Value> {
    socket.send_frame(Message::text(case.body.clone())).await;
    let marker = json!({ "name": "fixture_sum", "arguments": { "a": 0, "b": 0 } });
    let marker = plain(4_711, "tools/call", marker);
    socket.send(&marker).await;
    let is_silent = ["no id"].contains(&case.name);
    let mut messages = Vec::new();
    let (mut marked, mut answered) = (false, is_silent);
    while !(marked && answered) {
        let mut message = socket.receive().await;
        if message["id"] == marker["id"] {
            marked = true;
            continue;
        }
        // Progress and logs come before the answer.
        answered |= message.get("method").is_none();
        forget_what_differs(&mut message);
        messages.push(message);
    }
    messages
}

/// The same without metadata, as it is allowed on a socket.
fn bare(case: &Case) -> Option<Case> {
    let mut body: Value = serde_json::from_str(&case.body).ok()?;
    body.get_mut("params")?.as_object_mut()?.remove("_meta")?;
    Some(Case {
        name: case.name,
        headers: Vec::new(),
        body: body.to_string(),
    })
}

/// The fixture counter in this process, on ports for each path. No
/// configuration switches the direct path off.
struct BothPaths {
    direct: Ports,
    through_crate: Ports,
    _directory: TempDir,
}

struct Ports {
    main: u16,
    /// Where fields of an answer stand at the top of the result too.
    own: u16,
}

impl BothPaths {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::Sqlite(directory.path().join("desk.db"));
        let database = Database::open(&url, Options::default()).await.unwrap();
        let rows: Arc<dyn Store> = Arc::new(database);
        for migrations in TABLES {
            rows.migrate(migrations).await.unwrap();
        }
        let secret = Secret::random();
        let state = DeskState::new(move || {
            let state = OpenState::new(Arc::clone(&rows), secret.clone());
            Box::pin(std::future::ready(Ok(state)))
        });
        let mut settings = Settings::default();
        let denied = ("fixture.fixture_outside".to_owned(), Policy::Deny);
        settings.approval.tools.extend([denied]);
        let counters = vec![fixture::counter()];
        let desk = desk::Desk::new(counters, settings, Clock::system(), Arc::new(state));
        let desk = Arc::new(desk.unwrap());
        let mut sites = Vec::new();
        let direct = endpoints(&desk, PublishedCounter::new);
        let direct = open(&desk, &direct, &mut sites).await;
        let through_crate = endpoints(&desk, PublishedCounter::without_direct_path);
        let through_crate = open(&desk, &through_crate, &mut sites).await;
        tokio::spawn(listener::serve(desk, sites));
        Self {
            direct,
            through_crate,
            _directory: directory,
        }
    }
}

async fn open(desk: &Arc<desk::Desk>, endpoints: &Endpoints, sites: &mut Vec<Site>) -> Ports {
    let settings = settings::Listener::default();
    let mut own = OwnPort::new(&endpoints["fixture"], "fixture_listener", &settings);
    own.socket = true;
    let mut ports = [0; 2];
    let routers = [
        http::router(desk, endpoints, console::router(desk, Default::default())),
        own_port::router(own),
    ];
    for (port, router) in ports.iter_mut().zip(routers) {
        let listener = Listener::bind(&settings, "http", "--port", None).await;
        let listener = listener.unwrap();
        *port = listener.address.port();
        sites.push(Site {
            listener,
            router,
            needs_key: false,
        });
    }
    let [main, own] = ports;
    Ports { main, own }
}

#[tokio::test]
async fn both_paths_give_the_same_answer() {
    let paths = BothPaths::start().await;
    let mut wrong = Vec::new();
    for case in corpus() {
        let one = answer(paths.direct.main, &case).await;
        let other = answer(paths.through_crate.main, &case).await;
        if one != other {
            wrong.push(format!(
                "{}\n  direct {one:?}\n  crate  {other:?}",
                case.name
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn compare_sockets(direct: (u16, &str), through_crate: (u16, &str)) {
    let mut direct = Socket::keyless(direct.0, direct.1).await;
    let mut through_crate = Socket::keyless(through_crate.0, through_crate.1).await;
    let mut wrong = Vec::new();
    let cases = corpus();
    let bare: Vec<Case> = cases.iter().filter_map(bare).collect();
    for case in cases.iter().chain(&bare) {
        let one = answer_on_socket(&mut direct, case).await;
        let other = answer_on_socket(&mut through_crate, case).await;
        if one != other {
            let Case { name, body, .. } = case;
            wrong.push(format!(
                "{name} {body}\n  direct {one:?}\n  crate  {other:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn both_paths_give_the_same_answer_on_a_socket() {
    let BothPaths {
        direct,
        through_crate,
        ..
    } = &BothPaths::start().await;
    let path = "/ws/fixture";
    compare_sockets((direct.main, path), (through_crate.main, path)).await;
}

#[tokio::test]
async fn both_paths_give_the_same_flat_answer_on_a_counters_own_port() {
    let BothPaths {
        direct,
        through_crate,
        ..
    } = &BothPaths::start().await;
    compare_sockets((direct.own, "/"), (through_crate.own, "/")).await;
}
