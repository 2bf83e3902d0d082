//! PostgreSQL behind PgBouncer in transaction mode: every transaction may run on
//! another connection to the server, which other programs use too.

use std::time::Duration;

use futures::future::join_all;
use kit::{Announcement, Store};
use store::{
    Database, Options,
    testing::{PgBouncer, Postgres},
    url::{DatabaseUrl, PostgresAddress},
};
use tokio_postgres::NoTls;

use crate::{
    announcements::{connected, heard, topic},
    ids, insert, prepare, read, write,
};

const NOW: &str = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";

/// A fresh database, its address, and a PgBouncer in front of it.
struct Bounced {
    bouncer: PgBouncer,
    direct: String,
}

impl Bounced {
    fn start() -> Self {
        let server = Postgres::shared();
        Self {
            bouncer: PgBouncer::start(server.port()),
            direct: server.create_database(),
        }
    }

    fn url(&self) -> String {
        self.bouncer.url(&self.direct)
    }

    async fn open(&self, options: Options) -> Database {
        let url = DatabaseUrl::parse(&self.url()).unwrap();
        Database::open(&url, options).await.unwrap()
    }

    async fn desk(&self) -> Database {
        let options = Options {
            busy_timeout: Duration::from_secs(60),
            ..Options::default()
        };
        self.open(options).await
    }
}

fn address(url: &str) -> Box<PostgresAddress> {
    match DatabaseUrl::parse(url) {
        Ok(DatabaseUrl::Postgres(address)) => address,
        other => panic!("{other:?}"),
    }
}

/// More connections than PgBouncer has to the server, and statements that two
/// processes would give the same name.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn transactions_of_two_desks_never_meet() {
    let bounced = Bounced::start();
    let desks = [bounced.desk().await, bounced.desk().await];
    for desk in &desks {
        prepare(desk).await;
    }
    let work = (0..200_i64).map(|number| {
        let desk = desks[usize::try_from(number % 2).unwrap()].clone();
        async move {
            write(&desk, move |sql| {
                insert(sql, number)?;
                let update = "UPDATE note SET weight = $1, body = $2 WHERE id = $3";
                let body = format!("note {number}");
                sql.execute(update, &[0.5.into(), (&body).into(), number.into()])
            })
            .await?;
            read(&desk, move |sql| {
                let found = sql.query_one(
                    &format!(
                        "SELECT body, id AS id_{} FROM note WHERE id = $1",
                        number % 7
                    ),
                    &[number.into()],
                )?;
                let row = found.unwrap();
                Ok((row.text(0)?, row.int(1)?))
            })
            .await
        }
    });
    for (number, outcome) in (0..200).zip(join_all(work).await) {
        assert_eq!(outcome.unwrap(), (format!("note {number}"), number));
    }
    assert_eq!(ids(&desks[0]).await.len(), 200);
}

/// What stays in a session would reach other programs behind the same PgBouncer.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn nothing_stays_in_a_session() {
    let bounced = Bounced::start();
    let desk = bounced.desk().await;
    prepare(&desk).await;
    write(&desk, |sql| insert(sql, 1)).await.unwrap();
    let left = read(&desk, |sql| {
        sql.query("SELECT COUNT(*) FROM pg_prepared_statements", &[])
    });
    assert_eq!(left.await.unwrap()[0].int(0).unwrap(), 0);
    let config: tokio_postgres::Config = bounced.url().parse().unwrap();
    let (stranger, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    for _ in 0..10 {
        let path = stranger.simple_query("SHOW search_path").await.unwrap();
        assert!(!format!("{path:?}").contains("madoguchi"), "{path:?}");
        assert_eq!(ids(&desk).await, [1]);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn without_a_direct_connection_announcements_are_looked_up() {
    let bounced = Bounced::start();
    let (one, other) = (bounced.desk().await, bounced.desk().await);
    let (mut here, mut there) = (one.announcements(), other.announcements());
    connected(&mut here).await;
    connected(&mut there).await;
    one.announce("rooms/a");
    assert_eq!(heard(&mut there).await, topic("rooms/a"));
    assert_eq!(heard(&mut here).await, topic("rooms/a"));
    other.announce("two\nlines");
    assert_eq!(heard(&mut here).await, Announcement::Missed);
    assert!(here.is_empty(), "an announcement came twice");
    let said = one.check_announcements().await.unwrap().unwrap();
    assert!(
        said.contains("100 ms") && said.contains("listen_url"),
        "{said}"
    );
}

/// A promoted standby may lack the last announcements, and gives their numbers to others.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn announcements_whose_numbers_are_used_again_are_not_lost() {
    let bounced = Bounced::start();
    let desk = bounced.desk().await;
    let mut here = desk.announcements();
    connected(&mut here).await;
    let insert = |ids: &str| {
        let insert = format!(
            "DELETE FROM madoguchi.madoguchi_announcements WHERE id >= 2;
             INSERT INTO madoguchi.madoguchi_announcements
             SELECT id, 'other' || chr(10) || 'rooms/' || id, {NOW} FROM {ids} AS id"
        );
        store::testing::run(&bounced.direct, &insert);
    };
    insert("generate_series(1, 9)");
    for id in 1..=9 {
        assert_eq!(heard(&mut here).await, topic(&format!("rooms/{id}")));
    }
    insert("generate_series(2, 4)");
    assert_eq!(heard(&mut here).await, Announcement::Missed);
    insert("generate_series(2, 5)");
    assert_eq!(heard(&mut here).await, topic("rooms/5"));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_direct_connection_beside_pgbouncer_carries_announcements() {
    let bounced = Bounced::start();
    let options = |listen: &str| Options {
        listen: Some(address(listen)),
        ..Options::default()
    };
    let one = bounced.open(options(&bounced.direct)).await;
    let other = bounced.open(options(&bounced.direct)).await;
    let mut there = other.announcements();
    connected(&mut there).await;
    one.announce("rooms/a");
    assert_eq!(heard(&mut there).await, topic("rooms/a"));
    let said = one.check_announcements().await.unwrap().unwrap();
    assert!(said.contains("at once (LISTEN)"), "{said}");
    // One that leads through PgBouncer after all is noticed.
    let wrong = bounced.open(options(&bounced.url())).await;
    let said = wrong.check_announcements().await.unwrap().unwrap();
    assert!(said.contains("100 ms"), "{said}");
}

/// For poolers that are not recognised.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_server_can_be_treated_as_pgbouncer() {
    let direct = Postgres::shared().create_database();
    let options = Options {
        pgbouncer: true,
        ..Options::default()
    };
    let url = DatabaseUrl::parse(&direct).unwrap();
    let desk = Database::open(&url, options).await.unwrap();
    prepare(&desk).await;
    write(&desk, |sql| insert(sql, 7)).await.unwrap();
    let left = read(&desk, |sql| {
        sql.query("SELECT COUNT(*) FROM pg_prepared_statements", &[])
    });
    assert_eq!(left.await.unwrap()[0].int(0).unwrap(), 0);
    assert_eq!(ids(&desk).await, [7]);
}
