//! A cinema with many screenings in a database file of its own.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result, anyhow};
use kit::{Context, Counter, Store, sql::Budget, time::Clock};
use store::{Database, Options, url::DatabaseUrl};

use crate::desk_row;

/// Every screening of the demo once more, so many times: enough seats for the
/// quickest of machines.
const COPIES: usize = 15;
/// What the ids of the copies have in common.
const MARK: &str = "-bench-";

pub struct CinemaOnDisk {
    pub counter: Arc<Counter>,
    store: Arc<dyn Store>,
    database: Database,
}

impl CinemaOnDisk {
    pub async fn open(data: &Path) -> Result<Self> {
        let url = DatabaseUrl::Sqlite(file(data));
        let database = Database::open(&url, Options::default())
            .await
            .map_err(failed)?;
        let store: Arc<dyn Store> = Arc::new(database.clone());
        store.migrate(cinema::MIGRATIONS).await.map_err(failed)?;
        let counter = cinema::counter(cinema::Settings::default(), Arc::clone(&store));
        Ok(Self {
            counter: Arc::new(counter),
            store,
            database,
        })
    }

    pub async fn create(data: &Path) -> Result<Self> {
        let cinema = Self::open(data).await?;
        let demo = cinema.counter.demo.as_ref().context("demo data")?;
        let context = Context::of_the_desk(Clock::system());
        demo.load(&context).await.map_err(failed)?;
        let tomorrow = context.clock.now().as_millisecond() + 24 * 60 * 60 * 1000;
        let copy = move |sql: &mut dyn kit::Sql| {
            for number in 0..COPIES {
                let statement = format!(
                    "INSERT INTO cinema_shows (id, film_id, theater_id, show_date, start_minute, \
                     end_minute, starts_at, is_demo) SELECT id || '{MARK}{number}', film_id, \
                     theater_id, show_date, start_minute, end_minute, starts_at, 0 \
                     FROM cinema_shows WHERE is_demo = 1 AND starts_at > {tomorrow}"
                );
                sql.execute(&statement, &[])?;
            }
            Ok(())
        };
        cinema
            .store
            .transaction(Budget::default(), copy)
            .await
            .map_err(failed)?;
        Ok(cinema)
    }

    /// The tables for the desk's rows, which the program would make itself.
    pub async fn add_desk_tables(&self) -> Result<()> {
        let make = |sql: &mut dyn kit::Sql| {
            let statements = desk_row::TABLES.split(';').map(str::trim);
            for statement in statements.filter(|statement| !statement.is_empty()) {
                sql.execute(statement, &[])?;
            }
            Ok(())
        };
        let made = self.store.transaction(Budget::default(), make).await;
        made.map_err(failed)
    }

    /// The screenings to book, all empty, each with its hall.
    pub async fn shows(&self) -> Result<Vec<(String, String)>> {
        let statement = format!(
            "SELECT id, theater_id FROM cinema_shows WHERE id LIKE '%{MARK}%' ORDER BY starts_at, id"
        );
        self.query(statement, |row| Ok((row.text(0)?, row.text(1)?)))
            .await
    }

    /// Hall, row and the row's last seat.
    pub async fn rows(&self) -> Result<Vec<(String, String, i64)>> {
        let statement = "SELECT theater_id, seat_row, MAX(seat_number) FROM cinema_seats \
                         GROUP BY theater_id, seat_row ORDER BY theater_id, seat_row";
        self.query(statement.to_owned(), |row| {
            Ok((row.text(0)?, row.text(1)?, row.int(2)?))
        })
        .await
    }

    pub async fn reservations(&self) -> Result<u64> {
        let statement =
            format!("SELECT COUNT(*) FROM cinema_reservations WHERE show_id LIKE '%{MARK}%'");
        let counts = self.query(statement, |row| row.int(0)).await?;
        Ok(u64::try_from(counts.first().copied().unwrap_or_default())?)
    }

    pub async fn close(&self) -> Result<()> {
        self.database.close().await.map_err(failed)
    }

    async fn query<T: Send + 'static>(
        &self,
        statement: String,
        read: fn(&kit::Row) -> kit::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = self.store.query(Budget::default(), move |sql| {
            sql.query(&statement, &[])?.iter().map(read).collect()
        });
        rows.await.map_err(failed)
    }
}

pub fn file(data: &Path) -> PathBuf {
    data.join("madoguchi.db")
}

fn failed(error: kit::Error) -> anyhow::Error {
    anyhow!("{error}: {:?}", error.cause)
}
