//! A PostgreSQL server of the benchmark's own, durable as an operator would have it.

use std::{
    cell::Cell,
    fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use bench::server::{Running, free_port};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(60);

/// Ended when it is dropped.
pub struct Postgres {
    port: u16,
    programs: PathBuf,
    databases: Cell<u32>,
    _server: Running,
    _data: TempDir,
}

impl Postgres {
    pub fn start(programs: &Path, logs: &Path) -> Result<Self> {
        let (port, data) = (free_port()?, tempfile::tempdir()?);
        let directory = data.path().join("db");
        if let Some((user, group)) = other_user()? {
            chown(data.path(), Some(user), Some(group))?;
        }
        let mut make = as_user(&programs.join("initdb"))?;
        make.args(["-U", "postgres", "-A", "trust", "-E", "UTF8"]);
        let made = make.arg("--locale=C").arg("-D").arg(&directory).output()?;
        let said = String::from_utf8_lossy(&made.stderr).into_owned();
        ensure!(made.status.success(), "initdb: {said}");
        let mut server = as_user(&programs.join("postgres"))?;
        server.arg("-D").arg(&directory);
        let port_text = port.to_string();
        server.args(["-p", &port_text, "-c", "listen_addresses=127.0.0.1"]);
        server.args([
            "-c",
            "unix_socket_directories=",
            "-c",
            "max_connections=200",
        ]);
        server.args(["-c", "shared_buffers=256MB"]);
        let server = Running::spawn(server, &logs.join("postgres.log"))?;
        let postgres = Self {
            port,
            programs: programs.to_owned(),
            databases: Cell::new(0),
            _server: server,
            _data: data,
        };
        let started = Instant::now();
        while postgres.sql("SELECT 1").is_err() {
            ensure!(started.elapsed() < PATIENCE, "PostgreSQL does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(postgres)
    }

    /// The address of a new, empty database.
    pub fn create_database(&self) -> Result<String> {
        let number = self.databases.get() + 1;
        self.databases.set(number);
        self.sql(&format!("CREATE DATABASE bench{number}"))?;
        let port = self.port;
        Ok(format!(
            "postgres://postgres@127.0.0.1:{port}/bench{number}"
        ))
    }

    fn sql(&self, statement: &str) -> Result<()> {
        let address = format!("postgres://postgres@127.0.0.1:{}/postgres", self.port);
        let mut command = Command::new(self.programs.join("psql"));
        let done = command.args(["-qc", statement, &address]).output()?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        ensure!(done.status.success(), "{statement}: {said}");
        Ok(())
    }
}

/// PostgreSQL refuses to run as root, so it runs as its package's own user then.
fn other_user() -> Result<Option<(u32, u32)>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    if !is_root {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let line = users.lines().find(|line| line.starts_with("postgres:"));
    let mut fields = line.context("there is no user postgres")?.split(':');
    let mut field = |skip| fields.nth(skip).and_then(|field| field.parse().ok());
    let (user, group) = (field(2), field(0));
    Ok(Some((
        user.context("a user id")?,
        group.context("a group id")?,
    )))
}

fn as_user(program: &Path) -> Result<Command> {
    let Some((user, group)) = other_user()? else {
        return Ok(Command::new(program));
    };
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={user}"));
    command.arg(format!("--regid={group}"));
    command.arg("--clear-groups").arg(program);
    command.current_dir("/");
    Ok(command)
}
