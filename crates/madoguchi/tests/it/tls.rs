//! TLS on every port: with real clients, with broken ones, and while the
//! certificate changes.

mod certificates;

use std::{process::Command, time::Duration};

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest},
};

use crate::harness::{
    Desk, Output, Place, clients, mentions, modern, plain, request, result, structured,
    tls::{self, AUTHORITY, Authority, Pair},
};

const PATIENCE: Duration = Duration::from_secs(20);

fn sum() -> Value {
    json!({ "name": "fixture_sum", "arguments": { "a": 1, "b": 2 } })
}

fn secure(desk: &Desk, scheme: &str) -> String {
    format!("{scheme}://localhost:{}", desk.port)
}

type Socket = WebSocketStream<tokio_rustls::client::TlsStream<TcpStream>>;

async fn socket(desk: &Desk, authority: &Authority) -> Socket {
    let url = format!("{}/ws/fixture", secure(desk, "wss"));
    socket_at(desk.port, url, authority).await
}

async fn socket_at(port: u16, url: impl IntoClientRequest + Unpin, by: &Authority) -> Socket {
    let stream = by.connect(port).await;
    client_async(url, stream).await.unwrap().0
}

async fn ask(socket: &mut Socket, message: &Value) -> Value {
    let text = Message::text(message.to_string());
    socket.send(text).await.unwrap();
    loop {
        let next = tokio::time::timeout(PATIENCE, socket.next()).await;
        match next.expect("the desk says nothing") {
            Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// The certificate that new connections are shown.
async fn shown(desk: &Desk, authority: &Authority) -> Vec<u8> {
    let stream = authority.connect(desk.port).await;
    let chain = stream.get_ref().1.peer_certificates().unwrap();
    chain[0].to_vec()
}

#[tokio::test]
async fn curl_works_on_the_main_port_and_on_an_own_port() {
    let (desk, _authority) = tls::start("").await;
    for (port, path) in [(desk.port, "/mcp/fixture"), (desk.own_port, "/mcp")] {
        let mut curl = Command::new("curl");
        desk.place.enter(&mut curl);
        curl.args(["--silent", "--show-error", "--max-time", "60", "--cacert"])
            .arg(desk.place.path().join(AUTHORITY))
            .args(["--json", &modern(1, "tools/call", sum()).to_string()])
            .args(["-H", "mcp-protocol-version: 2026-07-28"])
            .args(["-H", "mcp-method: tools/call"])
            .args(["-H", "mcp-name: fixture_sum"])
            .arg(format!("https://localhost:{port}{path}"));
        let answer = Output::of(&mut curl, "").ok().json();
        assert_eq!(structured(result(&answer))["sum"], 3, "{path}");
    }
    let log = desk.log();
    for announced in [
        format!("https://127.0.0.1:{}/mcp/cinema", desk.port),
        format!("wss://127.0.0.1:{}/ws/cinema", desk.port),
        format!("https://127.0.0.1:{}/mcp", desk.own_port),
    ] {
        assert!(log.contains(&announced), "{announced} is not in\n{log}");
    }
    assert!(!log.contains("http://"), "{log}");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_official_python_client() {
    let (desk, _authority) = tls::start("").await;
    let arguments = [&*secure(&desk, "https"), "auto"];
    let output = clients::python(&desk.place, "cinema_tools.py", &arguments).await;
    output.ok();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_official_typescript_client() {
    let (desk, _authority) = tls::start("").await;
    let arguments = [&*secure(&desk, "https"), "auto"];
    let output = clients::node(&desk.place, "cinema.mjs", &arguments).await;
    output.ok();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn real_websocket_clients() {
    let (desk, _authority) = tls::start("").await;
    let address = secure(&desk, "wss");
    let output = clients::python_websocket(&desk.place, "websocket.py", &[&address]).await;
    output.ok();
    let output = clients::node(&desk.place, "websocket.mjs", &[&address]).await;
    output.ok();
}

#[tokio::test]
async fn only_tls_1_2_and_1_3_are_accepted() {
    let (desk, authority) = tls::start("").await;
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let stream = authority.connect_with(desk.port, &[version]).await;
        let spoken = stream.get_ref().1.protocol_version();
        assert_eq!(spoken, Some(version.version));
    }
    // A hello of TLS 1.1: version, a random number, no session, two suites; and
    // two extensions without which it would be refused for other reasons.
    let mut hello = vec![3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0, 4, 0xc0, 0x13, 0, 0x2f, 1, 0]);
    hello.extend([0, 16, 0, 10, 0, 4, 0, 2, 0, 0x1d, 0, 13, 0, 4, 0, 2, 4, 3]);
    let length = u8::try_from(hello.len()).unwrap();
    let mut record = vec![0x16, 3, 1, 0, length + 4, 1, 0, 0, length];
    record.extend(hello);
    let mut stream = desk.connect().await;
    stream.write_all(&record).await.unwrap();
    let mut answer = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer));
    let _ = read.await.expect("still open");
    // Fatal, and about the version.
    assert_eq!(answer.first(), Some(&0x15), "{answer:?}");
    assert!(answer.ends_with(&[2, 70]), "{answer:?}");
}

#[tokio::test]
async fn plain_http_on_a_tls_port_gets_an_explanation() {
    let (desk, authority) = tls::start("").await;
    for port in [desk.port, desk.own_port] {
        let call = plain(1, "tools/list", json!({})).to_string();
        let answer = request(port, "POST", "/mcp/fixture", &[], call).await;
        assert_eq!(answer.status, 400);
        assert!(answer.text().contains("https://"), "{}", answer.text());
    }
    // A body that is still on its way does not take the answer away.
    let body = " ".repeat(200_000);
    let answer = request(desk.port, "POST", "/mcp/fixture", &[], body).await;
    assert_eq!(answer.status, 400);
    // Neither HTTP nor TLS.
    for garbage in [
        &b"\x00\x01\x02\x03"[..],
        b"\x16\xff\xff\xff\xff\xff\xff\xff",
        b"ssh",
    ] {
        let mut stream = desk.connect().await;
        stream.write_all(garbage).await.unwrap();
        let mut answer = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer));
        let _ = read.await.expect("still open");
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    }
    let answer = authority.request(desk.port, "GET", "/readyz", &[], String::new());
    assert_eq!(answer.await.status, 200, "the desk goes on");
}

#[tokio::test]
async fn a_slow_tls_handshake_is_disconnected_and_blocks_nobody() {
    let (desk, authority) = tls::start("[http]\nheader_timeout_seconds = 5").await;
    let mut slow = Vec::new();
    for start in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00\x01"].repeat(10) {
        let mut stream = desk.connect().await;
        stream.write_all(start).await.unwrap();
        slow.push(stream);
    }
    let answer = authority.request(desk.port, "GET", "/readyz", &[], String::new());
    assert_eq!(answer.await.status, 200);
    for mut stream in slow {
        let mut answer = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer));
        let _ = read.await.expect("still open");
    }
}

#[tokio::test]
async fn handshakes_count_as_connections() {
    let (desk, authority) = tls::start("[http]\nmax_connections = 3").await;
    // They are given up after ten seconds, which a busy machine may take.
    for tries in 0.. {
        let mut silent = Vec::new();
        for _ in 0..3 {
            silent.push(desk.connect().await);
        }
        let call = plain(1, "tools/list", json!({})).to_string();
        let answer = authority.request(desk.port, "POST", "/mcp/fixture", &[], call);
        let answer = answer.await;
        if answer.status == 503 {
            assert_eq!(answer.header("retry-after"), Some("1"));
            break;
        }
        assert!(tries < 5, "{}", answer.status);
    }
}

#[tokio::test]
async fn a_new_certificate_is_taken_up_while_open_sockets_go_on() {
    let (desk, authority) = tls::start("").await;
    let first = shown(&desk, &authority).await;
    let mut before = socket(&desk, &authority).await;
    let call = plain(1, "tools/call", sum());
    assert_eq!(structured(result(&ask(&mut before, &call).await))["sum"], 3);

    let second = authority.issue();
    second.install(&desk.place);
    assert_eq!(shown(&desk, &authority).await, first, "nobody asked yet");
    desk.signal("HUP");
    let is_read = |entry: &Value| entry["message"] == "TLS: the certificate was read again";
    desk.logs("that it read the certificate", is_read).await;
    assert_eq!(shown(&desk, &authority).await, second.der.to_vec());
    assert_eq!(structured(result(&ask(&mut before, &call).await))["sum"], 3);

    // A pair that does not fit, and files that are none, change nothing.
    let other = authority.issue();
    for (cert, key) in [(&*other.cert, &*second.key), ("nothing", "at all")] {
        let errors = || desk.log().matches("the old certificate stays").count();
        let known = errors();
        desk.place.file("desk.pem", cert);
        desk.place.file("desk.key", key);
        desk.signal("HUP");
        for _ in 0..400 {
            if errors() > known {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(errors(), known + 1, "{}", desk.log());
        assert_eq!(shown(&desk, &authority).await, second.der.to_vec());
    }
    assert_eq!(structured(result(&ask(&mut before, &call).await))["sum"], 3);
}

#[tokio::test]
async fn calls_from_the_command_line() {
    let (desk, _authority) = tls::start("").await;
    let url = secure(&desk, "https");
    let authority = desk.place.path().join(AUTHORITY);
    let call = [
        "call",
        "fixture",
        "fixture_sum",
        r#"{"a": 1, "b": 2}"#,
        "--url",
    ];
    let with = |more: &[&str]| desk.place.run(&[&call[..], more].concat());
    let answer = with(&[&url, "--ca", authority.to_str().unwrap()]).ok();
    assert_eq!(answer.json()["sum"], 3);
    // The system does not know this authority,
    let said = with(&[&url]).failed();
    mentions(&said, &["UNREACHABLE", "--ca"]);
    // unless it does.
    let mut command = desk.place.command();
    command
        .args(call)
        .arg(&url)
        .env("SSL_CERT_FILE", &authority);
    assert_eq!(Output::of(&mut command, "").ok().json()["sum"], 3);

    let stranger = desk
        .place
        .file("stranger.pem", &Authority::new().issue().cert);
    with(&[&url, "--ca", stranger.to_str().unwrap()]).fails_with("UNREACHABLE");
    with(&[&url, "--ca", "nowhere.pem"]).fails_with("INVALID_CA");
    with(&[&secure(&desk, "ftp")]).fails_with("INVALID_URL");
    let plain = desk.url("");
    with(&[&plain]).fails_with("This port speaks HTTPS");
    with(&[&plain, "--ca", authority.to_str().unwrap()])
        .fails_with("--ca needs an https:// address");
}

/// As `openssl req -x509` makes them: a certificate that is its own authority.
#[tokio::test]
async fn calls_to_a_desk_that_signed_its_certificate_itself() {
    let place = Place::new();
    Pair::self_signed(&["localhost"]).install(&place);
    let desk = Desk::setup()
        .place(&place)
        .config(&tls::config(&place))
        .start()
        .await;
    let call = |host: &str, ca: &str| {
        let url = format!("https://{host}:{}", desk.port);
        let arguments = r#"{"a": 1, "b": 2}"#;
        let command = ["call", "fixture", "fixture_sum", arguments];
        place.run(&[&command[..], &["--url", &url, "--ca", ca]].concat())
    };
    assert_eq!(call("localhost", "desk.pem").ok().json()["sum"], 3);
    // Not under another name, and not for another certificate of that name.
    call("127.0.0.1", "desk.pem").fails_with("UNREACHABLE");
    place.file("other.pem", &Pair::self_signed(&["localhost"]).cert);
    call("localhost", "other.pem").fails_with("UNREACHABLE");
}

/// Each listener, with and without TLS, keys and trust.
#[test]
fn other_machines_are_let_in_only_with_tls_and_keys_or_on_purpose() {
    let place = Place::new();
    Authority::new().issue().install(&place);
    for section in ["http", "merchant_listener", "innervoice_listener"] {
        for combination in 0..8 {
            let has = |bit: u8| combination & bit != 0;
            let (encrypted, keys, trusted) = (has(1), has(2), has(4));
            let mut config = format!(
                "[{section}]\naddress = '0.0.0.0'\nrequire_key = {keys}\ntrusted_network = {trusted}\n"
            );
            if encrypted {
                config.push_str(&tls::config(&place));
            }
            let file = place.file("open.toml", &config);
            let output = place.run(&["config", "check", file.to_str().unwrap()]);
            if trusted || (encrypted && keys) {
                output.ok();
                continue;
            }
            let said = output.failed();
            assert!(said.contains("UNSAFE_LISTENER"), "{said}");
            assert!(said.contains(&format!("in [{section}]")), "{said}");
            assert!(said.contains("trusted_network = true"), "{said}");
            assert_eq!(said.contains("cert and key in [tls]"), !encrypted, "{said}");
            assert_eq!(said.contains("require_key = true"), !keys, "{said}");
        }
    }
}

/// The port that a voice client connects to.
#[tokio::test]
async fn the_own_port_of_innervoice_takes_encrypted_sockets_only() {
    let place = Place::new();
    let authority = Authority::of(&place);
    authority.issue().install(&place);
    let setup = Desk::setup().place(&place).config(&tls::config(&place));
    let desk = setup.own_port("--innervoice-port").start().await;
    let url = format!("wss://localhost:{}/", desk.own_port);
    let list = plain(
        1,
        "tools/call",
        json!({ "name": "calendar.list", "arguments": {} }),
    );
    let mut keyless = socket_at(desk.own_port, &*url, &authority).await;
    assert_eq!(ask(&mut keyless, &list).await["error"]["code"], 401);
    let key = format!("Bearer {}", place.create_key(&["phone"]));
    let mut request = url.into_client_request().unwrap();
    let headers = request.headers_mut();
    headers.insert("authorization", key.parse().unwrap());
    let mut keyed = socket_at(desk.own_port, request, &authority).await;
    assert_eq!(result(&ask(&mut keyed, &list).await)["status"], "ok");
    let plainly = tokio_tungstenite::connect_async(format!("ws://localhost:{}/", desk.own_port));
    assert!(plainly.await.is_err());
    let announced = format!("wss://127.0.0.1:{}", desk.own_port);
    mentions(&desk.log(), &[&announced]);
}

#[tokio::test]
async fn a_desk_with_tls_and_keys_serves_the_network() {
    let digest = "c4bbcb1fbec99d65bf59d85c8cb62ee2db963f0fe106f483d9afa73bd4e39a8a";
    let key = ("authorization", "Bearer correct horse battery staple");
    let config = format!(
        "[http]\naddress = '0.0.0.0'\nrequire_key = true\n\
         [identity]\nkeys = [{{ name = 'phone', sha256 = '{digest}' }}]"
    );
    let (desk, authority) = tls::start(&config).await;
    let call = plain(1, "tools/call", sum()).to_string();
    let post = |headers: Vec<(&'static str, &'static str)>| {
        let (authority, call) = (&authority, call.clone());
        let port = desk.port;
        async move {
            let answer = authority.request(port, "POST", "/mcp/fixture", &headers, call);
            answer.await
        }
    };
    assert_eq!(post(vec![]).await.status, 401);
    let answer = post(vec![key]).await;
    assert_eq!(structured(result(&answer.message()))["sum"], 3);
}
