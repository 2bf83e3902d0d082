//! Lost servers and connections: nothing acknowledged is lost, nothing is done twice.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures::future::join_all;
use kit::{
    Sql, Store,
    error::{OUTCOME_UNKNOWN, TIMEOUT, UNAVAILABLE},
    sql::Budget,
};
use store::{
    Database, Options,
    testing::{CommitFault, PostgresNode, Proxy},
    url::DatabaseUrl,
};

use crate::{ids, insert, prepare, read, write};

const WRITERS: i64 = 8;

async fn open(url: &str, wait: Duration) -> Database {
    let options = Options {
        wait_for_primary: wait,
        ..Options::default()
    };
    let url = DatabaseUrl::parse(url).unwrap();
    let database = Database::open(&url, options).await.unwrap();
    prepare(&database).await;
    database
}

fn within(time: Duration) -> Budget {
    Budget {
        deadline: Some(Instant::now() + time),
        ..Budget::default()
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Writers who count what was acknowledged, and a checker.
struct Load {
    stop: Arc<AtomicBool>,
    acknowledged: Arc<AtomicI64>,
    writers: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    /// Each writer adds a note and one to its own counter, so that a write done twice
    /// shows as much as a lost one.
    fn begin(database: &Database) -> Self {
        let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let writers = (0..WRITERS).map(|writer| {
            let (database, stop) = (database.clone(), Arc::clone(&stop));
            let acknowledged: Arc<AtomicI64> = Arc::clone(&acknowledged);
            tokio::spawn(async move {
                for number in 1.. {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let done = write(&database, move |sql| {
                        insert(sql, writer * 1_000_000 + number)?;
                        sql.execute(
                            "INSERT INTO note (id, weight) VALUES ($1, 1)
                             ON CONFLICT (id) DO UPDATE SET weight = note.weight + 1",
                            &[(-1 - writer).into()],
                        )
                    });
                    done.await
                        .unwrap_or_else(|error| panic!("{error} {:?}", error.cause));
                    acknowledged.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            })
        });
        Self {
            writers: writers.collect(),
            stop,
            acknowledged,
        }
    }

    fn acknowledged(&self) -> i64 {
        self.acknowledged.load(Ordering::SeqCst)
    }

    /// Waits until so many more writes are acknowledged.
    async fn go_on(&self, more: i64) {
        let wanted = self.acknowledged() + more;
        let started = Instant::now();
        while self.acknowledged() < wanted {
            assert!(started.elapsed() < Duration::from_secs(60), "nothing moves");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn end_and_check(self, database: &Database) {
        self.stop.store(true, Ordering::SeqCst);
        for writer in self.writers {
            writer.await.unwrap();
        }
        let acknowledged = self.acknowledged.load(Ordering::SeqCst);
        let (notes, counted) = read(database, |sql| {
            let notes = sql.query("SELECT COUNT(*) FROM note WHERE id > 0", &[])?;
            let counted = sql.query("SELECT SUM(weight) FROM note WHERE id < 0", &[])?;
            Ok((notes[0].int(0)?, counted[0].real(0)?))
        })
        .await
        .unwrap();
        assert_eq!(notes, acknowledged);
        assert!(
            (counted - acknowledged as f64).abs() < 0.5,
            "{counted} {notes}"
        );
    }
}

/// The connections of the program, as the server counts them.
async fn connections(database: &Database) -> i64 {
    let count = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'madoguchi'";
    let rows = read(database, move |sql| sql.query(count, &[])).await;
    rows.unwrap()[0].int(0).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn fifty_restarts_under_load_lose_nothing_and_leak_nothing() {
    let mut server = blocking(PostgresNode::start_new).await;
    let database = open(&server.url(), Duration::from_secs(20)).await;
    let load = Load::begin(&database);
    for restart in 0..50 {
        load.go_on(10).await;
        server = blocking(move || {
            match restart % 5 {
                0 => {
                    server.crash();
                    server.start();
                }
                _ => server.restart(),
            }
            server
        })
        .await;
    }
    load.go_on(10).await;
    // The server ends those that were given up a moment later.
    let started = Instant::now();
    while connections(&database).await > 12 {
        assert!(started.elapsed() < Duration::from_secs(30), "they leak");
    }
    load.end_and_check(&database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_promoted_standby_has_everything_that_was_acknowledged() {
    let mut primary = blocking(PostgresNode::start_new).await;
    let (primary_port, proxy) = (primary.port(), Proxy::start(primary.port()));
    let database = open(&primary.url_at(proxy.port()), Duration::from_secs(20)).await;
    let standby;
    (primary, standby) = blocking(move || {
        let standby = primary.start_standby();
        (primary, standby)
    })
    .await;
    let load = Load::begin(&database);
    load.go_on(100).await;
    // The primary vanishes from the network first, as a machine does, and dies later.
    proxy.hold();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let (_primary, standby) = blocking(move || {
        primary.crash();
        standby.promote();
        (primary, standby)
    })
    .await;
    assert_ne!(standby.port(), primary_port);
    proxy.target(standby.port());
    proxy.cut();
    proxy.pass();
    load.go_on(100).await;
    load.end_and_check(&database).await;
}

/// The connection breaks exactly between COMMIT and its answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_commit_without_an_answer_is_looked_up() {
    let server = blocking(PostgresNode::start_new).await;
    let proxy = Proxy::start(server.port());
    let database = open(&server.url_at(proxy.port()), Duration::from_secs(10)).await;
    for (number, fault) in (0..10).flat_map(|round| {
        let faults = [CommitFault::AfterServer, CommitFault::BeforeServer];
        faults
            .into_iter()
            .enumerate()
            .map(move |(index, fault)| (round * 2 + index, fault))
    }) {
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&runs);
        proxy.break_next_commit(fault);
        let id = i64::try_from(number).unwrap();
        let answer = write(&database, move |sql| {
            insert(sql, id)?;
            Ok(counted.fetch_add(1, Ordering::SeqCst))
        })
        .await
        .unwrap();
        assert_eq!(proxy.broken_commits(), number + 1);
        let (expected_runs, expected_answer) = match fault {
            CommitFault::AfterServer => (1, 0),
            CommitFault::BeforeServer => (2, 1),
        };
        assert_eq!(runs.load(Ordering::SeqCst), expected_runs, "{fault:?}");
        assert_eq!(answer, expected_answer, "{fault:?}");
    }
    assert_eq!(ids(&database).await, (0..20).collect::<Vec<_>>());
}

/// The server stays away, so nobody can find out whether the commit succeeded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_outcome_that_can_not_be_looked_up_is_called_unknown() {
    let server = blocking(PostgresNode::start_new).await;
    let proxy = Proxy::start(server.port());
    let database = open(&server.url_at(proxy.port()), Duration::from_secs(20)).await;
    let store: &dyn Store = &database;
    proxy.break_next_commit(CommitFault::AfterServer);
    let doubtful = store.transaction(within(Duration::from_secs(6)), |sql| insert(sql, 1));
    let gone = async {
        while proxy.broken_commits() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        proxy.refuse();
    };
    let (outcome, ()) = futures::join!(doubtful, gone);
    assert_eq!(outcome.unwrap_err().code, OUTCOME_UNKNOWN);
    proxy.pass();
    assert_eq!(ids(&database).await, [1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn without_a_primary_calls_wait_a_while_and_are_told_when_to_retry() {
    let mut server = blocking(PostgresNode::start_new).await;
    let database = open(&server.url(), Duration::from_secs(2)).await;
    let store: &dyn Store = &database;
    let url = DatabaseUrl::parse(&server.url()).unwrap();
    let patience = Options {
        wait_for_primary: Duration::from_secs(60),
        ..Options::default()
    };
    let patient = Database::open(&url, patience).await.unwrap();
    server.stop();
    let threads = thread_count();
    let started = Instant::now();
    let writes = (0..600).map(|id| write(&database, move |sql| insert(sql, id)));
    let reads = (0..600).map(|_| read(&database, |sql| sql.query("SELECT 1", &[]).map(drop)));
    let impatient = store.transaction(within(Duration::from_millis(500)), |sql| insert(sql, 1));
    let impatient = async {
        let error = impatient.await.unwrap_err();
        (error, started.elapsed())
    };
    let look = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        (thread_count(), database.trouble())
    };
    let (writes, reads, impatient, (waiting_threads, trouble)) =
        futures::join!(join_all(writes), join_all(reads), impatient, look);
    for error in writes
        .into_iter()
        .map(Result::unwrap_err)
        .chain(reads.into_iter().map(Result::unwrap_err))
    {
        assert_eq!(error.code, UNAVAILABLE, "{error}");
        assert!(error.retry_after_ms() > Some(0), "{error:?}");
    }
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    // Its time may be over before anybody has looked for the server.
    assert!([UNAVAILABLE, TIMEOUT].contains(&&*impatient.0.code));
    assert!(impatient.1 < Duration::from_secs(8), "{:?}", impatient.1);
    assert!(
        waiting_threads < threads + 30,
        "{threads} {waiting_threads}"
    );
    assert!(trouble.unwrap().contains("no primary"));
    // Those that wait when it comes back are served.
    let late = write(&patient, |sql| insert(sql, 7));
    let back = blocking(move || {
        server.start();
        server
    });
    let (late, _server) = futures::join!(late, back);
    late.unwrap();
    assert_eq!(ids(&patient).await, [7]);
    assert_eq!(patient.trouble(), None);
}

fn thread_count() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_black_hole_ends_calls_at_their_deadline_and_spares_the_others() {
    let server = blocking(PostgresNode::start_new).await;
    let proxy = Proxy::start(server.port());
    let database = open(&server.url_at(proxy.port()), Duration::from_secs(1)).await;
    let store: &dyn Store = &database;
    write(&database, |sql| insert(sql, 1)).await.unwrap();
    // The connections are dead, and nobody knows. Whoever got one hears of it in time.
    proxy.hold_existing();
    let started = Instant::now();
    let stuck = (10..15)
        .map(|id| store.transaction(within(Duration::from_secs(1)), move |sql| insert(sql, id)));
    let stuck = join_all(stuck).await;
    assert!(started.elapsed() < Duration::from_secs(8));
    let stuck: Vec<_> = stuck.into_iter().filter_map(Result::err).collect();
    assert!(!stuck.is_empty() && stuck.iter().all(|error| error.code == TIMEOUT));
    write(&database, |sql| {
        sql.execute("DELETE FROM note WHERE id >= 10", &[])?;
        insert(sql, 3)
    })
    .await
    .unwrap();
    // One without a deadline notices that the server works on nothing for it.
    proxy.hold_existing();
    let started = Instant::now();
    write(&database, |sql| insert(sql, 5)).await.unwrap();
    assert!(
        started.elapsed() < Duration::from_secs(15),
        "{:?}",
        started.elapsed()
    );
    // Now the whole server is: a call without a deadline ends too.
    proxy.hold();
    let started = Instant::now();
    let all = (20..50).map(|id| write(&database, move |sql| insert(sql, id)));
    for outcome in join_all(all).await {
        assert_eq!(outcome.unwrap_err().code, UNAVAILABLE);
    }
    assert!(
        started.elapsed() < Duration::from_secs(30),
        "{:?}",
        started.elapsed()
    );
    proxy.cut();
    proxy.pass();
    let started = Instant::now();
    while let Err(error) = write(&database, |sql| insert(sql, 4)).await {
        assert_eq!(error.code, UNAVAILABLE);
        assert!(started.elapsed() < Duration::from_secs(30));
    }
    assert_eq!(ids(&database).await, [1, 3, 4, 5]);
}

/// The address leads to a standby for a while, as during a failover.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_server_that_takes_no_writes_is_waited_for() {
    let server = blocking(PostgresNode::start_new).await;
    let database = open(&server.url(), Duration::from_millis(500)).await;
    let read_only = |on: &str| {
        server.run(&format!(
            "ALTER SYSTEM SET default_transaction_read_only TO {on}"
        ));
        server.run("SELECT pg_reload_conf()");
    };
    read_only("on");
    // The server takes the setting up a moment later.
    let change_nothing = |sql: &mut dyn Sql| sql.execute("DELETE FROM note", &[]);
    while write(&database, change_nothing).await.is_ok() {}
    let error = write(&database, |sql| insert(sql, 1)).await.unwrap_err();
    assert_eq!(error.code, UNAVAILABLE);
    assert!(error.message.contains("takes no writes"), "{error}");
    assert!(database.trouble().unwrap().contains("takes no writes"));
    assert!(ids(&database).await.is_empty());
    let patient = open_again(&server).await;
    let late = write(&patient, |sql| insert(sql, 2));
    let primary = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        read_only("off");
    };
    let (late, ()) = futures::join!(late, primary);
    late.unwrap();
}

async fn open_again(server: &PostgresNode) -> Database {
    let url = DatabaseUrl::parse(&server.url()).unwrap();
    Database::open(&url, Options::default()).await.unwrap()
}

/// Many multi-statement reads while connections are cut: none fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn reads_survive_cut_connections() {
    let server = blocking(PostgresNode::start_new).await;
    let proxy = Proxy::start(server.port());
    let database = open(&server.url_at(proxy.port()), Duration::from_secs(5)).await;
    write(&database, |sql| insert(sql, 1)).await.unwrap();
    let store: &dyn Store = &database;
    let done = AtomicUsize::new(0);
    let reads = async {
        for _ in 0..300 {
            let read = store.query_again(Budget::default(), |sql: &mut dyn Sql| {
                let first = sql.query("SELECT id FROM note", &[])?.len();
                Ok((first, sql.query("SELECT id FROM note", &[])?.len()))
            });
            assert_eq!(read.await.unwrap(), (1, 1));
            done.fetch_add(1, Ordering::SeqCst);
        }
    };
    // A read is repeated a few times only, so it must not be cut again and again.
    let cuts = async {
        for cut in 1..=20 {
            tokio::time::sleep(Duration::from_millis(15)).await;
            while done.load(Ordering::SeqCst) < 10 * cut {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            proxy.cut();
        }
    };
    futures::join!(reads, cuts);
}
