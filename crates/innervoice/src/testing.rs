//! A counter for the tests of what runs in the background, on both engines, with
//! a clock that is set by hand.

mod server;

use std::{ops::Deref, sync::Arc};

use ::store::testing::Scratch;
use kit::{Store, counter::Announce, testing::Harness};
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub use server::{Response, Server};

use crate::{settings::Settings, state::CounterState, worker::Worker};

pub struct TestCounter {
    harness: Harness,
    pub state: Arc<CounterState>,
    _scratch: Scratch,
}

impl Deref for TestCounter {
    type Target = Harness;

    fn deref(&self) -> &Harness {
        &self.harness
    }
}

/// One of each engine.
pub async fn both(settings: &Settings) -> Vec<TestCounter> {
    let mut all = Vec::new();
    for scratch in ::store::testing::both().await {
        let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
        store.migrate(kit::lease::MIGRATIONS).await.unwrap();
        store.migrate(kit::hold::MIGRATIONS).await.unwrap();
        store.migrate(crate::MIGRATIONS).await.unwrap();
        let counter = crate::counter(settings.clone(), Arc::clone(&store)).unwrap();
        all.push(TestCounter {
            harness: Harness::new(counter, "2026-11-15T10:00:00+09:00"),
            state: Arc::new(CounterState::new(settings.clone(), &store).unwrap()),
            _scratch: scratch,
        });
    }
    all
}

impl TestCounter {
    pub async fn text(&self, to: &str) -> String {
        let arguments = json!({"to": to, "text": "こんにちは & hello"});
        let answer = self.ok("message.send", arguments).await;
        answer["id"].as_str().unwrap().to_owned()
    }

    pub fn set(&self, time: &str) {
        self.set_clock(&format!("2026-11-{time}+09:00"));
    }

    pub fn worker(&self) -> Worker {
        let presence = Arc::new(self.store().presence().unwrap());
        let stop = CancellationToken::new();
        Worker::new(&self.state, &self.context.clock, &presence, &stop)
    }

    pub async fn send(&self) {
        self.worker().send_round().await.unwrap();
        self.let_go().await;
    }

    pub async fn remind(&self) {
        let announce: Announce = Arc::new(|_| {});
        self.worker().remind_round(&announce).await.unwrap();
        self.let_go().await;
    }

    /// Releases the lease, so that the next worker need not wait for it.
    pub async fn let_go(&self) {
        self.sql("DELETE FROM leases RETURNING 1").await;
    }

    pub async fn status(&self) -> (String, i64) {
        let rows = self
            .sql("SELECT status, attempts FROM innervoice_outbox")
            .await;
        assert_eq!(rows.len(), 1);
        (rows[0].text(0).unwrap(), rows[0].int(1).unwrap())
    }

    pub async fn firings(&self) -> Vec<(String, i64)> {
        let rows = self
            .sql("SELECT outcome, coalesced FROM innervoice_firings ORDER BY due_at")
            .await;
        rows.iter()
            .map(|row| (row.text(0).unwrap(), row.int(1).unwrap()))
            .collect()
    }
}

pub fn with_sms(server: &Server) -> Settings {
    Settings {
        sms_url: server.url("/Messages.json"),
        sms_user: "AC1".into(),
        sms_password: "secret".into(),
        sms_from: "+15550100111".into(),
        ..Settings::default()
    }
}

pub fn with_webhook(server: &Server) -> Settings {
    Settings {
        webhook_url: server.url("/hook"),
        ..Settings::default()
    }
}

pub const NUMBER: &str = "090-1111-2222";
