//! A PgBouncer in transaction mode, in front of a server for tests.

use std::{
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{as_server_user, free_port, user_id};

/// Runs until its input ends, in a directory that goes with it.
const SERVE: &str = r#"
set -eu
umask 077
port=$1 server=$2 PATH=$PATH:/usr/sbin
directory=$(mktemp -d "${TMPDIR:-/tmp}/madoguchi-test-pgbouncer.XXXXXX")
printf '"postgres" ""\n' >"$directory/users"
cat >"$directory/pgbouncer.ini" <<END
[databases]
* = host=127.0.0.1 port=$server
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = trust
auth_file = $directory/users
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
server_login_retry = 1
END
pgbouncer "$directory/pgbouncer.ini" >"$directory/log" 2>&1 &
bouncer=$!
exec 3<&0
(cat <&3 >/dev/null; kill -KILL "$bouncer" 2>/dev/null) &
wait "$bouncer" || true
rm -rf "$directory"
"#;

pub struct PgBouncer {
    pub port: u16,
    /// Holds the pipe that keeps it alive.
    process: Child,
}

impl PgBouncer {
    /// In front of the server on this port, with three connections to it.
    pub fn start(server: u16) -> Self {
        // Another process may take the port first.
        (0..3)
            .find_map(|_| serve(server))
            .expect("PgBouncer for tests did not start; it is Debian's package `pgbouncer`")
    }

    /// The address of a database, through it.
    pub fn url(&self, direct: &str) -> String {
        let (_, database) = direct
            .rsplit_once('/')
            .expect("the address names a database");
        format!("postgresql://postgres@127.0.0.1:{}/{database}", self.port)
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn serve(server: u16) -> Option<PgBouncer> {
    let port = free_port();
    let mut command: Command = as_server_user(&user_id());
    let process = command
        .args(["sh", "-c", SERVE, "serve"])
        .args([port.to_string(), server.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .ok()?;
    let mut bouncer = PgBouncer { port, process };
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(20) {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Some(bouncer);
        }
        if bouncer.process.try_wait().is_ok_and(|end| end.is_some()) {
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}
