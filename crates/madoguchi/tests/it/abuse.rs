//! Addresses that ask too much, and keys where they do not belong.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::{
    connect_async,
    tungstenite::{Error, client::IntoClientRequest, http::HeaderValue},
};

use crate::harness::{
    Answer, Desk, Socket, configured_keys, connect_from, plain, request, request_over, result,
};

const KEY: &str = "correct horse battery staple";

async fn desk(limits: &str) -> Desk {
    let keys = configured_keys(&[("phone", KEY)]);
    let config = format!("[http]\nrequire_key = true\n[limits]\n{limits}\n{keys}");
    Desk::with_config(&config).await
}

fn list() -> Value {
    plain(1, "tools/list", json!({}))
}

async fn with_key(desk: &Desk, key: &str) -> Answer {
    let bearer = format!("Bearer {key}");
    let headers = [("authorization", bearer.as_str())];
    let list = list().to_string();
    request(desk.port, "POST", "/mcp/fixture", &headers, list).await
}

/// The status with which an upgrade is refused; `None` when it is not.
async fn upgrade(desk: &Desk, path: &str, key: &str) -> Option<(u16, Option<String>)> {
    let url = format!("ws://127.0.0.1:{}{path}", desk.port);
    let mut request = url.into_client_request().unwrap();
    if !key.is_empty() {
        let value = HeaderValue::from_str(&format!("Bearer {key}")).unwrap();
        request.headers_mut().insert("authorization", value);
    }
    match connect_async(request).await {
        Ok(_) => None,
        Err(Error::Http(response)) => {
            let body = response.body().as_deref().map(String::from_utf8_lossy);
            let body = body.map(std::borrow::Cow::into_owned);
            Some((response.status().as_u16(), body))
        }
        Err(error) => panic!("{error}"),
    }
}

/// Everything it logged: nothing comes after its last word.
async fn whole_log(desk: &Desk) -> String {
    desk.signal("TERM");
    let is_last = |entry: &Value| entry["message"] == "stopped";
    desk.logs("its last word", is_last).await;
    desk.log()
}

#[track_caller]
fn is_barred(answer: &Answer) {
    assert_eq!(answer.status, 429, "{}", answer.text());
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    is_barred_message(&answer.message());
}

#[track_caller]
fn is_barred_message(message: &Value) {
    assert_eq!(message["error"]["code"], 429, "{message}");
    let wait = message["error"]["data"]["retry_after_ms"].as_u64().unwrap();
    assert!((1..=60_000).contains(&wait), "{wait}");
}

#[tokio::test]
async fn after_thirty_wrong_keys_only_known_keys_are_accepted_from_that_address() {
    let desk = desk("").await;
    for number in 0..30 {
        let answer = with_key(&desk, &format!("guess {number}")).await;
        assert_eq!(answer.status, 401, "{number}");
        if number % 10 == 0 {
            assert_eq!(with_key(&desk, KEY).await.status, 200, "{number}");
        }
    }
    let answer = with_key(&desk, "another guess").await;
    is_barred(&answer);
    assert!(answer.text().contains("wrong keys"), "{}", answer.text());
    // Others at the same address are not held up.
    assert_eq!(with_key(&desk, KEY).await.status, 200);
    // The same for GET, DELETE, notifications and upgrades.
    let bearer = "Bearer another guess";
    let headers = [("authorization", bearer)];
    for method in ["GET", "DELETE", "POST"] {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        is_barred(&request(desk.port, method, "/mcp/fixture", &headers, note).await);
    }
    let (status, body) = upgrade(&desk, "/ws/fixture", "guess").await.unwrap();
    assert_eq!(status, 429);
    is_barred_message(&serde_json::from_str(&body.unwrap()).unwrap());
    // Who brings none has nothing to guess, and others are others.
    assert_eq!(desk.get("/readyz").await.status, 200);
    let bearer = format!("Bearer {KEY}");
    let key = [("authorization", bearer.as_str())];
    let metrics = request(desk.port, "GET", "/metrics", &key, "").await.text();
    let counted = "madoguchi_requests_refused_total 5\n";
    assert!(metrics.contains(counted), "{metrics}");
    let list = list().to_string();
    let answer = request(desk.port, "POST", "/mcp/fixture", &[], list.clone()).await;
    assert_eq!(answer.status, 401);
    let stream = connect_from("127.0.0.2", desk.port).await;
    let answer = request_over(stream, desk.port, "POST", "/mcp/fixture", &headers, list).await;
    assert_eq!(answer.unwrap().status, 401);
    // One line, and no key in it.
    let log = whole_log(&desk).await;
    assert_eq!(log.matches("many wrong keys").count(), 1, "{log}");
    assert!(!log.contains("guess"), "{log}");
}

#[tokio::test]
async fn wrong_keys_on_websockets_count_too() {
    let desk = desk("wrong_keys_per_minute = 4").await;
    let mut right = Socket::with_bearer(&desk, "fixture", KEY).await;
    result(&right.request(&list()).await);
    let mut waiting = Socket::with_bearer(&desk, "fixture", KEY).await;
    // It counts though it says nothing.
    let mut guessing = Socket::with_bearer(&desk, "fixture", "guess").await;
    for number in 0..3 {
        let key = format!("guess-{number}");
        let mut wrong = match number {
            0 => Socket::with_protocols(&desk, "fixture", &format!("mcp, mcp.auth.{key}")).await,
            _ => Socket::with_bearer(&desk, "fixture", &key).await,
        };
        assert_eq!(wrong.request(&list()).await["error"]["code"], 401);
        assert_eq!(u16::from(wrong.closed().await.unwrap().code), 1008);
    }
    assert_eq!(upgrade(&desk, "/ws/fixture", "guess").await.unwrap().0, 429);
    // It was open before, and is answered as ever.
    let answer = guessing.request(&list()).await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(1), &json!(401))
    );
    // A right key is no guess.
    assert_eq!(with_key(&desk, KEY).await.status, 200);
    result(&waiting.request(&list()).await);
    result(&right.request(&list()).await);
}

/// An address with a key in it can be guessed like any other key.
#[tokio::test]
async fn wrong_keys_in_the_addresses_of_files_count_too() {
    let desk = desk("wrong_keys_per_minute = 3").await;
    let config = desk.config();
    let file = ["reader", "--file", "innervoice/calendar.ics", "--config"];
    let reader = [&file[..], &[config.to_str().unwrap()]].concat();
    let key = desk.place.create_key(&reader);
    let right = format!("/files/innervoice/{key}/calendar.ics");
    assert_eq!(desk.get(&right).await.status, 200);
    for guess in ["guess", "mdg_000000000000_00000000000000000000000000", "x"] {
        let path = format!("/files/innervoice/{guess}/calendar.ics");
        assert_eq!(desk.get(&path).await.status, 404);
    }
    is_barred(&desk.get("/files/innervoice/guess/calendar.ics").await);
    is_barred(&with_key(&desk, "guess").await);
    assert_eq!(upgrade(&desk, "/ws/fixture", "guess").await.unwrap().0, 429);
    // Right keys pass as before.
    assert_eq!(desk.get(&right).await.status, 200);
    assert_eq!(with_key(&desk, KEY).await.status, 200);
}

/// A socket that says nothing is closed when its key is wrong, and stays when
/// it is right: that tells as much as an answer.
#[tokio::test]
async fn wrong_keys_of_silent_connections_count_too() {
    let keys = configured_keys(&[("phone", KEY)]);
    let config = format!(
        "[http]\nrequire_key = true\nidentify_timeout_seconds = 4\n\
         [limits]\nwrong_keys_per_minute = 2\n{keys}"
    );
    let desk = Desk::with_config(&config).await;
    let mut silent = Socket::with_bearer(&desk, "fixture", "guess").await;
    assert_eq!(u16::from(silent.closed().await.unwrap().code), 1008);
    assert_eq!(with_key(&desk, KEY).await.status, 200);
    // Half a request: its connection ends before it could be answered.
    let mut stream = desk.connect().await;
    let head = "POST /mcp/fixture HTTP/1.1\r\nhost: 127.0.0.1\r\n\
        authorization: Bearer guess\r\ncontent-length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let _ = stream.read_to_end(&mut Vec::new()).await;
    is_barred(&with_key(&desk, "guess").await);
    assert_eq!(with_key(&desk, KEY).await.status, 200);
}

#[tokio::test]
async fn a_missing_key_does_not_count_as_wrong_and_zero_means_no_limit() {
    let one = desk("wrong_keys_per_minute = 1").await;
    for _ in 0..5 {
        let list = list().to_string();
        let answer = request(one.port, "POST", "/mcp/fixture", &[], list).await;
        assert_eq!(answer.status, 401);
    }
    assert_eq!(with_key(&one, KEY).await.status, 200);
    assert_eq!(with_key(&one, "guess").await.status, 401);
    is_barred(&with_key(&one, "guess").await);

    let none = desk("wrong_keys_per_minute = 0").await;
    for _ in 0..40 {
        assert_eq!(with_key(&none, "guess").await.status, 401);
    }
    assert_eq!(with_key(&none, KEY).await.status, 200);
}

/// An answer as it stands on the wire.
async fn one_answer(stream: &mut TcpStream) -> String {
    let mut answer = String::new();
    loop {
        let mut more = [0; 4096];
        let length = stream.read(&mut more).await.unwrap();
        assert_ne!(length, 0, "hung up after {answer:?}");
        answer += &String::from_utf8_lossy(&more[..length]);
        let Some((head, body)) = answer.split_once("\r\n\r\n") else {
            continue;
        };
        let wanted = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        if body.len() == wanted.unwrap().parse::<usize>().unwrap() {
            return answer;
        }
    }
}

/// Many a client sends headers and body one after the other. It is refused by the
/// first, and still hears so.
#[tokio::test]
async fn a_client_that_is_still_sending_receives_the_refusal() {
    let desk = desk("wrong_keys_per_minute = 1").await;
    assert_eq!(with_key(&desk, "guess").await.status, 401);
    let body = list().to_string();
    for (path, more, status) in [
        ("/mcp/fixture", "authorization: Bearer guess\r\n", 429),
        ("/mcp/fixture?token=1", "", 400),
        ("/mcp/fixture", "origin: https://evil.example\r\n", 403),
    ] {
        let mut stream = desk.connect().await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\n{more}content-length: {}\r\n\r\n",
            body.len()
        );
        // Twice, for the connection stays open.
        for _ in 0..2 {
            stream.write_all(head.as_bytes()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
            stream.write_all(body.as_bytes()).await.unwrap();
            let answer = one_answer(&mut stream).await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}")),
                "{answer}"
            );
        }
    }
}

#[tokio::test]
async fn requests_from_one_address() {
    let config = "[limits]\nrequests_per_minute_per_address = 20\n";
    let desk = Desk::with_config(config).await;
    // Before it was ready the harness asked, too.
    let ask = || request(desk.port, "POST", "/mcp/fixture", &[], list().to_string());
    let mut socket = Socket::open(&desk, "fixture").await;
    let mut passed = 0;
    let refused = loop {
        let answer = ask().await;
        if answer.status != 200 {
            break answer;
        }
        passed += 1;
        assert!(passed <= 20);
    };
    is_barred(&refused);
    assert!(refused.text().contains("requests"), "{}", refused.text());
    is_barred_message(&socket.request(&list()).await);
    assert_eq!(upgrade(&desk, "/ws/fixture", "").await.unwrap().0, 429);
    let stream = connect_from("127.0.0.2", desk.port).await;
    let body = list().to_string();
    let answer = request_over(stream, desk.port, "POST", "/mcp/fixture", &[], body).await;
    assert_eq!(answer.unwrap().status, 200);
    // Alive all the same.
    assert_eq!(desk.get("/livez").await.status, 200);
}

#[tokio::test]
async fn connections_from_one_address() {
    let config = "[http]\nmax_connections_per_address = 3\n";
    let desk = Desk::with_config(config).await;
    let mut held = Vec::new();
    while held.len() < 3 {
        // The desk may not know yet that earlier connections are closed.
        held.extend(Socket::try_open(&desk, "fixture").await);
    }
    let ask = || request(desk.port, "POST", "/mcp/fixture", &[], list().to_string());
    let answer = ask().await;
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(answer.text().contains("from your address"));
    // Busy is not dead, and others are others.
    for path in ["/livez", "/readyz"] {
        assert_eq!(desk.get(path).await.status, 200, "{path}");
    }
    let stream = connect_from("127.0.0.2", desk.port).await;
    let body = list().to_string();
    let answer = request_over(stream, desk.port, "POST", "/mcp/fixture", &[], body).await;
    assert_eq!(answer.unwrap().status, 200);
    // Who leaves makes room.
    held.pop();
    let mut tries = 0;
    while ask().await.status != 200 {
        tries += 1;
        assert!(tries < 400);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_key_in_an_address_is_refused_and_kept_nowhere() {
    let keys = configured_keys(&[("phone", KEY)]);
    let config = format!("[http]\nrequire_key = true\n[log]\nlevel = \"trace\"\n{keys}");
    let desk = Desk::setup()
        .config(&config)
        .own_port("--fixture-port")
        .start()
        .await;
    let secret = "horse-in-an-address";
    for name in ["key", "api_key", "token", "access_token", "Access_Token"] {
        let query = format!("x=1&{name}={secret}");
        for (port, path) in [
            (desk.port, "/mcp/fixture"),
            (desk.own_port, "/mcp"),
            (desk.own_port, "/mcp/tools/call"),
            (desk.own_port, "/"),
        ] {
            let bearer = format!("Bearer {KEY}");
            let headers = [("authorization", bearer.as_str())];
            let path = format!("{path}?{query}");
            let answer = request(port, "POST", &path, &headers, list().to_string()).await;
            assert_eq!(answer.status, 400, "{path}: {}", answer.text());
            let text = answer.text();
            assert!(text.contains("Authorization: Bearer KEY"), "{text}");
            assert!(text.contains("mcp.auth.KEY"), "{text}");
            assert!(!text.contains(secret), "{text}");
        }
        let path = format!("/ws/fixture?{query}");
        assert_eq!(upgrade(&desk, &path, KEY).await.unwrap().0, 400);
    }
    // Other parameters do no harm.
    let path = "/mcp/fixture?monkey=1&keys=2&tokens&v=some-query";
    let bearer = format!("Bearer {KEY}");
    let headers = [("authorization", bearer.as_str())];
    let answer = request(desk.port, "POST", path, &headers, list().to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());

    // Right keys and wrong ones, by every way in, at the most talkative level.
    let mut socket = Socket::with_bearer(&desk, "fixture", KEY).await;
    result(&socket.request(&list()).await);
    let mut socket = Socket::with_protocols(&desk, "fixture", "mcp, mcp.auth.wrong-horse").await;
    assert_eq!(socket.request(&list()).await["error"]["code"], 401);
    assert_eq!(with_key(&desk, "wrong-horse").await.status, 401);
    let log = whole_log(&desk).await;
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "{log}");
    let digest = keys.rsplit('"').nth(1).unwrap();
    assert_eq!(digest.len(), 64);
    for kept in [secret, KEY, digest, "wrong-horse", "some-query"] {
        assert!(!log.contains(kept), "{kept} is in\n{log}");
    }
}
