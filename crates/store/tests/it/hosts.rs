//! Several servers in one address, and passwords that are not in it.

use std::fs;

use store::{
    Database, Options,
    testing::{Postgres, ServerSetup, free_port},
    url::DatabaseUrl,
};

use crate::{insert, open, prepare, read, write};

/// On which port the server of a fresh connection listens.
async fn server_port(url: &str) -> u16 {
    let database = open(url).await.unwrap_or_else(|error| {
        panic!("{url}: {} {:?}", error.text(), error.cause);
    });
    port_of(&database).await.unwrap()
}

async fn port_of(database: &Database) -> kit::Result<u16> {
    let rows = read(database, |sql| sql.query("SELECT inet_server_port()", &[]));
    Ok(rows.await?[0].int(0)?.try_into().unwrap())
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_server_that_can_be_written_is_found() {
    let read_only = Postgres::start_with(&ServerSetup {
        settings: vec!["default_transaction_read_only=on".into()],
        ..ServerSetup::default()
    });
    let primary = Postgres::start_own();
    let (standby, primary) = (read_only.port(), primary.port());
    let nobody = free_port();
    for url in [
        format!("postgres://postgres@127.0.0.1:{standby},127.0.0.1:{primary}/postgres"),
        format!("postgres://postgres@127.0.0.1:{nobody},127.0.0.1:{primary}/postgres"),
        format!(
            "host=nowhere.invalid,127.0.0.1,127.0.0.1 port={nobody},{standby},{primary} \
             user=postgres dbname=postgres"
        ),
    ] {
        assert_eq!(server_port(&url).await, primary, "{url}");
    }
    let any = "target_session_attrs=any";
    let url = format!("postgres://postgres@127.0.0.1:{standby},127.0.0.1:{primary}/postgres?{any}");
    assert_eq!(server_port(&url).await, standby);
    let url = format!("postgres://postgres@127.0.0.1:{standby},127.0.0.1:{nobody}/postgres");
    let error = open(&url).await.err().unwrap();
    assert!(error.message.contains("can't be reached"), "{error}");
    let cause = error.cause.unwrap().to_string();
    assert!(cause.contains("does not allow writes"), "{cause}");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_desk_goes_over_to_another_server_by_itself() {
    let mut first = Postgres::start_own();
    let second = Postgres::start_own();
    let url = format!(
        "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres",
        first.port(),
        second.port()
    );
    let database = open(&url).await.unwrap();
    assert_eq!(port_of(&database).await.unwrap(), first.port());
    prepare(&database).await;
    first.stop();
    for attempt in 0.. {
        match port_of(&database).await {
            Ok(port) => {
                assert_eq!(port, second.port());
                break;
            }
            Err(error) => assert!(attempt < 20, "{error}"),
        }
    }
    prepare(&database).await;
    write(&database, |sql| insert(sql, 1)).await.unwrap();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_password_comes_from_a_file_that_may_change() {
    let server = Postgres::start_with(&ServerSetup {
        hba: "host all postgres 127.0.0.1/32 trust\nhost all desk 127.0.0.1/32 scram-sha-256"
            .into(),
        ..ServerSetup::default()
    });
    server.run("CREATE ROLE desk LOGIN PASSWORD 'first'");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("password");
    let url = format!("postgresql://desk@127.0.0.1:{}/postgres", server.port());
    let options = Options {
        password_file: Some(file.clone()),
        ..Options::default()
    };
    let url = DatabaseUrl::parse(&url).unwrap();
    let open = || Database::open(&url, options.clone());
    let said = |error: kit::Error| format!("{} {:?}", error.text(), error.cause);
    let missing = said(open().await.err().unwrap());
    assert!(missing.contains("`password_file`"), "{missing}");
    fs::write(&file, "wrong-secret\n").unwrap();
    let wrong = said(open().await.err().unwrap());
    assert!(wrong.contains("refused the login"), "{wrong}");
    assert!(!wrong.contains("wrong-secret"), "{wrong}");
    fs::write(&file, "first\n").unwrap();
    let database = open().await.unwrap();
    // A new password is read when the next connection is made.
    server.run("ALTER ROLE desk PASSWORD 'second'");
    fs::write(&file, "second\n").unwrap();
    server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'desk'");
    for attempt in 0.. {
        match database.check().await {
            Ok(()) => break,
            Err(error) => assert!(attempt < 20, "{error}"),
        }
    }
}
