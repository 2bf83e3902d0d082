//! A desk that asks before it books, and the person who is asked.

use std::{sync::Arc, time::Duration};

use kit::{Store, sql::Budget};
use serde_json::{Value, json};
use store::{Database, Options, testing::Postgres, url::DatabaseUrl};

use crate::harness::{Desk, Output, free_seats, refused, seats_of, show_to_book, structured};

pub fn asking(hold_seconds: u64) -> String {
    format!(
        "[approval]\nhold_seconds = {hold_seconds}\ntools = {{ \"cinema.reserve_seats\" = \"ask\" }}\n"
    )
}

pub struct Asking {
    pub desk: Desk,
    pub database: Option<String>,
}

impl Asking {
    pub async fn embedded(hold_seconds: u64) -> Self {
        let desk = Desk::with_config(&asking(hold_seconds)).await;
        let database = None;
        Self { desk, database }
    }

    pub async fn on_both(hold_seconds: u64) -> [Self; 2] {
        let url = Postgres::shared().create_database();
        let setup = Desk::setup().config(&asking(hold_seconds));
        let desk = setup.database(&url).demo().start().await;
        let database = Some(url);
        [Self::embedded(hold_seconds).await, Self { desk, database }]
    }

    /// The next process on the same data.
    pub async fn restarted(self) -> Self {
        let mut setup = Desk::setup().place(&self.desk.place).config(&asking(0));
        if let Some(url) = &self.database {
            setup = setup.database(url);
        }
        Self {
            desk: setup.start().await,
            database: self.database,
        }
    }

    pub fn try_cli(&self, arguments: &[&str]) -> Output {
        let url = self.database.iter();
        let url: Vec<_> = url.map(|url| ("MADOGUCHI_DATABASE__URL", &**url)).collect();
        self.desk.place.run_with(arguments, &url)
    }

    #[track_caller]
    pub fn cli(&self, arguments: &[&str]) -> Output {
        self.try_cli(arguments).ok()
    }

    pub fn listed(&self) -> Vec<Value> {
        let listed = self.cli(&["approvals", "list", "--json"]).json();
        listed.as_array().unwrap().clone()
    }

    pub fn pending(&self) -> Vec<Value> {
        let mut listed = self.listed();
        listed.retain(|approval| approval["status"] == "pending");
        listed
    }

    /// Waits until one question more is there than there was.
    pub async fn asked(&self) -> String {
        for _ in 0..400 {
            if let [approval] = self.pending().as_slice() {
                return id(approval);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("nobody was asked");
    }

    pub async fn show(&self, nth: usize) -> Value {
        show_to_book(&self.desk, "M001", nth).await
    }

    pub async fn book(&self, show: &Value, seats: &[&str]) -> Value {
        let arguments = json!({ "schedule_id": show["schedule_id"], "seat_ids": seats });
        self.desk.call("cinema", "reserve_seats", arguments).await
    }

    pub async fn is_free(&self, show: &Value, seat: &str) -> bool {
        let schedule = show["schedule_id"].as_str().unwrap();
        free_seats(&seats_of(&self.desk, schedule).await).contains(seat)
    }

    pub async fn sql(&self, text: &str) {
        let url = match &self.database {
            Some(url) => url.clone(),
            None => {
                let file = self.desk.place.data().join("madoguchi.db");
                format!("sqlite:///{}", file.display())
            }
        };
        let url = DatabaseUrl::parse(&url).unwrap();
        let database = Database::open(&url, Options::default()).await.unwrap();
        let store: Arc<dyn Store> = Arc::new(database.clone());
        let text = text.to_owned();
        let run = move |sql: &mut dyn kit::Sql| sql.execute(&text, &[]);
        store.transaction(Budget::default(), run).await.unwrap();
        database.close().await.unwrap();
    }
}

pub fn id(approval: &Value) -> String {
    approval["id"].as_str().unwrap().to_owned()
}

pub fn reservation(result: &Value) -> String {
    let reservation = &structured(result)["reservation"]["reservation_id"];
    reservation.as_str().unwrap().to_owned()
}

/// The question that a call was answered with.
#[track_caller]
pub fn question(result: &Value) -> String {
    let error = refused(result, "APPROVAL_REQUIRED");
    error["details"]["approval_id"].as_str().unwrap().to_owned()
}
