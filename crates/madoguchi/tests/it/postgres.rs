//! PostgreSQL as people have it: a role with few rights, PgBouncer in between.

use std::time::{Duration, Instant};

use serde_json::json;
use store::testing::{self, PgBouncer, Postgres};

use crate::harness::{Desk, Place, call, free_seats, mentions, refused, seats_of, show_to_book};

/// A fresh database that only its owner and a new role may use. Returns the address
/// for the role, that for the owner, and the name of the role.
fn with_role() -> (String, String, String) {
    let server = Postgres::shared();
    let owners = server.create_database();
    let (_, database) = owners.rsplit_once('/').unwrap();
    let role = format!("desk_{database}");
    testing::run(
        &owners,
        &format!(
            "REVOKE ALL ON DATABASE {database} FROM PUBLIC;
             REVOKE ALL ON SCHEMA public FROM PUBLIC;
             CREATE ROLE {role} LOGIN;
             GRANT CONNECT ON DATABASE {database} TO {role}"
        ),
    );
    (
        owners.replace("postgres@", &format!("{role}@")),
        owners,
        role,
    )
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn rights_on_its_schema_alone_are_enough() {
    let (url, owners, role) = with_role();
    testing::run(
        &owners,
        &format!("CREATE SCHEMA madoguchi AUTHORIZATION {role}"),
    );
    let desk = Desk::setup().database(&url).demo().start().await;
    let show = show_to_book(&desk, "M001", 0).await;
    let show = show["schedule_id"].as_str().unwrap();
    let seat = free_seats(&seats_of(&desk, show).await).pop_first();
    let booking = json!({ "schedule_id": show, "seat_ids": [seat.unwrap()] });
    desk.ok("cinema", "reserve_seats", booking).await;
    // Where it waits for others, and where it is told of changes.
    let metrics = desk.get("/metrics").await.text();
    let lines = [
        r#"madoguchi_database_connections_limit{database="main"} 10"#,
        r#"madoguchi_database_connections_in_use{database="main"}"#,
        r#"madoguchi_database_connections_waiting{database="main"}"#,
        r#"madoguchi_database_connection_wait_seconds_total{database="main"}"#,
    ];
    mentions(&metrics, &lines);
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn a_schema_is_made_by_whoever_may() {
    for (grant, works) in [
        ("GRANT CREATE ON DATABASE {database} TO {role}", true),
        (
            "CREATE SCHEMA madoguchi; GRANT USAGE, CREATE ON SCHEMA madoguchi TO {role}",
            true,
        ),
        ("SELECT 1", false),
    ] {
        let (url, owners, role) = with_role();
        let (_, database) = owners.rsplit_once('/').unwrap();
        let grant = grant
            .replace("{role}", &role)
            .replace("{database}", database);
        testing::run(&owners, &grant);
        let found = Place::new().run_with(&["doctor"], &[("MADOGUCHI_DATABASE__URL", &url)]);
        let lines = match works {
            true => ["postgres reads and writes", "at once (LISTEN)"],
            false => ["FAIL store", "lacks a right"],
        };
        mentions(&found.stdout, &lines);
    }
}

/// Two desks with more connections than PgBouncer has to the server.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn two_desks_share_a_database_behind_pgbouncer() {
    let server = Postgres::shared();
    let bouncer = PgBouncer::start(server.port());
    let url = bouncer.url(&server.create_database());
    let one = Desk::setup().database(&url).demo().start().await;
    let two = Desk::setup().database(&url).start().await;
    let show = show_to_book(&one, "M001", 0).await;
    let show = show["schedule_id"].as_str().unwrap();
    let seats = free_seats(&seats_of(&two, show).await);
    for (number, seat) in seats.iter().take(12).enumerate() {
        let (first, second) = match number % 2 {
            0 => (&one, &two),
            _ => (&two, &one),
        };
        let booking = json!({ "schedule_id": show, "seat_ids": [seat] });
        first.ok("cinema", "reserve_seats", booking.clone()).await;
        let again = second.call("cinema", "reserve_seats", booking).await;
        refused(&again, "SEATS_TAKEN");
    }
    // Looked up every 100 ms, not only at the next start.
    let key = one.place.run_with(
        &["keys", "create", "--json", "phone"],
        &[("MADOGUCHI_DATABASE__URL", &url)],
    );
    let key = key.ok().json();
    let secret = key["key"].as_str().unwrap();
    let list = call(1, "get_movie_list", json!({}));
    let began = Instant::now();
    while two.post("cinema", Some(secret), &list).await.status != 200 {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "the key is not known"
        );
    }
    let found = one
        .place
        .run_with(&["doctor"], &[("MADOGUCHI_DATABASE__URL", &url)]);
    mentions(
        &found.stdout,
        &["postgres reads and writes", "every 100 ms", "listen_url"],
    );
}

/// A password is in no message, whatever is wrong with the rest.
#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn a_wrong_address_is_refused_without_its_password() {
    let server = Postgres::shared();
    let host = format!("127.0.0.1:{}", server.port());
    for (url, part) in [
        (
            format!("postgres://me:hunter2@{host}/x?sslmod=require"),
            "`sslmode`",
        ),
        (
            format!("postgres://me:hunter2@{host}/x?sslmode=require"),
            "offers no TLS",
        ),
        (format!("postgres://me:hunter2@{host}/missing"), "refused"),
        (
            format!(
                "host=127.0.0.1 port={} password=hunter2 user=me colour=red",
                server.port()
            ),
            "colour",
        ),
    ] {
        let environment = [("MADOGUCHI_DATABASE__URL", url.as_str())];
        let found = Place::new().run_with(&["doctor"], &environment);
        let said = format!("{}{}", found.stdout, found.stderr);
        mentions(&said, &["FAIL", part]);
        assert!(!said.contains("hunter2"), "{said}");
    }
}
