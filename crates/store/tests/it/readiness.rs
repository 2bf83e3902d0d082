//! Whether a process takes calls: while its server is away, and before it was ever there.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Store, error::UNAVAILABLE, sql::Budget};
use store::{
    Database, Options,
    testing::{PgBouncer, PostgresNode, Proxy, free_port},
    url::DatabaseUrl,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::{insert, prepare, write};

fn waiting(wait: Duration) -> Options {
    Options {
        wait_for_primary: wait,
        ..Options::default()
    }
}

async fn open(url: &str, options: Options) -> kit::Result<Database> {
    Database::open(&DatabaseUrl::parse(url).unwrap(), options).await
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Waits until the database is ready or not, and returns what it said then.
async fn until(database: &Database, ready: bool, limit: Duration) -> Result<(), String> {
    let started = Instant::now();
    loop {
        let asked = Instant::now();
        let said = database.ready().await;
        assert!(asked.elapsed() < Duration::from_secs(5), "a slow probe");
        if said.is_ok() == ready {
            return said;
        }
        assert!(started.elapsed() < limit, "{said:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_lost_server_is_not_ready_only_after_calls_have_waited() {
    let server = blocking(PostgresNode::start_new).await;
    let proxy = Proxy::start(server.port());
    let url = server.url_at(proxy.port());
    let database = open(&url, waiting(Duration::from_secs(2))).await.unwrap();
    prepare(&database).await;
    let patient = open(&url, waiting(Duration::from_secs(30))).await.unwrap();
    assert_eq!(database.ready().await, Ok(()));
    for (away, trouble) in [
        (Proxy::refuse as fn(&Proxy), "has no primary"),
        (Proxy::hold, "PostgreSQL"),
    ] {
        away(&proxy);
        let lost = Instant::now();
        let said = until(&database, false, Duration::from_secs(15)).await;
        let lasted = lost.elapsed();
        assert!(lasted > Duration::from_millis(1900), "{lasted:?}");
        assert!(said.unwrap_err().contains(trouble));
        proxy.cut();
        proxy.pass();
        until(&database, true, Duration::from_secs(10))
            .await
            .unwrap();
        until(&patient, true, Duration::from_secs(10))
            .await
            .unwrap();
    }
    // A failover in time is never noticed.
    proxy.refuse();
    let late = write(&patient, |sql| insert(sql, 1));
    let back = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(patient.ready().await, Ok(()));
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!(patient.ready().await, Ok(()));
        proxy.pass();
    };
    let (late, ()) = futures::join!(late, back);
    late.unwrap();
}

/// Nobody sends a write to a desk that is not ready, so it finds out by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_server_that_takes_writes_again_is_ready_without_a_write() {
    let server = blocking(PostgresNode::start_new).await;
    let wait = waiting(Duration::from_millis(500));
    let database = open(&server.url(), wait).await.unwrap();
    let set = |on: &str| {
        let set = format!("ALTER SYSTEM SET default_transaction_read_only TO {on}");
        server.run(&set);
        server.run("SELECT pg_reload_conf()");
    };
    for _ in 0..2 {
        assert_eq!(database.ready().await, Ok(()));
        set("on");
        let said = until(&database, false, Duration::from_secs(5)).await;
        assert!(said.unwrap_err().contains("takes no writes"));
        set("off");
        until(&database, true, Duration::from_secs(5))
            .await
            .unwrap();
    }
}

/// Starts a server after a second, while somebody opens its database.
async fn opened_while_it_starts(
    mut server: PostgresNode,
    url: String,
    options: Options,
) -> PostgresNode {
    let start = async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        blocking(move || {
            server.start();
            server
        })
        .await
    };
    let open = async {
        let database = open(&url, options).await.unwrap();
        prepare(&database).await;
        write(&database, |sql| insert(sql, 1)).await.unwrap();
        database.close().await.unwrap();
    };
    let (server, ()) = futures::join!(start, open);
    server.run("DROP SCHEMA madoguchi CASCADE");
    server
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_start_without_a_server_waits_for_it() {
    let mut server = blocking(PostgresNode::start_new).await;
    let wait = || waiting(Duration::from_secs(20));
    let direct = server.url();
    server.stop();
    server = opened_while_it_starts(server, direct.clone(), wait()).await;
    server.stop();
    let short = open(&direct, waiting(Duration::from_secs(1))).await;
    let error = short.err().unwrap();
    assert_eq!(error.code, UNAVAILABLE);
    assert!(error.retry_after_ms() > Some(0));
    // PgBouncer lets clients in and refuses their statements, or lets them wait.
    for pgbouncer in [false, true] {
        let bouncer = PgBouncer::start(server.port());
        let options = Options {
            pgbouncer,
            ..wait()
        };
        server = opened_while_it_starts(server, bouncer.url(&direct), options).await;
        server.stop();
    }
}

/// Whoever retries at once, in the middle of a failover, makes it worse.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn no_caller_is_told_to_retry_at_once() {
    let server = blocking(PostgresNode::start_new).await;
    let proxy = Arc::new(Proxy::start(server.port()));
    let url = server.url_at(proxy.port());
    for wait in [Duration::ZERO, Duration::from_secs(1)] {
        let database = open(&url, waiting(wait)).await.unwrap();
        prepare(&database).await;
        let store: &dyn Store = &database;
        for goes_on in [false, true] {
            let end = move |proxy: &Proxy| match goes_on {
                true => proxy.cut(),
                false => proxy.refuse(),
            };
            let cutting = Arc::clone(&proxy);
            let read = store.query(Budget::default(), move |sql| {
                sql.query("SELECT 1", &[])?;
                end(&cutting);
                sql.query("SELECT 1", &[]).map(drop)
            });
            let read = read.await.unwrap_err();
            let cutting = Arc::clone(&proxy);
            let written = store.transaction(Budget::default(), move |sql| {
                sql.query("SELECT 1", &[])?;
                end(&cutting);
                sql.query("SELECT 1", &[]).map(drop)
            });
            let written = written.await.unwrap_err();
            for error in [read, written] {
                assert_eq!(error.code, UNAVAILABLE, "{error}");
                assert!(error.retry_after_ms() >= Some(100), "{error:?}");
            }
            proxy.pass();
        }
    }
}

/// A server or a proxy that ends connections in the middle of the TLS handshake is away.
/// It is waited for, and its certificate is not blamed.
#[tokio::test]
async fn a_connection_that_ends_in_the_tls_handshake_means_no_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = async {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut asked = [0; 8];
            client.read_exact(&mut asked).await.unwrap();
            client.write_all(b"S").await.unwrap();
            let _ = client.read(&mut [0; 512]).await;
        }
    };
    let url = format!("postgres://desk@127.0.0.1:{port}/desk?sslmode=require");
    let opened = tokio::select! {
        opened = open(&url, waiting(Duration::from_millis(300))) => opened,
        () = server => unreachable!(),
    };
    let error = opened.err().unwrap();
    assert_eq!(error.code, UNAVAILABLE, "{error} {:?}", error.cause);
    let nobody = format!("postgres://desk@127.0.0.1:{}/desk", free_port());
    let opened = open(&nobody, waiting(Duration::ZERO)).await;
    assert_eq!(opened.err().unwrap().code, UNAVAILABLE);
}
