//! A real mail server that can be told to misbehave.

use serde_json::Value;

use super::Peer;

/// Ended when it goes out of scope.
pub struct MailServer(Peer);

impl MailServer {
    /// `manners` says what it does with each message in turn, and with all that
    /// follow the last: `accept`, `later`, `never`, `drop` (after the data),
    /// `slow`, and those that never end: `mute`, `half`, `hold`, `gate`.
    pub async fn start(manners: &[&str]) -> Self {
        Self(Peer::start("mail_server.py", manners).await)
    }

    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.0.port)
    }

    /// Waits until so many messages came with one of these ends.
    pub async fn received(&self, count: usize, ends: &[&str]) -> Vec<Value> {
        let wanted = |one: &Value| ends.iter().any(|end| one["end"] == *end);
        self.0.said(count, wanted).await
    }

    /// What came so far, whatever became of it.
    pub fn so_far(&self) -> Vec<Value> {
        self.0.so_far(|one| one.get("end").is_some())
    }

    /// Waits until a message began to come that will not end.
    pub async fn began(&self, manner: &str) -> Value {
        let begun = self.0.said(1, |one| one["begun"] == manner).await;
        begun[0].clone()
    }

    /// Answers the message at the `gate`, and waits until that was sent.
    pub async fn answer(&mut self) {
        self.0.go_on();
        self.0.said(1, |one| one["answered"] == true).await;
    }
}
