//! A person's browser, as far as HTTP goes, and what waits for the person.

use std::time::Duration;

use desk::state::Secret;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::{Answer, Desk, free_seats, refused, request, seats_of, show_to_book};

pub const ASKS: &str =
    "[approval]\ntools = { \"cinema.reserve_seats\" = \"ask\" }\nhold_seconds = 1\n";

pub const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
pub const HTML: (&str, &str) = ("accept", "text/html,*/*;q=0.8");

pub async fn asking_desk() -> Desk {
    Desk::with_config(ASKS).await
}

/// A browser that is signed in, as far as HTTP goes.
pub struct Visitor<'a> {
    pub desk: &'a Desk,
    pub cookie: String,
    pub token: String,
}

impl<'a> Visitor<'a> {
    pub async fn enter(desk: &'a Desk) -> Self {
        Self::entered(desk, &follow(desk, &new_link(desk)).await)
    }

    /// From the answer to a link.
    pub fn entered(desk: &'a Desk, answer: &Answer) -> Self {
        assert_eq!(answer.status, 200, "{}", answer.text());
        let set = answer.header("set-cookie").unwrap();
        Self {
            desk,
            cookie: set.split(';').next().unwrap().to_owned(),
            token: between(&answer.text(), "data-form=\"", "\"").to_owned(),
        }
    }

    /// The same browser, at a desk on the same data.
    pub fn at(&self, desk: &'a Desk) -> Self {
        Self {
            desk,
            cookie: self.cookie.clone(),
            token: self.token.clone(),
        }
    }

    /// The inbox as the stream first sends it, and the stream; or the status
    /// with which it is refused.
    pub async fn listen(&self) -> Result<(String, TcpStream), u16> {
        let mut stream = self.desk.connect().await;
        let head = format!(
            "GET /console/events HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: {}\r\nx-console-form: {}\r\n\r\n",
            self.cookie, self.token
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut read = vec![0; 100_000];
        let mut text = String::new();
        loop {
            let length = stream.read(&mut read).await.unwrap();
            assert!(length > 0, "{text}");
            text.push_str(&String::from_utf8_lossy(&read[..length]));
            if !text.starts_with("HTTP/1.1 200") {
                return Err(between(&text, "HTTP/1.1 ", " ").parse().unwrap());
            }
            if text.contains("\"html\"") && text.ends_with("\n\n\r\n") {
                assert!(text.contains("text/event-stream"), "{text}");
                return Ok((text, stream));
            }
        }
    }

    /// The stream that tells when a page has changed.
    pub async fn watch(&self, path: &str) -> TcpStream {
        let mut stream = self.desk.connect().await;
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: {}\r\nx-console-form: {}\r\n\r\n",
            self.cookie, self.token
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut begin = [0; 12];
        stream.read_exact(&mut begin).await.unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200");
        stream
    }

    /// A page with its content, as the script of its frame asks for it.
    pub async fn page(&self, path: &str) -> Answer {
        let mut headers = vec![HTML, ("cookie", self.cookie.as_str())];
        headers.push(("x-console-form", &self.token));
        request(self.desk.port, "GET", path, &headers, "").await
    }

    /// A page, once it shows this text. Some calls are recorded a moment later.
    pub async fn once_shown(&self, path: &str, text: &str) -> String {
        let mut page = String::new();
        for _ in 0..200 {
            page = self.page(path).await.text();
            if page.contains(text) {
                return page;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("no {text} in {page}");
    }

    /// Sends a form of a page.
    pub async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("form", &self.token).extend_pairs(fields);
        self.post(path, &body.finish(), &[]).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        let headers = [HTML, ("cookie", self.cookie.as_str())];
        request(self.desk.port, "GET", path, &headers, "").await
    }

    /// As a page of the console would, with more or other headers.
    pub async fn post(&self, path: &str, body: &str, more: &[(&str, &str)]) -> Answer {
        let origin = self.desk.url("");
        let mut headers = vec![FORM, HTML, ("cookie", self.cookie.as_str())];
        headers.push(("origin", &origin));
        headers.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
        headers.extend_from_slice(more);
        request(self.desk.port, "POST", path, &headers, body.to_owned()).await
    }

    pub async fn decide(&self, id: &str, decision: &str) -> Answer {
        let body = format!("form={}&decision={decision}", self.token);
        let json = ("accept", "application/json");
        self.post(&format!("/console/approvals/{id}"), &body, &[json])
            .await
    }
}

pub fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let (_, rest) = text
        .split_once(before)
        .unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split_once(after).unwrap().0
}

/// A new link, made by another process on the same data.
pub fn new_link(desk: &Desk) -> String {
    let config = desk.config();
    let port = desk.port.to_string();
    let output = desk.place.run(&[
        "approvals",
        "open",
        "--port",
        &port,
        "--config",
        config.to_str().unwrap(),
    ]);
    output.ok().stdout.trim().to_owned()
}

/// Presses the button behind a link.
pub async fn follow(desk: &Desk, link: &str) -> Answer {
    let (_, token) = link.split_once("token=").unwrap();
    let origin = desk.url("");
    let headers = [FORM, HTML, ("origin", origin.as_str())];
    let body = format!("token={token}");
    request(desk.port, "POST", "/console/open", &headers, body).await
}

/// A booking that waits for the user's yes; its approval's id.
pub async fn waiting_booking(desk: &Desk) -> String {
    let show = show_to_book(desk, "M001", 0).await;
    let schedule_id = show["schedule_id"].as_str().unwrap();
    let free = free_seats(&seats_of(desk, schedule_id).await);
    let seat = free.first().unwrap();
    let arguments = json!({ "schedule_id": schedule_id, "seat_ids": [seat] });
    let answer = desk.call("cinema", "reserve_seats", arguments).await;
    let error = refused(&answer, "APPROVAL_REQUIRED");
    error["details"]["approval_id"].as_str().unwrap().to_owned()
}

pub fn status_of(desk: &Desk, id: &str) -> Value {
    let output = desk.place.run(&["approvals", "list", "--json"]).ok();
    let all = output.json();
    let found = all.as_array().unwrap().iter().find(|one| one["id"] == id);
    found.unwrap_or_else(|| panic!("no {id} in {all}"))["status"].clone()
}

pub fn secret(desk: &Desk) -> Secret {
    let text = std::fs::read_to_string(desk.place.data().join("desk.secret")).unwrap();
    Secret::of_hex(&text).unwrap()
}

pub fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
