//! The rows of the database, read without the program.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kit::{Sql, Store, sql::Budget};
use store::{Database, Options, url::DatabaseUrl};

use crate::harness::Place;

#[derive(Clone)]
pub struct Rows(Arc<dyn Store>);

/// A reservation as it is stored.
#[derive(Debug)]
pub struct StoredReservation {
    pub show: String,
    pub seats: BTreeSet<String>,
    pub status: String,
}

#[derive(Debug, Default)]
pub struct Stored {
    pub reservations: BTreeMap<String, StoredReservation>,
    /// The owner of each seat, by screening and seat; the last field tells whether the
    /// seat is owned for good.
    pub owners: BTreeMap<(String, String), (String, bool)>,
    /// Ids of the reservations of the sample cinema.
    pub of_the_demo: BTreeSet<String>,
}

impl Rows {
    pub async fn open(place: &Place, url: Option<&str>) -> Self {
        let file = place.data().join("madoguchi.db");
        let file = format!("sqlite:///{}", file.display());
        let url = DatabaseUrl::parse(url.unwrap_or(&file)).unwrap();
        Self(Arc::new(
            Database::open(&url, Options::default()).await.unwrap(),
        ))
    }

    /// Sells all seats but the first eight of the rows C and D, so that the customers come
    /// into each other's way and have to wait.
    pub async fn sell_most_of(&self, shows: &[String]) {
        let shows = shows.to_vec();
        let sell = move |sql: &mut dyn Sql| {
            for show in &shows {
                sql.execute(
                    "INSERT INTO cinema_taken_seats \
                     SELECT s.id, k.seat_row, k.seat_number, 'sold', NULL FROM cinema_shows s \
                     JOIN cinema_seats k ON k.theater_id = s.theater_id WHERE s.id = $1 \
                     AND NOT (k.seat_row IN ('C', 'D') AND k.seat_number < 9) \
                     ON CONFLICT DO NOTHING",
                    &[show.into()],
                )?;
            }
            Ok(())
        };
        self.0.transaction(Budget::default(), sell).await.unwrap();
    }

    pub async fn read(&self) -> Stored {
        let read = |sql: &mut dyn Sql| {
            let mut stored = Stored::default();
            let reservations = sql.query(
                "SELECT id, show_id, seats, status FROM cinema_reservations WHERE is_demo = 0",
                &[],
            )?;
            for row in &reservations {
                let seats = row.text(2)?;
                let reservation = StoredReservation {
                    show: row.text(1)?,
                    seats: seats.split(", ").map(str::to_owned).collect(),
                    status: row.text(3)?,
                };
                stored.reservations.insert(row.text(0)?, reservation);
            }
            let demo = "SELECT id FROM cinema_reservations WHERE is_demo = 1";
            for row in &sql.query(demo, &[])? {
                stored.of_the_demo.insert(row.text(0)?);
            }
            let owners = sql.query(
                "SELECT show_id, seat_row, seat_number, reservation_id, expires_at \
                 FROM cinema_taken_seats",
                &[],
            )?;
            for row in &owners {
                let seat = format!("{}{}", row.text(1)?, row.int(2)?);
                let owner = (row.text(3)?, row.opt_int(4)?.is_none());
                stored.owners.insert((row.text(0)?, seat), owner);
            }
            Ok(stored)
        };
        self.0.query(Budget::default(), read).await.unwrap()
    }

    /// Forgets who owns the seats that were sold, so that they are sold again.
    pub async fn forget_owners(&self) {
        let forget = |sql: &mut dyn Sql| {
            sql.execute(
                "DELETE FROM cinema_taken_seats WHERE reservation_id LIKE 'rsv_%'",
                &[],
            )
        };
        self.0.transaction(Budget::default(), forget).await.unwrap();
    }
}
