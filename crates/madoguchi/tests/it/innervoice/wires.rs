//! The servers that messages and reminders go to: encrypted, with logins, refusing,
//! hanging and cut off. Nothing is sent twice or forgotten, and the user is told.

mod gateways;
mod mail;

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};

use super::{ALLOWS, FLAG, mail::Caller};
use crate::harness::{
    Desk, Peer, Place,
    tls::{AUTHORITY, Authority},
};

/// A place with an authority, and a certificate of it for the servers of a test.
struct Certified {
    place: Place,
    cert: String,
    key: String,
}

impl Certified {
    fn new() -> Self {
        let place = Place::new();
        let pair = Authority::of(&place).issue();
        let file = |name, text: &str| place.file(name, text).to_str().unwrap().to_owned();
        Self {
            cert: file("server.pem", &pair.cert),
            key: file("server.key", &pair.key),
            place,
        }
    }

    /// A server of `clients/` that encrypts.
    async fn server(&self, script: &str, arguments: &[&str]) -> Peer {
        let tls = ["--tls", &self.cert, &self.key];
        Peer::start(script, &[&tls, arguments].concat()).await
    }

    /// The variable with which a program trusts the authority.
    fn trust(&self) -> (&'static str, String) {
        let authority = self.place.path().join(AUTHORITY);
        ("SSL_CERT_FILE", authority.to_str().unwrap().to_owned())
    }

    async fn desk(&self, settings: &str) -> Desk {
        self.desk_that(true, settings).await
    }

    async fn desk_that(&self, trusts: bool, settings: &str) -> Desk {
        let config = format!("{ALLOWS}\n[innervoice]\nundo_seconds = 0\n{settings}");
        let mut setup = Desk::setup().place(&self.place).config(&config);
        if trusts {
            let (name, value) = self.trust();
            setup = setup.env(name, &value);
        }
        setup.own_port(FLAG).start().await
    }
}

impl Caller {
    async fn send_to(&mut self, to: &str, text: &str) {
        let arguments = json!({ "to": to, "text": text });
        let sent = self.call("message.send", arguments).await;
        assert_eq!(sent["status"], "ok", "{sent}");
    }

    /// Waits until the newest message could not be sent for this reason.
    async fn fails_with(&mut self, why: &str) -> Value {
        let mut newest = Value::Null;
        for _ in 0..30 {
            let list = self.call("message.list", json!({})).await;
            newest = list["messages"][0].clone();
            if newest["last_error"] == why {
                return newest;
            }
            // A hundred questions pass in a minute.
            tokio::time::sleep(Duration::from_millis(700)).await;
        }
        panic!("not {why:?}: {newest}");
    }

    /// Waits until nothing is sent any more: the messages by address, and the sentence
    /// that is read out.
    async fn settled(&mut self) -> (BTreeMap<String, Value>, String) {
        for _ in 0..150 {
            let list = self.call("message.list", json!({ "limit": 100 })).await;
            let messages = list["messages"].as_array().unwrap();
            let is_open = |one: &Value| one["status"] == "queued" || one["status"] == "sending";
            if !messages.iter().any(is_open) {
                let address = |one: &Value| one["address"].as_str().unwrap().to_owned();
                let messages = messages.iter().map(|one| (address(one), one.clone()));
                return (
                    messages.collect(),
                    list["message"].as_str().unwrap().to_owned(),
                );
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        panic!("some are still being sent");
    }
}
