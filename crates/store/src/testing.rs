//! Databases for tests, here and in other crates (feature `testing`).
//!
//! [`both`] gives one fresh database of each engine. PostgreSQL comes from
//! `MADOGUCHI_TEST_POSTGRES` (an address with superuser rights) or, without it,
//! from a server that lives as long as the test process.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test without its database has nothing to say"
)]

mod pgbouncer;
mod postgres_node;
mod proxy;

use std::{
    env, fs,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    net::{Ipv4Addr, TcpListener, UdpSocket},
    ops::RangeInclusive,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant},
};

pub use pgbouncer::PgBouncer;
pub use postgres_node::PostgresNode;
pub use proxy::{CommitFault, Proxy};
use tempfile::TempDir;
use tokio_postgres::NoTls;

use crate::{Database, Options, url::DatabaseUrl};

/// Makes an empty data directory to copy, unless there is one.
const TEMPLATE: &str = r#"
set -eu
umask 077
bin=$1 template=$2 port=$3
shift 3
cd /
if ! [ -d "$template" ]; then
    fresh=$(mktemp -d "$template.XXXXXX")
    "$bin/initdb" -D "$fresh/data" -U postgres -A trust -E UTF8 --locale=C -N \
        --no-instructions --wal-segsize=1 >/dev/null
    # Another test may have been quicker.
    mv -T "$fresh/data" "$template" 2>/dev/null || true
    rm -rf "$fresh"
fi
"#;

/// Makes the data directory, runs the server, and waits for its own input to
/// end: that happens when the test process does, however it ends.
const SERVE: &str = r#"
data=$(mktemp -d "$template.run.XXXXXX")
cp -R "$template/." "$data"
if [ -n "$SERVER_HBA" ]; then printf '%s\n' "$SERVER_HBA" >"$data/pg_hba.conf"; fi
if [ -n "$SERVER_CERT" ]; then
    printf '%s\n' "$SERVER_CERT" >"$data/server.crt"
    printf '%s\n' "$SERVER_KEY" >"$data/server.key"
    printf '%s\n' "$SERVER_ROOT" >"$data/root.crt"
    set -- "$@" -c ssl=on -c ssl_ca_file=root.crt
fi
"$bin/postgres" -D "$data" -p "$port" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories= -c fsync=off -c full_page_writes=off \
    -c shared_buffers=16MB -c max_connections=200 "$@" >"$data/log" 2>&1 &
server=$!
exec 3<&0
(cat <&3 >/dev/null; kill -QUIT "$server" 2>/dev/null) &
wait "$server" || true
rm -rf "$data"
"#;

/// A PostgreSQL server for tests.
pub struct Postgres {
    url: String,
    /// Holds the pipe that keeps the server alive.
    server: Option<Child>,
}

impl Postgres {
    /// The server of this test process.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Uses the server that the environment names, or starts one.
    pub fn start() -> Self {
        if let Ok(url) = env::var("MADOGUCHI_TEST_POSTGRES") {
            return Self { url, server: None };
        }
        Self::start_own()
    }

    /// Starts a server, whatever the environment says: for tests that stop it.
    pub fn start_own() -> Self {
        Self::start_with(&ServerSetup::default())
    }

    /// The same, set up in a way of the test's own.
    pub fn start_with(setup: &ServerSetup) -> Self {
        let bin = binaries();
        // Another process may take the port before the server does.
        (0..3)
            .find_map(|_| serve(&bin, setup))
            .expect("PostgreSQL for tests did not start")
    }

    /// Runs statements with superuser rights.
    pub fn run(&self, sql: &str) {
        run(&self.url, sql);
    }

    /// The port of its address.
    pub fn port(&self) -> u16 {
        let (_, port) = self.url.rsplit_once(':').expect("the address has a port");
        let digits = port.split('/').next().unwrap_or_default();
        digits.parse().expect("the port is a number")
    }

    /// The address of its maintenance database, with superuser rights.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes an empty database and returns its address.
    pub fn create_database(&self) -> String {
        let name = format!("test_{:016x}", rand::random::<u64>());
        run_sql(&self.url, &format!("CREATE DATABASE {name}"))
            .expect("a database for the test could not be created");
        let (address, query) = self
            .url
            .split_once('?')
            .map_or((self.url.as_str(), None), |(url, query)| (url, Some(query)));
        let (server, _) = address
            .rsplit_once('/')
            .expect("the address names a database");
        match query {
            Some(query) => format!("{server}/{name}?{query}"),
            None => format!("{server}/{name}"),
        }
    }

    /// Stops the server at once, as a crash would.
    pub fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            drop(server.stdin.take());
            let _ = server.wait();
        }
    }
}

/// What is different about a server of a test.
#[derive(Default)]
pub struct ServerSetup {
    /// `name=value`, as in `postgresql.conf`.
    pub settings: Vec<String>,
    /// The whole `pg_hba.conf`; has to let `postgres` in without a password.
    pub hba: String,
    pub tls: Option<ServerTls>,
}

/// The certificate of a server, its key, and the authority of its clients, as PEM.
pub struct ServerTls {
    pub certificate: String,
    pub key: String,
    pub root: String,
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Below those that systems give to clients, one of which could take it.
const PORTS: RangeInclusive<u16> = 20_000..=31_999;

/// A port that nobody listens on, and that no other test gets until this process ends.
pub fn free_port() -> u16 {
    // Whoever has the port for UDP may use it for TCP.
    static HELD: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());
    for _ in 0..10_000 {
        let random = RandomState::new().build_hasher().finish();
        let port = PORTS.start() + (random % PORTS.len() as u64) as u16;
        if let Ok(held) = UdpSocket::bind((Ipv4Addr::LOCALHOST, port))
            && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
        {
            let mut all = HELD.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(held);
            return port;
        }
    }
    panic!("no port between {PORTS:?} is free");
}

fn serve(bin: &Path, setup: &ServerSetup) -> Option<Postgres> {
    let port = free_port();
    let user = user_id();
    let template = template(bin, &user);
    let pem = |of: fn(&ServerTls) -> &String| setup.tls.as_ref().map_or("", |tls| of(tls));
    let server = as_server_user(&user)
        .args(["sh", "-c", &format!("{TEMPLATE}{SERVE}"), "serve"])
        .args([bin, &template])
        .arg(port.to_string())
        .args(
            setup
                .settings
                .iter()
                .flat_map(|setting| ["-c", setting.as_str()]),
        )
        .env("SERVER_HBA", &setup.hba)
        .env("SERVER_CERT", pem(|tls| &tls.certificate))
        .env("SERVER_KEY", pem(|tls| &tls.key))
        .env("SERVER_ROOT", pem(|tls| &tls.root))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the server could not be started");
    let url = format!("postgresql://postgres@127.0.0.1:{port}/postgres");
    let mut postgres = Postgres {
        url,
        server: Some(server),
    };
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(60) {
        if run_sql(&postgres.url, "SELECT 1").is_ok() {
            return Some(postgres);
        }
        let ended = postgres.server.as_mut()?.try_wait();
        if ended.is_ok_and(|status| status.is_some()) {
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}

/// One for each version and user.
fn template(bin: &Path, user: &str) -> PathBuf {
    let version = bin.parent().and_then(Path::file_name).unwrap_or_default();
    let version = version.to_string_lossy();
    env::temp_dir().join(format!("madoguchi-test-postgres-{version}-{user}"))
}

fn user_id() -> String {
    let output = Command::new("id").arg("-u").output().expect("`id` runs");
    String::from_utf8_lossy(output.stdout.trim_ascii()).into_owned()
}

/// PostgreSQL refuses to run as root.
fn as_server_user(user: &str) -> Command {
    let root = user == "0";
    let mut command = Command::new(if root { "setpriv" } else { "env" });
    if root {
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    }
    // A signal to the tests' group must not stop it before it has cleaned up.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// The newest installed server, else the one on the path.
fn binaries() -> PathBuf {
    let installed = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin"));
    let on_path = env::var_os("PATH");
    let on_path = on_path.iter().flat_map(env::split_paths);
    let mut found: Vec<_> = installed
        .filter(|bin| bin.join("initdb").exists())
        .collect();
    found.sort();
    found
        .pop()
        .or_else(|| on_path.into_iter().find(|bin| bin.join("initdb").exists()))
        .unwrap_or_else(|| panic!("install PostgreSQL, or set MADOGUCHI_TEST_POSTGRES"))
}

/// Runs statements of a test at an address.
pub fn run(url: &str, sql: &str) {
    run_sql(url, sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}

/// On a thread of its own, because the caller may be inside a runtime.
fn run_sql(url: &str, sql: &str) -> Result<(), tokio_postgres::Error> {
    thread::scope(|scope| {
        let task = scope.spawn(|| {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime")
                .block_on(async {
                    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
                    tokio::select! {
                        outcome = client.batch_execute(sql) => outcome,
                        outcome = connection => outcome,
                    }
                })
        });
        task.join().expect("the thread ended well")
    })
}

/// A database that is gone after the test.
pub struct Scratch {
    pub database: Database,
    pub url: DatabaseUrl,
    _directory: Option<TempDir>,
}

impl Scratch {
    /// The same database once more, as another process would open it.
    pub async fn again(&self) -> Database {
        open(&self.url).await
    }
}

/// A fresh database of each engine.
pub async fn both() -> Vec<Scratch> {
    vec![sqlite().await, postgres().await]
}

pub async fn sqlite() -> Scratch {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let url = DatabaseUrl::Sqlite(directory.path().join("data").join("test.db"));
    Scratch {
        database: open(&url).await,
        url,
        _directory: Some(directory),
    }
}

/// A database in a directory that the test provides.
pub async fn sqlite_in(directory: &Path) -> Scratch {
    let url = DatabaseUrl::Sqlite(directory.join("test.db"));
    Scratch {
        database: open(&url).await,
        url,
        _directory: None,
    }
}

pub async fn postgres() -> Scratch {
    let url = Postgres::shared().create_database();
    let url = DatabaseUrl::parse(&url).expect("an address of our own");
    Scratch {
        database: open(&url).await,
        url,
        _directory: None,
    }
}

async fn open(url: &DatabaseUrl) -> Database {
    // Many tests run at once, and a busy machine is no error of theirs.
    let options = Options {
        busy_timeout: Duration::from_secs(60),
        ..Options::default()
    };
    Database::open(url, options)
        .await
        .unwrap_or_else(|error| panic!("{error}: {:?}", error.cause))
}
