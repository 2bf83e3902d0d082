//! The limit under load: exactly as many pass as it says, whichever processes on
//! the same data they reach.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use desk::{ledger, tables::TABLES};
use kit::{
    Result, Store,
    sql::{Budget, Sql},
};
use serde_json::{Value, json};
use store::{Database, Options, testing::Postgres, url::DatabaseUrl};

use crate::harness::{Answer, Desk, Place, call, configured_keys, modern};

const HUNDRED: &str = "[limits]\nrequests_per_minute = { fixture = 100 }\n";

async fn post(port: u16) -> Answer {
    post_with(port, None).await
}

async fn post_with(port: u16, key: Option<&str>) -> Answer {
    crate::harness::post(port, "fixture", key, &sum(1))
        .await
        .unwrap()
}

fn sum(id: u64) -> Value {
    call(id, "fixture_sum", json!({ "a": 1, "b": 2 }))
}

/// How many of the answers are the tool's; the others must say when to come back.
fn passed(answers: &[Answer]) -> usize {
    let mut passed = 0;
    for answer in answers {
        if answer.status == 200 {
            passed += 1;
            continue;
        }
        assert_eq!(answer.status, 429);
        let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
        let message: Value = answer.message();
        assert_eq!(message["error"]["code"], 429);
        let wait = message["error"]["data"]["retry_after_ms"].as_u64().unwrap();
        assert!((1..=60_000).contains(&wait), "{wait}");
    }
    passed
}

#[tokio::test]
async fn exactly_a_hundred_pass_from_many_connections() {
    let desk = Desk::with_config(HUNDRED).await;
    let answers = futures::future::join_all((0..200).map(|_| post(desk.port))).await;
    assert_eq!(passed(&answers), 100);
    assert_eq!(passed(&[post(desk.port).await]), 0);
}

async fn let_a_hundred_pass_together(one: Desk, two: Desk) {
    let ports = (0..300).map(|at| if at % 2 == 0 { one.port } else { two.port });
    let answers = futures::future::join_all(ports.map(post)).await;
    assert_eq!(passed(&answers), 100);
    for desk in [&one, &two] {
        assert_eq!(passed(&[post(desk.port).await]), 0);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn two_desks_on_one_database_let_a_hundred_pass_together() {
    let url = Postgres::shared().create_database();
    let setup = || Desk::setup().config(HUNDRED).database(&url);
    let_a_hundred_pass_together(setup().start().await, setup().start().await).await;
}

/// Rows are added when they are needed, and nobody is refused meanwhile.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_large_limit_costs_no_more_rows_than_requests() {
    let url = Postgres::shared().create_database();
    let config = "[limits]\nrequests_per_minute = { fixture = 1000000 }\n";
    let setup = || Desk::setup().config(config).database(&url);
    let desks = [setup().start().await, setup().start().await];
    let began = Instant::now();
    assert_eq!(passed(&[post(desks[0].port).await]), 1);
    assert!(began.elapsed() < Duration::from_secs(20));
    let ports = (0..300).map(|at| desks[at % 2].port);
    let answers = futures::future::join_all(ports.map(post)).await;
    assert_eq!(passed(&answers), 300);
    let few = "DO $$ BEGIN ASSERT (SELECT COUNT(*) FROM madoguchi.desk_slots) < 700; END $$";
    store::testing::run(&url, few);
}

#[tokio::test]
async fn rows_of_callers_who_no_longer_call_are_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::Sqlite(directory.path().join("desk.db"));
    let database = Database::open(&url, Options::default()).await.unwrap();
    let rows: Arc<dyn Store> = Arc::new(database);
    for migrations in TABLES {
        rows.migrate(migrations).await.unwrap();
    }
    let now = 2 * ledger::KEPT_MS;
    let slots = move |sql: &mut dyn Sql| {
        sql.execute(
            "INSERT INTO desk_slots (caller, counter, slot, at_ms) VALUES
                 ('gone', 'rooms', 0, 0), ('gone', 'rooms', 1, 1), ('here', 'rooms', 0, 0),
                 ('here', 'rooms', 1, $1), ('here', 'todo', 0, 1)",
            &[now.into()],
        )
    };
    rows.transaction(Budget::default(), slots).await.unwrap();
    ledger::purge(&rows, now).await.unwrap();
    let left = |sql: &mut dyn Sql| {
        let left = sql.query("SELECT caller || ' ' || counter FROM desk_slots", &[])?;
        left.iter()
            .map(|row| row.text(0))
            .collect::<Result<Vec<_>>>()
    };
    let left = rows.query(Budget::default(), left).await.unwrap();
    assert_eq!(left, ["here rooms", "here rooms"]);
}

#[tokio::test]
async fn two_desks_on_one_directory_let_a_hundred_pass_together() {
    let one = Desk::with_config(HUNDRED).await;
    let two = Desk::setup().config(HUNDRED).place(&one.place);
    let two = two.start().await;
    let_a_hundred_pass_together(one, two).await;
}

#[tokio::test]
async fn a_restart_forgets_nothing() {
    let place = Place::new();
    let mut all = 0;
    for signal in ["TERM", "KILL", "TERM"] {
        let mut desk = Desk::setup().config(HUNDRED).place(&place).start().await;
        let answers = futures::future::join_all((0..45).map(|_| post(desk.port))).await;
        all += passed(&answers);
        desk.signal(signal);
        desk.ended().await;
    }
    assert_eq!(all, 100);
}

/// A file of a process that died in the middle of writing, or that somebody
/// damaged: nobody knows what passed.
#[tokio::test]
async fn a_damaged_counter_file_refuses_all_requests() {
    let desk = Desk::with_config(HUNDRED).await;
    assert_eq!(passed(&[post(desk.port).await]), 1);
    let directory = desk.place.data().join("madoguchi.db-limits");
    let files: Vec<_> = std::fs::read_dir(&directory).unwrap().collect();
    let [Ok(file)] = &files[..] else {
        panic!("{files:?}");
    };
    std::fs::write(file.path(), "nonsense").unwrap();
    assert_eq!(passed(&[post(desk.port).await]), 0);
    desk.logs("that a count is damaged", |entry| {
        entry["message"].to_string().contains("is damaged")
    })
    .await;
}

#[tokio::test]
async fn a_stdio_process_with_a_key_counts_too() {
    let desk = Desk::with_config(HUNDRED).await;
    let key = desk.place.create_key(&["phone"]);
    let mut pipe = desk.stdio("fixture", Some(&key));
    for id in 1..=60 {
        let answer = pipe.request(&sum(id));
        assert!(answer["result"].is_object(), "{answer}");
    }
    let answers = (0..60).map(|_| post_with(desk.port, Some(&key)));
    assert_eq!(passed(&futures::future::join_all(answers).await), 40);
    let answer = pipe.request(&modern(61, "tools/list", json!({})));
    assert_eq!(answer["error"]["code"], 429, "{answer}");
    // Others have a count of their own.
    assert_eq!(passed(&[post(desk.port).await]), 1);
    pipe.finish();
}

/// Two desks on one database whose configurations call different keys by the
/// same name.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn configured_keys_of_one_name_on_two_desks_are_counted_apart() {
    let url = Postgres::shared().create_database();
    let config = |secret: &str| {
        let keys = configured_keys(&[("phone", secret)]);
        format!("[limits]\nrequests_per_minute = {{ fixture = 3 }}\n{keys}")
    };
    let secrets = ["a long secret of one", "a long secret of two"];
    let mut desks = Vec::new();
    for secret in secrets {
        let setup = Desk::setup().config(&config(secret)).database(&url);
        desks.push(setup.start().await);
    }
    for (desk, secret) in desks.iter().zip(secrets) {
        let answers = (0..5).map(|_| post_with(desk.port, Some(secret)));
        assert_eq!(passed(&futures::future::join_all(answers).await), 3);
    }
}
