//! A running `madoguchi serve`.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use store::testing::free_port;
use tokio::net::TcpStream;

use super::{
    Answer, FakeClock, MODERN, Pipe, Place, TryAnswer, call, http, modern, result, structured,
};

const START: Duration = Duration::from_secs(60);

/// Killed when it goes out of scope.
pub struct Desk {
    pub port: u16,
    /// The port of a counter that has one of its own; 0 when it is off.
    pub own_port: u16,
    pub place: Place,
    tls: bool,
    child: Child,
    log: Arc<Mutex<String>>,
    /// Ends with the desk's last line.
    log_reader: Option<thread::JoinHandle<()>>,
}

/// What a desk is started with.
pub struct Setup {
    place: Place,
    config: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    own_port: &'static str,
    is_somebody: bool,
}

impl Setup {
    /// The text of its configuration file.
    pub fn config(mut self, toml: &str) -> Self {
        self.config = toml.into();
        self
    }

    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// With a counter's own port open; `flag` is the one that moves it.
    pub fn own_port(mut self, flag: &'static str) -> Self {
        self.own_port = flag;
        self
    }

    /// As a user who is not the superuser, and whose place it then is.
    pub fn by_somebody(mut self) -> Self {
        self.is_somebody = true;
        self
    }

    /// With a clock that a file sets.
    pub fn clock(self, clock: &FakeClock) -> Self {
        let environment = clock.environment();
        environment
            .iter()
            .fold(self, |setup, (name, value)| setup.env(name, value))
    }

    /// On the data of another desk.
    pub fn place(mut self, place: &Place) -> Self {
        self.place = place.clone();
        self
    }

    /// On a database elsewhere. `serve` puts no sample data there.
    pub fn database(self, url: &str) -> Self {
        self.env("MADOGUCHI_DATABASE__URL", url)
    }

    /// Loads the sample data, as an operator would.
    pub fn demo(self) -> Self {
        self.place.load_demo(&self.environment);
        self
    }

    pub async fn start(self) -> Desk {
        // Another process may take the port before the desk does.
        for _ in 0..5 {
            if let Some(desk) = self.try_start().await {
                return desk;
            }
        }
        panic!("no port was free");
    }

    async fn try_start(&self) -> Option<Desk> {
        let port = free_port();
        let mut own_port = 0;
        // Desks of other tests run beside this one.
        let mut own_ports = vec![("--merchant-port", 0), ("--innervoice-port", 0)];
        if !self.own_port.is_empty() {
            own_port = free_port();
            own_ports.retain(|(flag, _)| *flag != self.own_port);
            own_ports.push((self.own_port, own_port));
        }
        let own_ports = own_ports
            .iter()
            .flat_map(|(flag, port)| [(*flag).to_owned(), port.to_string()]);
        let config = format!("madoguchi-{port}.toml");
        let config = self.place.file(&config, &self.config);
        let mut command = match self.is_somebody {
            true => self.place.command_by_somebody(),
            false => self.place.command(),
        };
        let mut child = command
            .args(["serve", "--fixture", "--port", &port.to_string()])
            .arg("--config")
            .arg(config)
            .args(own_ports)
            .args(&self.arguments)
            // No balancer has to notice that it stops, unless a test says so.
            .env("MADOGUCHI_HTTP__DRAIN_SECONDS", "0")
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (stderr, kept) = (child.stderr.take().unwrap(), Arc::clone(&log));
        let log_reader = thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut kept = kept.lock().unwrap();
                kept.push_str(&line);
                kept.push('\n');
            }
        });
        let mut desk = Desk {
            port,
            own_port,
            place: self.place.clone(),
            tls: self.config.contains("[tls]"),
            child,
            log,
            log_reader: Some(log_reader),
        };
        let began = Instant::now();
        while !desk.is_ready().await {
            if desk.child.try_wait().unwrap().is_some() {
                desk.read_log_to_its_end();
                let log = desk.log();
                assert!(log.contains("PORT_TAKEN"), "the desk did not start:\n{log}");
                return None;
            }
            if began.elapsed() >= START {
                let answer = http::try_request(port, "GET", "/readyz", &[], "").await;
                let said = answer.map(|answer| answer.text());
                panic!("the desk is not ready: {said:?}");
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Some(desk)
    }
}

impl Desk {
    pub fn setup() -> Setup {
        Setup {
            place: Place::new(),
            config: String::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            own_port: "",
            is_somebody: false,
        }
    }

    pub async fn start() -> Self {
        Self::setup().start().await
    }

    /// With this text as its configuration file.
    pub async fn with_config(toml: &str) -> Self {
        Self::setup().config(toml).start().await
    }

    /// A connection to its main port.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).await.unwrap()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Its configuration file.
    pub fn config(&self) -> PathBuf {
        self.place
            .path()
            .join(format!("madoguchi-{}.toml", self.port))
    }

    /// The first key, where this desk made it.
    pub fn first_key(&self) -> Option<String> {
        self.handed_over("first-key.txt")
    }

    /// The link into the console that it handed over when it started.
    pub fn console_link(&self) -> String {
        let link = self.handed_over("console-link.txt");
        link.expect("a desk hands over a link when it starts")
    }

    fn handed_over(&self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.place.data().join(name)).ok()?;
        Some(text.trim().to_owned())
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits for a log entry.
    pub async fn logs(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(60) {
            let log = self.log();
            let mut entries = log
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok());
            if let Some(entry) = entries.find(&wanted) {
                return entry;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the desk never logged {what}");
    }

    /// Waits for the record of a call whose client did not wait for it.
    pub async fn logs_giving_up(&self, tool: &str) {
        let gave_up = |entry: &Value| {
            let abandoned = entry["message"] == "call abandoned by its client";
            entry["tool"] == tool && (abandoned || entry["code"] == "CANCELLED")
        };
        self.logs("that a client gave up", gave_up).await;
    }

    async fn is_ready(&self) -> bool {
        let answer = http::try_request(self.port, "GET", "/readyz", &[], "").await;
        // A desk with TLS refuses to be asked like this, as soon as it serves.
        let wanted = if self.tls { 400 } else { 200 };
        answer.is_ok_and(|answer| answer.status == wanted)
    }

    /// Waits until `/readyz` answers with this status; returns what it says.
    pub async fn answers_readyz(&self, status: u16) -> String {
        let began = Instant::now();
        loop {
            let answer = self.get("/readyz").await;
            if answer.status == status {
                return answer.text();
            }
            let text = answer.text();
            assert!(began.elapsed() < Duration::from_secs(20), "{text}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        http::request(self.port, "GET", path, &[], "").await
    }

    /// Any request of the modern era. Answers the whole message.
    pub async fn rpc(&self, counter: &str, method: &str, params: Value) -> Value {
        let message = modern(1, method, params);
        self.post(counter, None, &message).await.message()
    }

    /// Any message of the modern era, with a key or without.
    pub async fn post(&self, counter: &str, key: Option<&str>, message: &Value) -> Answer {
        let answer = self.try_post(counter, key, message).await;
        answer.unwrap_or_else(|error| panic!("{message}: {error}"))
    }

    /// The same where the desk may end before it answers.
    pub async fn try_post(&self, counter: &str, key: Option<&str>, message: &Value) -> TryAnswer {
        post(self.port, counter, key, message).await
    }

    /// A tool call of the modern era with a key.
    pub async fn call_as(&self, key: &str, counter: &str, tool: &str, arguments: Value) -> Answer {
        let message = call(1, tool, arguments);
        self.post(counter, Some(key), &message).await
    }

    /// What a tool call of the modern era answers, when it must go well.
    pub async fn ok(&self, counter: &str, tool: &str, arguments: Value) -> Value {
        structured(&self.call(counter, tool, arguments).await).clone()
    }

    /// `madoguchi stdio` on its data and with its configuration.
    pub fn stdio(&self, counter: &str, key: Option<&str>) -> Pipe {
        let mut command = self.place.command();
        command.args(["stdio", counter, "--fixture", "--config"]);
        command.arg(self.config());
        command.envs(key.map(|key| ("MADOGUCHI_KEY", key)));
        Pipe::start(&mut command)
    }

    /// The result of a tool call in the modern era.
    pub async fn call(&self, counter: &str, tool: &str, arguments: Value) -> Value {
        let message = call(1, tool, arguments);
        result(&self.post(counter, None, &message).await.message()).clone()
    }

    /// Sends a signal such as `TERM`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([format!("-{name}"), self.pid().to_string()])
            .status();
        assert!(status.unwrap().success());
    }

    /// Waits for the process to end by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.read_log_to_its_end();
                return status;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// After the desk has ended.
    fn read_log_to_its_end(&mut self) {
        if let Some(reader) = self.log_reader.take() {
            reader.join().unwrap();
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            if let Some(reader) = self.log_reader.take() {
                let _ = reader.join();
            }
            eprintln!("--- the desk's log\n{}", self.log());
        }
    }
}

/// Posts a message of the modern era with the headers that go with it.
pub async fn post(port: u16, counter: &str, key: Option<&str>, message: &Value) -> TryAnswer {
    let method = message["method"].as_str().unwrap();
    let mut headers = modern_headers(method, &message["params"]);
    headers.extend(key.map(|key| ("authorization", format!("Bearer {key}"))));
    let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let path = format!("/mcp/{counter}");
    http::try_request(port, "POST", &path, &headers, message.to_string()).await
}

/// The headers that the modern era asks for.
pub fn modern_headers(method: &str, params: &Value) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("mcp-protocol-version", MODERN.to_owned()),
        ("mcp-method", method.to_owned()),
    ];
    let name = params.get("name").or_else(|| params.get("uri"));
    if let Some(name) = name.and_then(Value::as_str) {
        headers.push(("mcp-name", name.to_owned()));
    }
    headers
}
