//! The sample data: loading, refreshing, removing.

use std::sync::Arc;

use kit::{Sql, Store, counter::Migrations, sql::Budget};
use serde_json::json;

use crate::cinema::{Cinema, both, both_empty};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn demo_data_is_loaded_and_removed() {
    for cinema in both_empty().await {
        let demo = cinema.counter.demo.clone().unwrap();
        let context = &cinema.context;
        assert!(demo.is_empty(context).await.unwrap());
        demo.refresh(context).await.unwrap();
        let is_empty = demo.is_empty(context).await.unwrap();
        assert!(is_empty, "refresh loads nothing");
        assert_eq!(
            demo.load(context).await.unwrap(),
            "Loaded 12 films, 6 halls and 333 screenings from 2026-11-15 to 2026-11-23."
        );
        assert!(!demo.is_empty(context).await.unwrap());
        let again = demo.load(context).await.unwrap();
        assert!(again.contains(" 0 screenings"), "{again}");

        let orphans = "cinema_taken_seats k WHERE NOT EXISTS \
             (SELECT 1 FROM cinema_reservations r WHERE r.id = k.reservation_id)";
        assert_eq!(cinema.count(orphans).await, 0);
        let sold = cinema.count("cinema_taken_seats").await;
        assert!((1_000..6_000).contains(&sold), "{sold}");
        let full = cinema.seats("S20261116-T6-3").await;
        assert_eq!(full["available_seats_count"], 0);

        cinema.reserve("S20261116-T1-1", ["A3"]).await.unwrap();
        let sentence = demo.remove(context).await.unwrap();
        assert!(sentence.contains("1 real reservation(s)"), "{sentence}");
        assert!(demo.is_empty(context).await.unwrap());
        for table in ["seats", "shows", "reservations", "taken_seats"] {
            assert_eq!(cinema.count(&format!("cinema_{table}")).await, 0, "{table}");
        }
        let sentence = demo.remove(context).await.unwrap();
        assert!(!sentence.contains("real reservation"), "{sentence}");
    }
}

/// Adds a film that is not of the demo.
fn real_film(id: &str) -> String {
    format!(
        "INSERT INTO cinema_films (id, title, title_folded, genre, duration_minutes, rating, \
         age_class, popularity, description, release_date, is_demo) VALUES \
         ('{id}', '本物', '本物', 'ドラマ', 100, 3.0, 'G', 0, '', '2026-01-01', 0) RETURNING 1"
    )
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn removing_demo_data_leaves_real_data() {
    for cinema in both().await {
        let demo = cinema.counter.demo.clone().unwrap();
        cinema.sql(&real_film("R1")).await;
        cinema
            .sql(
                "INSERT INTO cinema_shows VALUES \
                 ('R1-1', 'R1', 'T2', '2026-11-20', 600, 700, 1795222800000, 0, 0) RETURNING 1",
            )
            .await;
        cinema.reserve("R1-1", ["A3"]).await.unwrap();
        demo.remove(&cinema.context).await.unwrap();
        for table in ["films", "shows", "reservations"] {
            assert_eq!(cinema.count(&format!("cinema_{table}")).await, 1, "{table}");
        }
        // Its hall stays, and the demo uses it again when it is loaded.
        assert_eq!(cinema.seats("R1-1").await["available_seats_count"], 119);
        demo.load(&cinema.context).await.unwrap();
        demo.remove(&cinema.context).await.unwrap();

        cinema.sql(&real_film("M001")).await;
        let error = demo.load(&cinema.context).await.unwrap_err();
        assert_eq!(error.code, "DEMO_CONFLICT");
        assert_eq!(cinema.count("cinema_films").await, 2);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn refreshing_extends_the_programme() {
    for cinema in both().await {
        let demo = cinema.counter.demo.clone().unwrap();
        let context = &cinema.context;
        let shows = async |condition: &str| {
            let shows = format!("cinema_shows WHERE show_date {condition}");
            cinema.count(&shows).await
        };
        demo.refresh(context).await.unwrap();
        assert_eq!(shows("> ''").await, 333);
        // What an older version did not know of the films is added.
        cinema
            .sql("UPDATE cinema_films SET reading = '', title = '題' RETURNING 1")
            .await;
        cinema.set_clock("2026-11-17T00:30:00+09:00");
        // Two processes do it at the same time.
        let database = Arc::new(cinema.scratch.again().await);
        let other = cinema::counter(cinema::Settings::default(), database);
        let other = other.demo.unwrap();
        let (one, two) = futures::join!(demo.refresh(context), other.refresh(context));
        one.unwrap();
        two.unwrap();
        let completed = "cinema_films WHERE reading > '' AND title = '題'";
        assert_eq!(cinema.count(completed).await, 12);
        assert_eq!(shows("> ''").await, 333 + 2 * 37);
        assert_eq!(shows("= '2026-11-25'").await, 37);
        // After a long silence it starts from today.
        cinema.set_clock("2026-12-20T12:00:00+09:00");
        demo.refresh(context).await.unwrap();
        assert_eq!(shows("= '2026-12-19'").await, 0);
        assert_eq!(shows(">= '2026-12-20'").await, 333);
        let answer = cinema.schedule("M012", "2026-12-20").await;
        assert!(answer["schedules"].as_array().unwrap().len() >= 3);
    }
}

/// A desk with the demo that runs for years has no more rows than one of a week.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn screenings_of_the_demo_that_are_long_over_are_removed() {
    for cinema in both().await {
        let demo = cinema.counter.demo.clone().unwrap();
        cinema.reserve("S20261116-T1-1", ["A3"]).await.unwrap();
        // A week later yesterday's can still be looked up.
        cinema.set_clock("2026-11-22T12:00:00+09:00");
        demo.refresh(&cinema.context).await.unwrap();
        assert_eq!(cinema.count("cinema_shows").await, 333 + 7 * 37);
        let first_day = "cinema_shows WHERE show_date = '2026-11-15'";
        assert_eq!(cinema.count(first_day).await, 37);

        cinema.set_clock("2026-11-23T12:00:00+09:00");
        demo.refresh(&cinema.context).await.unwrap();
        assert_eq!(cinema.count(first_day).await, 0);
        cinema.set_clock("2027-11-15T12:00:00+09:00");
        demo.refresh(&cinema.context).await.unwrap();
        // Somebody has really booked one, which stays with that booking alone.
        assert_eq!(cinema.count("cinema_shows").await, 333 + 1);
        let past = "show_id LIKE 'S2026%'";
        for table in ["reservations", "taken_seats"] {
            let rows = format!("cinema_{table} WHERE {past}");
            assert_eq!(cinema.count(&rows).await, 1, "{table}");
        }
        let orphans = "cinema_taken_seats k WHERE NOT EXISTS \
             (SELECT 1 FROM cinema_reservations r WHERE r.id = k.reservation_id)";
        assert_eq!(cinema.count(orphans).await, 0);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn films_of_an_older_version_stay() {
    for scratch in store::testing::both().await {
        let first_version = Migrations {
            steps: &cinema::MIGRATIONS.steps[..1],
            ..cinema::MIGRATIONS
        };
        let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
        store.migrate(first_version).await.unwrap();
        let old_film = "INSERT INTO cinema_films VALUES \
             ('R1', '本物', '本物', 'ドラマ', 100, 3.0, 'G', 0, '', '2026-01-01', 0) RETURNING 1";
        let insert = |sql: &mut dyn Sql| sql.query(old_film, &[]);
        let written = store.transaction(Budget::default(), insert).await;
        assert_eq!(written.unwrap().len(), 1);
        let cinema = Cinema::open(scratch).await;
        let found = cinema.movies(json!({"search_query": "本物"})).await;
        assert_eq!(found["movies"][0]["movie_id"], "R1");
        assert_eq!(found["movies"][0].get("reading"), None);
    }
}
