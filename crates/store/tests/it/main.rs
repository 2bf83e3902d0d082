//! The store from outside. What both engines promise is tested on both.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod announcements;
mod budget;
mod engines;
mod hosts;
mod lost;
mod migrations;
mod pgbouncer;
mod postgres;
mod readiness;
mod rows;
mod snapshot;
mod sqlite;
mod tls;
mod transactions;
mod usage;

use kit::{
    Result, Row, Sql, Store,
    sql::{Budget, Cell},
};
use store::{Database, Options, url::DatabaseUrl};

pub async fn open(url: &str) -> Result<Database> {
    Database::open(&DatabaseUrl::parse(url)?, Options::default()).await
}

/// A table to write to, on a fresh database of each engine.
pub async fn both() -> Vec<store::testing::Scratch> {
    let all = store::testing::both().await;
    for scratch in &all {
        prepare(&scratch.database).await;
    }
    all
}

pub async fn prepare(database: &Database) {
    use kit::{counter::Migrations, sql::Migration};
    const STEPS: &[Migration] = &[Migration {
        version: 1,
        name: "notes",
        sql: "CREATE TABLE note (id BIGINT PRIMARY KEY, body TEXT, weight DOUBLE PRECISION);",
    }];
    let migrations = Migrations {
        owner: "notes",
        steps: STEPS,
    };
    database.migrate(migrations).await.unwrap();
}

pub async fn write<T: Send + 'static>(
    database: &Database,
    job: impl FnMut(&mut dyn Sql) -> Result<T> + Send + 'static,
) -> Result<T> {
    let store: &dyn Store = database;
    store.transaction(Budget::default(), job).await
}

pub async fn read<T: Send + 'static>(
    database: &Database,
    job: impl FnOnce(&mut dyn Sql) -> Result<T> + Send + 'static,
) -> Result<T> {
    let store: &dyn Store = database;
    store.query(Budget::default(), job).await
}

pub fn insert(sql: &mut dyn Sql, id: i64) -> Result<u64> {
    sql.execute("INSERT INTO note (id) VALUES ($1)", &[id.into()])
}

/// The ids of all notes.
pub async fn ids(database: &Database) -> Vec<i64> {
    let rows = read(database, |sql| {
        sql.query("SELECT id FROM note ORDER BY id", &[])
    });
    rows.await
        .unwrap()
        .iter()
        .map(|row| row.int(0).unwrap())
        .collect()
}

pub fn cells(row: &Row) -> &[Cell] {
    &row.0
}
