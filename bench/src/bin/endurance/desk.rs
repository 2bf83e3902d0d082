//! The desk whose life is watched: all five counters under TLS, with keys,
//! limits, audit and approval, on one data directory from start to start.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use bench::{
    http::Connection,
    places::Places,
    process::{self, Memory},
    server::{Running, free_port},
};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::clock::Clock;

const PATIENCE: Duration = Duration::from_secs(120);

/// Small enough that everything with a bound reaches it within a day.
const CONFIG: &str = r#"
[http]
require_key = true

[innervoice_listener]
require_key = true

[merchant_listener]
require_key = true

[limits]
requests_per_minute = { cinema = 1200, merchant = 1200, rooms = 1200, todo = 1200, innervoice = 100 }

[approval]
tools = { "innervoice.calendar_create" = "allow", "innervoice.calendar_cancel" = "allow", "innervoice.reminder_create" = "allow" }

[audit]
keep_days = 2
max_bytes = 32000000

[rooms]
max_messages = 500
"#;

pub struct Desk {
    madoguchi: PathBuf,
    logs: PathBuf,
    root: PathBuf,
    _folder: TempDir,
    pub clock: Clock,
    pub main: u16,
    pub merchant: u16,
    pub innervoice: u16,
    /// The process, and how many there have been.
    running: Mutex<(Option<Running>, usize)>,
    /// Trusts the newest certificate and the one before, which is shown until the desk
    /// has read the new one.
    tls: Mutex<Option<TlsConnector>>,
}

impl Desk {
    /// Makes its folder; starts nothing.
    pub fn new(places: &Places, rate: i64) -> Result<Self> {
        let folder = places.fresh()?;
        let root = folder.path().canonicalize()?;
        let desk = Self {
            madoguchi: places.madoguchi.canonicalize()?,
            logs: places.logs.clone(),
            clock: Clock::new(&root, rate)?,
            root,
            _folder: folder,
            main: free_port()?,
            merchant: free_port()?,
            innervoice: free_port()?,
            running: Mutex::new((None, 0)),
            tls: Mutex::new(None),
        };
        fs::create_dir_all(desk.data())?;
        fs::create_dir_all(desk.project())?;
        let (cert, key) = (desk.file("cert.pem"), desk.file("key.pem"));
        let tls = format!("[tls]\ncert = {cert:?}\nkey = {key:?}\n");
        fs::write(desk.file("desk.toml"), format!("{CONFIG}\n{tls}"))?;
        desk.make_certificate()?;
        Ok(desk)
    }

    pub fn data(&self) -> PathBuf {
        self.file("data")
    }

    pub fn project(&self) -> PathBuf {
        self.file("project")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The program on this data and by this clock.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.madoguchi);
        command.args(arguments).arg("--data").arg(self.data());
        command.arg("--config").arg(self.file("desk.toml"));
        command.args(["--log-level", "warn"]);
        self.clock.apply(&mut command);
        command
    }

    /// What a command of the program prints as JSON.
    pub async fn run_json(self: &Arc<Self>, arguments: &[&str]) -> Result<Value> {
        let mut command = self.command(arguments);
        let named = format!("{arguments:?}");
        let output = tokio::task::spawn_blocking(move || command.output()).await??;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{named}: {said}");
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// A key with these options: its id, and its secret.
    pub async fn make_key(
        self: &Arc<Self>,
        name: &str,
        options: &[&str],
    ) -> Result<(String, String)> {
        let create = [&["keys", "create", name, "--json"], options].concat();
        let made = self.run_json(&create).await?;
        let text = |field: &str| made[field].as_str().map(str::to_owned).context("a key");
        Ok((text("id")?, text("key")?))
    }

    /// Starts a process and waits until it is ready.
    pub async fn start(&self) -> Result<()> {
        let mut command = self.command(&["serve"]);
        command.arg("--root").arg(self.project());
        for (flag, port) in [
            ("--port", self.main),
            ("--merchant-port", self.merchant),
            ("--innervoice-port", self.innervoice),
        ] {
            command.args([flag, &port.to_string()]);
        }
        let number = self.starts() + 1;
        let log = self.logs.join(format!("endurance-{number}.log"));
        let running = Running::spawn(command, &log)?;
        *self.process() = (Some(running), number);
        let began = Instant::now();
        while !self.is_ready().await {
            if self.is_gone() || began.elapsed() > PATIENCE {
                bail!("the desk does not answer; see {}", log.display());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    async fn is_ready(&self) -> bool {
        let probe = format!(
            "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
            self.main
        );
        let Ok(stream) = self.connect(self.main).await else {
            return false;
        };
        let mut connection = Connection::on(stream);
        matches!(connection.ask(probe.as_bytes()).await, Ok((200, _)))
    }

    /// SIGTERM, and waits until it has ended.
    pub async fn stop(&self) -> Result<()> {
        let running = self.process().0.take().context("no desk")?;
        tokio::task::spawn_blocking(move || running.stop()).await?
    }

    /// SIGKILL.
    pub fn kill(&self) {
        drop(self.process().0.take());
    }

    pub fn is_gone(&self) -> bool {
        let mut process = self.process();
        let running = process.0.as_mut();
        running.is_none_or(|running| running.is_gone().unwrap_or(true))
    }

    pub fn id(&self) -> Option<u32> {
        self.process().0.as_ref().map(Running::id)
    }

    /// How many processes there have been.
    pub fn starts(&self) -> usize {
        self.process().1
    }

    pub fn memory(&self) -> Result<Memory> {
        process::memory(self.id().context("no desk")?)
    }

    fn process(&self) -> MutexGuard<'_, (Option<Running>, usize)> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new certificate, and SIGHUP.
    pub fn replace_certificate(&self) -> Result<()> {
        self.make_certificate()?;
        if let Some(id) = self.id() {
            let id = id.to_string();
            Command::new("kill").args(["-HUP", &id]).status()?;
        }
        Ok(())
    }

    fn make_certificate(&self) -> Result<()> {
        let (cert, key) = (self.file("cert.pem"), self.file("key.pem"));
        let fresh = |path: &Path| path.with_extension("new");
        let status = Command::new("openssl")
            .args(["req", "-x509", "-nodes", "-days", "3650"])
            .args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .arg("-out")
            .arg(fresh(&cert))
            .arg("-keyout")
            .arg(fresh(&key))
            .stderr(Stdio::null())
            .status()
            .context("openssl")?;
        ensure!(status.success(), "openssl failed");
        let mut roots = RootCertStore::empty();
        for trusted in [&cert, &fresh(&cert)] {
            if trusted.exists() {
                roots.add(CertificateDer::from_pem_file(trusted)?)?;
            }
        }
        fs::rename(fresh(&key), &key)?;
        fs::rename(fresh(&cert), &cert)?;
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = TlsConnector::from(Arc::new(config));
        *self.tls.lock().unwrap_or_else(PoisonError::into_inner) = Some(connector);
        Ok(())
    }

    pub async fn connect(&self, port: u16) -> Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        let connector = {
            let tls = self.tls.lock().unwrap_or_else(PoisonError::into_inner);
            tls.clone().context("no certificate")?
        };
        let name = ServerName::try_from("localhost")?;
        Ok(connector.connect(name, stream).await?)
    }
}
