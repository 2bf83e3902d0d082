//! Two desks behind a load balancer, with the configurations in `docs/examples`.

mod program;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use http_body_util::{BodyExt, Full};
use hyper::{Request, body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use store::testing::{Postgres, PostgresNode, Proxy};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::{
    Answer, Desk, LEGACY, Session, Socket, call, configured_keys, connect_from, mentions, modern,
    modern_headers, post, request, request_over, result, show_to_book, structured,
};
use program::{Balancer, Kind};

const CONFIG: &str = "[http]\ntrusted_proxies = [\"127.0.0.1\"]\n\
    allowed_hosts = [\"desk.example.com\", \"127.0.0.1\"]\n[limits]\nwrong_keys_per_minute = 4\n";

/// Long enough for either balancer to notice.
const DRAIN: &str = "4";

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn haproxy_serves_two_desks_and_loses_no_call_when_one_stops() {
    serves_two_desks(Kind::HaProxy).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn caddy_serves_two_desks_and_loses_no_call_when_one_stops() {
    serves_two_desks(Kind::Caddy).await;
}

async fn serves_two_desks(kind: Kind) {
    let url = Postgres::shared().create_database();
    let config = format!("{CONFIG}{}", configured_keys(&[("phone", "phone-key")]));
    let setup = || {
        let setup = Desk::setup().config(&config).database(&url);
        setup.env("MADOGUCHI_HTTP__DRAIN_SECONDS", DRAIN)
    };
    let mut desks = [setup().demo().start().await, setup().start().await];
    let balancer = Balancer::start(kind, desks.each_ref().map(|desk| desk.port)).await;
    let port = balancer.port;

    calls_reach_both(port, &desks).await;
    wrong_keys_count_for_the_client(port).await;
    sockets_pass_with_their_key(port).await;
    events_pass_at_once(port, &desks[0]).await;

    // A session stays where it began.
    let mut session = Session::open_at(port, "fixture", LEGACY).await;
    for _ in 0..10 {
        let params = json!({ "name": "fixture_write", "arguments": {} });
        structured(result(&session.request("tools/call", params).await));
    }
    let mut has_session = Vec::new();
    for desk in &desks {
        let status = in_session(desk.port, &session).await.status;
        assert!(matches!(status, 200 | 404), "{status}");
        has_session.push(status == 200);
    }
    let home = has_session.iter().position(|it| *it).unwrap();
    assert!(!has_session[1 - home], "the other desk knows it too");

    // That desk stops, while clients go on calling.
    let load = Load::start(port);
    load.wait_for(20).await;
    let stopped = desks.get_mut(home).unwrap();
    stopped.signal("TERM");
    let ended = tokio::time::timeout(Duration::from_secs(20), stopped.ended());
    assert!(ended.await.expect("it does not stop").success());
    let so_far = load.calls.load(Ordering::Relaxed);
    load.wait_for(so_far + 50).await;
    load.finish().await;

    // Its session is gone, and the client begins another.
    assert_eq!(in_session(port, &session).await.status, 404);
    let mut again = Session::open_at(port, "fixture", LEGACY).await;
    let params = json!({ "name": "fixture_write", "arguments": {} });
    structured(result(&again.request("tools/call", params).await));
}

/// A failover that is quicker than `wait_for_primary`: calls wait at the desks, which the
/// balancer goes on using. Then the database stays away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn haproxy_lets_calls_wait_at_the_desks_for_the_database() {
    let server = tokio::task::spawn_blocking(PostgresNode::start_new);
    let server = server.await.unwrap();
    let proxy = Proxy::start(server.port());
    let config = format!("{CONFIG}[database]\nwait_for_primary = 12\n");
    let setup = || Desk::setup().config(&config);
    let setup = || setup().database(&server.url_at(proxy.port()));
    let desks = [setup().demo().start().await, setup().start().await];
    let balancer = Balancer::start(Kind::HaProxy, desks.each_ref().map(|desk| desk.port)).await;
    let show = show_to_book(&desks[0], "M001", 0).await;
    let book = |seat: usize| {
        let arguments = json!({
            "schedule_id": show["schedule_id"], "seat_ids": [format!("A{}", seat + 1)]
        });
        let message = call(1, "reserve_seats", arguments);
        async move { post(balancer.port, "cinema", None, &message).await.unwrap() }
    };
    proxy.refuse();
    let calls = async {
        let mut calls = Vec::new();
        for seat in 0..6 {
            calls.push(tokio::spawn(book(seat)));
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        proxy.pass();
        futures::future::join_all(calls).await
    };
    for answer in calls.await {
        structured(result(&answer.unwrap().message()));
    }
    proxy.refuse();
    let lost = Instant::now();
    loop {
        let answer = book(7).await;
        if answer.status == 503 {
            assert_eq!(answer.header("retry-after"), Some("1"));
            assert_eq!(answer.message()["error"]["data"]["retry_after_ms"], 1000);
            break;
        }
        assert!(lost.elapsed() < Duration::from_secs(60));
    }
    assert!(lost.elapsed() > Duration::from_secs(11));
}

async fn calls_reach_both(port: u16, desks: &[Desk; 2]) {
    for _ in 0..20 {
        let message = call(1, "fixture_write", json!({}));
        let answer = post(port, "fixture", None, &message).await.unwrap();
        structured(result(&answer.message()));
    }
    for desk in desks {
        let text = desk.get("/metrics").await.text();
        let series = "madoguchi_calls_total{counter=\"fixture\",tool=\"fixture_write\"} ";
        let count = text.lines().find_map(|line| line.strip_prefix(series));
        let count: u32 = count.unwrap().parse().unwrap();
        assert!(count > 0, "one of the desks got no call");
    }
    let answer = request(port, "GET", "/metrics", &[], "").await;
    assert!(matches!(answer.status, 403 | 404), "{}", answer.status);
}

/// Each desk counts for itself.
async fn wrong_keys_count_for_the_client(port: u16) {
    let guess = async |address: &str, headers: &[(&'static str, &str)]| {
        let message = call(1, "fixture_write", json!({}));
        let mut all = modern_headers("tools/call", &message["params"]);
        all.push(("authorization", "Bearer guess".to_owned()));
        all.extend(
            headers
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned())),
        );
        let all: Vec<_> = all.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let stream = connect_from(address, port).await;
        let body = message.to_string();
        let answer = request_over(stream, port, "POST", "/mcp/fixture", &all, body).await;
        answer.unwrap().status
    };
    // So many that each desk gets more than it allows.
    for number in 0..60 {
        // Whatever the client writes into the headers itself.
        let made_up = format!("192.0.2.{number}");
        let standard = format!("for={made_up}");
        let headers = [
            ("x-forwarded-for", made_up.as_str()),
            ("forwarded", &standard),
        ];
        guess("127.0.0.2", &headers).await;
    }
    assert_eq!(guess("127.0.0.2", &[]).await, 429);
    assert_eq!(guess("127.0.0.3", &[]).await, 401);
}

async fn sockets_pass_with_their_key(port: u16) {
    let protocols = [("sec-websocket-protocol", "mcp, mcp.auth.phone-key")];
    let mut socket = Socket::behind(port, "/ws/innervoice", &protocols).await;
    assert_eq!(socket.protocol.as_deref(), Some("mcp"));
    let list = socket.request(&modern(1, "tools/list", json!({}))).await;
    assert!(result(&list)["tools"].is_array(), "{list}");
}

/// A stream through the balancer tells of a booking on any desk.
async fn events_pass_at_once(port: u16, desk: &Desk) {
    let show = show_to_book(desk, "M001", 0).await;
    let schedule = show["schedule_id"].as_str().unwrap();
    let uri = format!("cinema://shows/{schedule}/seats");
    let filter = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let message = modern(9, "subscriptions/listen", filter);
    let body = message.to_string();
    let mut head = format!(
        "POST /mcp/cinema HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in modern_headers("subscriptions/listen", &message["params"]) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream
        .write_all(format!("{head}\r\n{body}").as_bytes())
        .await
        .unwrap();
    let mut read = String::new();
    wait_for(
        &mut stream,
        &mut read,
        "notifications/subscriptions/acknowledged",
    )
    .await;
    let arguments = json!({ "schedule_id": schedule, "seat_ids": ["A1"] });
    let answer = post(port, "cinema", None, &call(1, "reserve_seats", arguments)).await;
    structured(result(&answer.unwrap().message()));
    wait_for(&mut stream, &mut read, "notifications/resources/updated").await;
    mentions(&read, &["text/event-stream", &uri]);
}

async fn wait_for(stream: &mut TcpStream, read: &mut String, wanted: &str) {
    let mut bytes = [0; 4096];
    while !read.contains(wanted) {
        let next = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut bytes));
        let count = next
            .await
            .unwrap_or_else(|_| panic!("no {wanted} in {read}"));
        let count = count.unwrap();
        assert!(count > 0, "the stream ended: {read}");
        read.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
}

/// One request in a session, at a port of choice.
async fn in_session(port: u16, session: &Session) -> Answer {
    let headers = [
        ("mcp-session-id", session.id.as_str()),
        ("mcp-protocol-version", session.version.as_str()),
    ];
    let list = crate::harness::plain(99, "tools/list", json!({})).to_string();
    request(port, "POST", "/mcp/fixture", &headers, list).await
}

/// Clients that call in a loop, some over one connection and some over many. Every
/// call has to be answered.
struct Load {
    calls: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    clients: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    fn start(port: u16) -> Self {
        let (calls, stop) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let clients = (0..4).map(|number| {
            let (calls, stop) = (Arc::clone(&calls), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut connection = None;
                while !stop.load(Ordering::Relaxed) {
                    let message = call(1, "fixture_write", json!({}));
                    let answer = if number % 2 == 0 {
                        let answer = post(port, "fixture", None, &message).await;
                        answer.expect("a call is lost").message()
                    } else {
                        keep_alive(port, &mut connection, &message).await
                    };
                    structured(result(&answer));
                    calls.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            })
        });
        Self {
            clients: clients.collect(),
            calls,
            stop,
        }
    }

    async fn wait_for(&self, count: usize) {
        let began = Instant::now();
        while self.calls.load(Ordering::Relaxed) < count {
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "calls are not answered"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Fails if a client failed.
    async fn finish(self) {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            client.await.unwrap();
        }
    }
}

type Connection = http1::SendRequest<Full<Bytes>>;

/// A call over a connection that stays open until the balancer closes it.
async fn keep_alive(port: u16, open: &mut Option<Connection>, message: &Value) -> Value {
    let is_ready = match open {
        Some(connection) => connection.ready().await.is_ok(),
        None => false,
    };
    if !is_ready {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        *open = Some(sender);
    }
    let mut request = Request::post("/mcp/fixture")
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in modern_headers("tools/call", &message["params"]) {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(message.to_string().into())).unwrap();
    let answer = open.as_mut().unwrap().send_request(request).await;
    let answer = answer.expect("a call is lost");
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}
