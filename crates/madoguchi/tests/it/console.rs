//! The console: who gets in, what keeps everybody else out, and what a person
//! does there in a real browser (`clients/console.mjs`).

mod audit_pages;
mod batches;
mod connect;
mod counter_pages;
mod first_view;
mod in_firefox;
mod japanese_titles;
mod key_records;
mod machine;
mod notices;
mod pages;
mod policies;
mod rooms_page;
mod shop_and_calendar;
mod todo_page;
mod visitor;

use std::{process::Command, time::Duration};

use desk::{digest::hex, state::Secret};
use store::testing::Postgres;
use tokio::{io::AsyncReadExt, net::TcpStream};

use crate::harness::{
    Desk, Output,
    clients::{self, Browser},
    free_seats, request, seats_of, show_to_book,
    tls::{self, AUTHORITY},
};
use visitor::{
    ASKS, HTML, Visitor, asking_desk, between, follow, new_link, now, secret, status_of,
    waiting_booking,
};

#[tokio::test]
async fn opens_once_with_the_link_that_serve_hands_over() {
    let desk = Desk::start().await;
    let link = desk.console_link();
    let link = link.as_str();
    let path = link.strip_prefix(&desk.url("")).unwrap();
    // Whoever looks before the user does, a messenger or a browser, spoils nothing.
    for _ in 0..2 {
        let page = request(desk.port, "GET", path, &[HTML], "").await;
        assert_eq!(page.status, 200);
        assert!(page.header("set-cookie").is_none());
    }
    // Nor does choosing a language, which leads back to the button.
    let headers = [HTML, ("referer", link)];
    let answer = request(desk.port, "GET", "/console/language?to=ja", &headers, "").await;
    assert_eq!(answer.header("location"), Some(path));
    let headers = [HTML, ("referer", "https://evil.example/elsewhere")];
    let answer = request(desk.port, "GET", "/console/language?to=ja", &headers, "").await;
    assert_eq!(answer.header("location"), Some("/"));
    let answer = follow(&desk, link).await;
    let cookie = answer.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let visitor = Visitor::entered(&desk, &answer);
    assert_eq!(visitor.get("/").await.status, 200);
    visitor.listen().await.unwrap();
    // Once is once.
    assert_eq!(follow(&desk, link).await.status, 410);
    let page = request(desk.port, "GET", path, &[HTML], "").await;
    assert_eq!(page.status, 410);
    assert!(page.text().contains("madoguchi approvals open"));
    assert_eq!(follow(&desk, "?token=guessed").await.status, 410);
    // Another process on the same data makes another, and of many who follow it
    // at once one gets in.
    let link = new_link(&desk);
    let all = futures::future::join_all((0..8).map(|_| follow(&desk, &link))).await;
    let let_in = all.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(let_in, 1);
}

#[tokio::test]
async fn forged_expired_and_ended_sessions_are_refused() {
    let desk = asking_desk().await;
    let visitor = Visitor::enter(&desk).await;
    let page = |cookie: String| async move {
        let headers = [HTML, ("cookie", cookie.as_str())];
        request(desk.port, "GET", "/", &headers, "").await
    };
    let desk = visitor.desk;
    let none = request(desk.port, "GET", "/", &[HTML], "").await;
    assert_eq!(none.status, 401);
    assert!(none.text().contains("madoguchi approvals open"));
    // Signed by somebody else, changed, or over.
    let signed = |secret: &Secret, claims: &str| {
        let mac = hex(&secret.mac("console session", claims.as_bytes()));
        format!("madoguchi_console={claims}.{mac}")
    };
    let claims = |expires_at: i64| format!("abcdefghijklmnopqrstuvwxyz.{expires_at}.scripted");
    let good = signed(&secret(desk), &claims(now() + 60_000));
    assert_eq!(
        page(good.clone()).await.status,
        200,
        "the forgery is well made"
    );
    let forged = signed(&Secret::random(), &claims(now() + 60_000));
    assert_eq!(page(forged).await.status, 401);
    let expired = signed(&secret(desk), &claims(now() - 1));
    assert_eq!(page(expired.clone()).await.status, 401);
    let changed = good.replace("abcdef", "abcdeg");
    assert_eq!(page(changed).await.status, 401);
    let id = waiting_booking(desk).await;
    let stranger = Visitor {
        desk,
        cookie: expired,
        token: visitor.token.clone(),
    };
    assert_eq!(stranger.listen().await.unwrap_err(), 401);
    assert_eq!(stranger.decide(&id, "once").await.status, 401);
    assert_eq!(status_of(desk, &id), "pending");
    // Who signs out takes every copy of the cookie along.
    let body = format!("form={}", visitor.token);
    let answer = visitor.post("/console/sign-out", &body, &[]).await;
    assert_eq!(answer.status, 303);
    assert!(answer.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(visitor.get("/").await.status, 401);
    assert_eq!(visitor.decide(&id, "once").await.status, 401);
    assert_eq!(status_of(desk, &id), "pending");
}

/// Browsers send a cookie to every port of a host: whatever listens on another
/// one may have it.
#[tokio::test]
async fn a_cookie_alone_shows_and_decides_nothing() {
    let desk = asking_desk().await;
    let id = waiting_booking(&desk).await;
    let visitor = Visitor::enter(&desk).await;
    let (inbox, _stream) = visitor.listen().await.unwrap();
    assert!(inbox.contains(&id) && inbox.contains("Reserve 1 seat(s)"));
    assert!(!inbox.contains(&visitor.token), "it is told once");
    for form in ["", &"0".repeat(64)] {
        let mut thief = visitor.at(&desk);
        thief.token = form.to_owned();
        let page = thief.get("/").await.text();
        for secret in [&*id, "Reserve", &visitor.token] {
            assert!(!page.contains(secret), "{secret} in {page}");
        }
        assert_eq!(thief.listen().await.unwrap_err(), 401);
        assert_eq!(thief.decide(&id, "once").await.status, 403);
        // A session does not become one for browsers without scripts.
        thief.cookie = thief.cookie.replace(".scripted.", ".plain.");
        assert_eq!(thief.get("/").await.status, 401);
    }
    assert_eq!(status_of(&desk, &id), "pending");
}

#[tokio::test]
async fn api_keys_do_not_open_the_console() {
    let desk = asking_desk().await;
    let id = waiting_booking(&desk).await;
    let key = format!("Bearer {}", desk.place.create_key(&["agent"]));
    let visitor = Visitor::enter(&desk).await;
    // Not even together with a person's cookie.
    let headers = [
        HTML,
        ("authorization", key.as_str()),
        ("cookie", visitor.cookie.as_str()),
    ];
    let link = new_link(&desk);
    let link = link.strip_prefix(&desk.url("")).unwrap();
    for path in ["/", link, "/console/events", "/console/console.js"] {
        let answer = request(desk.port, "GET", path, &headers, "").await;
        assert_eq!(answer.status, 403, "{path}");
    }
    let decision = format!("form={}&decision=once", visitor.token);
    let path = format!("/console/approvals/{id}");
    for key in [key.as_str(), "Basic eDp5", "x"] {
        let answer = visitor
            .post(&path, &decision, &[("authorization", key)])
            .await;
        assert_eq!(answer.status, 403);
    }
    let token = format!("token={}", link.split_once("token=").unwrap().1);
    let with_key = [("authorization", key.as_str())];
    let answer = visitor.post("/console/open", &token, &with_key).await;
    assert_eq!(answer.status, 403);
    assert_eq!(status_of(&desk, &id), "pending");
    assert_eq!(visitor.post("/console/open", &token, &[]).await.status, 200);
    // Programs still read the plain list of addresses, with a key or without.
    let text = request(desk.port, "GET", "/", &with_key, "").await.text();
    assert!(text.contains("/mcp/cinema"), "{text}");
}

#[tokio::test]
async fn other_sites_can_not_decide_approvals() {
    let desk = asking_desk().await;
    let id = waiting_booking(&desk).await;
    let visitor = Visitor::enter(&desk).await;
    let other = Visitor::enter(&desk).await;
    let path = format!("/console/approvals/{id}");
    let good = format!("form={}&decision=once", visitor.token);
    let elsewhere = format!("http://127.0.0.1:{}", desk.port ^ 1);
    for (what, header) in [
        ("another site", ("origin", "https://evil.example")),
        ("another program on this machine", ("origin", &*elsewhere)),
        ("a sandboxed page", ("origin", "null")),
        ("nowhere", ("origin", "")),
        ("says so", ("sec-fetch-site", "cross-site")),
        ("the same site", ("sec-fetch-site", "same-site")),
    ] {
        let answer = visitor.post(&path, &good, &[header]).await;
        assert_eq!(answer.status, 403, "{what}: {}", answer.text());
    }
    for (what, form) in [
        ("no token", String::new()),
        ("a guess", "0".repeat(64)),
        ("another session's", other.token.clone()),
    ] {
        let body = format!("form={form}&decision=once");
        let answer = visitor.post(&path, &body, &[]).await;
        assert_eq!(answer.status, 403, "{what}");
    }
    let odd = format!("form={}&decision=perhaps", visitor.token);
    assert_eq!(visitor.post(&path, &odd, &[]).await.status, 403);
    for method in ["GET", "PUT", "DELETE"] {
        let cookie = ("cookie", visitor.cookie.as_str());
        let answer = request(desk.port, method, &path, &[cookie], "").await;
        assert_eq!(answer.status, 405, "{method}");
    }
    assert_eq!(status_of(&desk, &id), "pending");
    let same = ("sec-fetch-site", "same-origin");
    let answer = visitor.post(&path, &good, &[same]).await;
    assert_eq!(
        answer.header("location"),
        Some("/console/approvals?done=once")
    );
    assert_eq!(status_of(&desk, &id), "approved");
}

#[tokio::test]
async fn pages_are_not_framed_kept_or_scripted_by_others() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let none = request(desk.port, "GET", "/", &[HTML], "").await;
    for answer in [
        visitor.get("/").await,
        visitor.get("/console/open?token=x").await,
        visitor.get("/console/console.js").await,
        visitor.post("/console/sign-out", "", &[]).await,
        none,
    ] {
        let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
        let policy = header("content-security-policy");
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'self'",
        ] {
            assert!(policy.contains(rule), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "same-origin");
        assert_eq!(header("cache-control"), "no-store");
        assert_eq!(header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(header("access-control-allow-origin"), "");
    }
    // The guard of the listener stands before it.
    let stranger = [HTML, ("host", "evil.example")];
    let answer = request(desk.port, "GET", "/", &stranger, "").await;
    assert_eq!(answer.status, 403);
}

#[tokio::test]
async fn only_one_of_two_concurrent_decisions_counts() {
    let desk = asking_desk().await;
    let (first, second) = (Visitor::enter(&desk).await, Visitor::enter(&desk).await);
    let id = waiting_booking(&desk).await;
    let (one, two) = tokio::join!(first.decide(&id, "once"), second.decide(&id, "deny"));
    let mut outcomes = [&one, &two].map(|answer| {
        let message = answer.message();
        let outcome = message["outcome"].as_str().unwrap().to_owned();
        (answer.status, outcome)
    });
    outcomes.sort();
    assert_eq!(outcomes[1], (409, "already".into()));
    let won = if one.status == 200 {
        "approved"
    } else {
        "denied"
    };
    assert_eq!(status_of(&desk, &id), won);
    let answer = first.decide("ap_nothing", "once").await;
    assert_eq!(
        (answer.status, answer.message()["outcome"] == "missing"),
        (404, true)
    );
}

/// Waits for its last chunk.
async fn ends(mut stream: TcpStream) {
    let mut text = String::new();
    let mut read = vec![0; 100_000];
    let all = async {
        while !text.ends_with("0\r\n\r\n") {
            let length = stream.read(&mut read).await.unwrap();
            text.push_str(&String::from_utf8_lossy(&read[..length]));
            if length == 0 {
                break;
            }
        }
    };
    let all = tokio::time::timeout(Duration::from_secs(30), all);
    all.await.expect("the stream ends");
}

#[tokio::test]
async fn a_stream_ends_with_its_session() {
    let desk = asking_desk().await;
    let claims = format!("abcdefghijklmnopqrstuvwxyz.{}.scripted", now() + 10_000);
    let mac = |purpose: &str| hex(&secret(&desk).mac(purpose, claims.as_bytes()));
    let brief = Visitor {
        desk: &desk,
        cookie: format!("madoguchi_console={claims}.{}", mac("console session")),
        token: mac("console form"),
    };
    let (_, short) = brief.listen().await.unwrap();
    let visitor = Visitor::enter(&desk).await;
    let (_, long) = visitor.listen().await.unwrap();
    ends(short).await;
    // Those of pages on which nothing changes too.
    let rooms = visitor.watch("/console/rooms/events").await;
    let clients = visitor.watch("/console/connect/events").await;
    let body = format!("form={}", visitor.token);
    visitor.post("/console/sign-out", &body, &[]).await;
    for stream in [long, rooms, clients] {
        ends(stream).await;
    }
}

/// Where keys are required, a person who is signed in needs none to stay.
#[tokio::test]
async fn a_signed_in_person_needs_no_key_to_stay_connected() {
    let config = "[http]\nrequire_key = true\nidentify_timeout_seconds = 4\n";
    let desk = Desk::with_config(config).await;
    let visitor = Visitor::enter(&desk).await;
    let other = Visitor::enter(&desk).await;
    let (_, mut stream) = visitor.listen().await.unwrap();
    // A stranger who came later is gone.
    ends(desk.connect().await).await;
    let body = format!("form={}", other.token);
    other.post("/console/sign-out", &body, &[]).await;
    let mut more = [0; 1000];
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut more));
    assert_ne!(read.await.expect("nothing is said").unwrap(), 0);
}

#[tokio::test]
async fn a_session_outlives_a_restart_and_a_stream_does_not_hold_it_up() {
    let mut desk = asking_desk().await;
    let visitor = Visitor::enter(&desk).await;
    let (cookie, token) = (visitor.cookie.clone(), visitor.token.clone());
    let (_, stream) = visitor.listen().await.unwrap();
    desk.signal("TERM");
    ends(stream).await;
    assert!(desk.ended().await.success());
    let again = Desk::setup().config(ASKS).place(&desk.place).start().await;
    let visitor = Visitor {
        desk: &again,
        cookie,
        token,
    };
    visitor.listen().await.unwrap();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn desks_on_one_database_share_links_and_visitors() {
    let url = Postgres::shared().create_database();
    let desk = || Desk::setup().config(ASKS).database(&url);
    let (one, two) = (desk().demo().start().await, desk().start().await);
    let link = one.console_link();
    let there = Visitor::entered(&two, &follow(&two, &link).await);
    assert_eq!(follow(&one, &link).await.status, 410);
    let here = there.at(&one);
    let id = waiting_booking(&one).await;
    let (inbox, stream) = there.listen().await.unwrap();
    assert!(inbox.contains(&id), "{inbox}");
    assert_eq!(there.decide(&id, "once").await.status, 200);
    assert_eq!(here.decide(&id, "once").await.status, 409);
    let body = format!("form={}", here.token);
    here.post("/console/sign-out", &body, &[]).await;
    ends(stream).await;
    assert_eq!(there.listen().await.unwrap_err(), 401);
}

#[tokio::test]
async fn the_cookie_is_secure_over_tls() {
    let (desk, _authority) = tls::start("").await;
    let link = desk.console_link();
    let (address, token) = link.split_once("/console/open?token=").unwrap();
    assert_eq!(address, format!("https://127.0.0.1:{}", desk.port));
    let origin = format!("https://localhost:{}", desk.port);
    let mut curl = Command::new("curl");
    desk.place.enter(&mut curl);
    curl.args(["--silent", "--show-error", "--include", "--max-time", "60"])
        .arg("--cacert")
        .arg(desk.place.path().join(AUTHORITY))
        .args(["--data", &format!("token={token}")])
        .args(["--header", &format!("origin: {origin}")])
        .arg(format!("{origin}/console/open"));
    let answer = Output::of(&mut curl, "").ok().stdout;
    let cookie = between(&answer, "set-cookie: ", "\r\n");
    assert!(cookie.contains("; Secure"), "{cookie}");
    assert!(answer.contains("data-form="), "{answer}");
}

/// A person in a browser. Calls are held long enough for them to decide.
pub async fn in_a_browser(browser: Browser, cases: &str) {
    let config = ASKS.replace("hold_seconds = 1", "hold_seconds = 120");
    let desk = Desk::with_config(&config).await;
    let show = show_to_book(&desk, "M001", 0).await;
    let schedule_id = show["schedule_id"].as_str().unwrap();
    let free = free_seats(&seats_of(&desk, schedule_id).await);
    let url = desk.url("");
    let mut arguments = vec![cases, url.as_str(), schedule_id];
    arguments.extend(free.iter().take(5).map(String::as_str));
    let output = clients::in_browser(browser, &desk.place, "console.mjs", &arguments).await;
    output.ok();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_decide_in_a_browser() {
    in_a_browser(Browser::Chromium, "deciding").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn concurrent_decisions_are_shown_in_a_browser() {
    in_a_browser(Browser::Chromium, "meeting").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_read_in_a_browser() {
    in_a_browser(Browser::Chromium, "reading").await;
}
