//! A PostgreSQL server of its own for a test, which starts, stops, hangs and promotes it.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{TEMPLATE, as_server_user, binaries, free_port, run_sql, template, user_id};

/// Copies the template, or the data of a running server as its standby.
const MAKE: &str = r#"
data=$(mktemp -d "$template.own.XXXXXX")
if [ -n "$1" ]; then
    "$bin/pg_basebackup" -D "$data" -h 127.0.0.1 -p "$1" -U postgres -R -X stream -c fast >&2
    echo "primary_conninfo = 'host=127.0.0.1 port=$1 user=postgres application_name=standby'" \
        >>"$data/postgresql.auto.conf"
else
    cp -R "$template/." "$data"
fi
echo "$data"
"#;

/// Runs the server until its own input ends, which happens when the test process does.
const RUN: &str = r#"
cd /
"$1/postgres" -D "$2" -p "$3" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
    -c fsync=off -c full_page_writes=off -c shared_buffers=16MB -c max_connections=200 \
    >>"$2/log" 2>&1 &
server=$!
exec 3<&0
(cat <&3 >/dev/null; kill -QUIT "$server" 2>/dev/null) &
wait "$server" || true
"#;

pub struct PostgresNode {
    bin: PathBuf,
    data: PathBuf,
    port: u16,
    running: Option<Child>,
}

impl PostgresNode {
    /// Starts a server of its own.
    pub fn start_new() -> Self {
        let mut server = Self::make("");
        server.start();
        server
    }

    /// Starts a standby of this server. It takes part in every commit from now on.
    pub fn start_standby(&self) -> Self {
        let mut standby = Self::make(&self.port.to_string());
        standby.start();
        self.run("ALTER SYSTEM SET synchronous_standby_names TO 'standby'");
        self.run("SELECT pg_reload_conf()");
        let is_synchronous = "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_stat_replication
            WHERE sync_state = 'sync') THEN RAISE 'not yet'; END IF; END $$";
        wait_until("the standby follows", || {
            run_sql(&self.url(), is_synchronous).is_ok()
        });
        standby
    }

    fn make(primary: &str) -> Self {
        let bin = binaries();
        let user = user_id();
        let made = as_server_user(&user)
            .args(["sh", "-c", &format!("{TEMPLATE}{MAKE}"), "make"])
            .args([&bin, &template(&bin, &user)])
            .args(["", primary])
            .output()
            .expect("`sh` runs");
        let data = String::from_utf8_lossy(made.stdout.trim_ascii()).into_owned();
        assert!(
            made.status.success() && !data.is_empty(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        Self {
            bin,
            data: data.into(),
            port: free_port(),
            running: None,
        }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of its maintenance database, with superuser rights.
    pub fn url(&self) -> String {
        self.url_at(self.port)
    }

    /// The same through a proxy on this port.
    pub fn url_at(&self, port: u16) -> String {
        format!("postgresql://postgres@127.0.0.1:{port}/postgres")
    }

    /// Starts it where it was.
    pub fn start(&mut self) {
        let started = as_server_user(&user_id())
            .args(["sh", "-c", RUN, "run"])
            .args([&self.bin, &self.data])
            .arg(self.port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        self.running = Some(started.expect("the server could not be started"));
        wait_until("the server answers", || {
            run_sql(&self.url(), "SELECT 1").is_ok()
        });
    }

    /// Stops it as an administrator does: transactions are rolled back, clients told.
    pub fn stop(&mut self) {
        self.signal("INT");
        self.wait();
    }

    /// Stops it as a crash does.
    pub fn crash(&mut self) {
        self.signal("QUIT");
        self.wait();
    }

    pub fn restart(&mut self) {
        self.stop();
        self.start();
    }

    /// Makes a standby the primary.
    pub fn promote(&self) {
        self.run("SELECT pg_promote()");
        self.run("ALTER SYSTEM RESET synchronous_standby_names");
        self.run("SELECT pg_reload_conf()");
    }

    /// Runs statements as the superuser.
    pub fn run(&self, sql: &str) {
        run_sql(&self.url(), sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    /// Sends a signal to the server's first process.
    pub fn signal(&self, signal: &str) {
        let file = self.data.join("postmaster.pid");
        let Ok(text) = std::fs::read_to_string(file) else {
            return;
        };
        let pid = text.lines().next().unwrap_or_default();
        let sent = Command::new("kill").args(["-s", signal, pid]).status();
        assert!(sent.is_ok_and(|sent| sent.success()), "kill -s {signal}");
    }

    fn wait(&mut self) {
        if let Some(mut running) = self.running.take() {
            // The shell waits for the server, and its input keeps nobody.
            drop(running.stdin.take());
            let _ = running.wait();
        }
    }
}

impl Drop for PostgresNode {
    fn drop(&mut self) {
        self.wait();
        remove(&self.data);
    }
}

fn remove(data: &Path) {
    let _ = std::fs::remove_dir_all(data);
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
