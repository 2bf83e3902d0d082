//! The InnerVoice counter: calls over WebSocket, idle sockets and sessions, and what a
//! firing costs among few and among many reminders.

use std::{
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use bench::{
    figures::{Goals, Table, megabytes, number, times},
    http::Connection,
    places::Places,
    process,
    server::{Running, free_port, make_key, run_json},
};
use clap::Parser;
use futures::{SinkExt as _, StreamExt as _};
use kit::{Store, sql::Budget};
use serde_json::{Value, json};
use store::{Database, Options, url::DatabaseUrl};
use tempfile::TempDir;
use tokio::{net::TcpStream, task::JoinSet};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream,
    tungstenite::{Message, client::IntoClientRequest as _},
};

const IDLE_SOCKETS: usize = 10_000;
const IDLE_SESSIONS: usize = 1_000;
const FIRINGS: i64 = 2_000;
const FEW: i64 = 1_000;
const MANY: i64 = 1_000_000;

#[derive(Parser)]
struct Cli {
    /// The program to measure
    #[arg(long, default_value = "../target/release/madoguchi")]
    madoguchi: PathBuf,
    /// How long a turn takes
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

struct Desk {
    madoguchi: PathBuf,
    running: Running,
    main_port: u16,
    port: u16,
    key: String,
    data: TempDir,
}

impl Desk {
    async fn start(cli: &Cli, places: &Places, data: TempDir) -> Result<Self> {
        let config = data.path().join("desk.toml");
        std::fs::write(
            &config,
            "[http]\nmax_connections = 20000\nmax_connections_per_address = 0\n\
             max_sessions = 20000\nmax_sessions_per_caller = 20000\n\
             [limits]\nrequests_per_minute = { innervoice = 100000000 }\n",
        )?;
        let key = make_key(&cli.madoguchi, data.path())?;
        let (main_port, port) = (free_port()?, free_port()?);
        let mut serve = Command::new(&cli.madoguchi);
        serve.args(["serve", "--merchant-port", "0"]);
        serve.args(["--port", &main_port.to_string()]);
        serve.args(["--innervoice-port", &port.to_string(), "--data"]);
        serve.arg(data.path()).arg("--config").arg(&config);
        let running = Running::spawn(serve, &places.logs.join("voice.log"))?;
        let desk = Self {
            madoguchi: cli.madoguchi.clone(),
            running,
            main_port,
            port,
            key,
            data,
        };
        for _ in 0..600 {
            if desk.connect().await.is_ok() {
                return Ok(desk);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        bail!("the desk does not answer; see .env/logs/voice.log")
    }

    async fn connect(&self) -> Result<Socket> {
        let mut request = format!("ws://127.0.0.1:{}/", self.port).into_client_request()?;
        let bearer = format!("Bearer {}", self.key).parse()?;
        request.headers_mut().insert("authorization", bearer);
        Ok(tokio_tungstenite::connect_async(request).await?.0)
    }

    /// Resident memory in kB, when it has calmed down.
    async fn resident(&self) -> Result<f64> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(process::memory(self.running.id())?.resident as f64)
    }

    /// A message of a client of the handshake era. Returns the id of its session.
    async fn post(&self, session: &str, message: &Value) -> Result<String> {
        let (key, body) = (&self.key, message.to_string());
        let length = body.len();
        let request = format!(
            "POST /mcp/innervoice HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             {session}content-length: {length}\r\n\r\n{body}"
        );
        let mut connection = Connection::open(self.main_port).await?;
        let (status, _) = connection.ask(request.as_bytes()).await?;
        ensure!(status == 200 || status == 202, "HTTP {status}");
        Ok(connection.header("mcp-session-id").unwrap_or_default())
    }

    /// Asks once, and lets the user say yes for good.
    async fn grant(&self, call: Call) -> Result<()> {
        let mut socket = self.connect().await?;
        let asking = tokio::spawn(async move { exchange(&mut socket, 0, call).await });
        for _ in 0..200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let waiting = run_json(
                &self.madoguchi,
                self.data.path(),
                &["approvals", "list", "--pending", "--json"],
            )?;
            if let Some(id) = waiting[0]["id"].as_str() {
                let approve = ["approvals", "approve", id, "--always", "--json"];
                run_json(&self.madoguchi, self.data.path(), &approve)?;
                return asking.await?;
            }
        }
        bail!("nobody was asked")
    }

    /// Latencies of `call` over so many sockets, in milliseconds, sorted; and how many
    /// seconds it took.
    async fn turn(&self, call: Call, sockets: usize, seconds: f64) -> Result<(Vec<f64>, f64)> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let start = Instant::now();
        let end = start + Duration::from_secs_f64(seconds);
        let begun = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..sockets {
            let mut socket = self.connect().await?;
            let begun = Arc::clone(&begun);
            tasks.spawn(async move {
                let mut taken = Vec::new();
                let has_more = || begun.fetch_add(1, Ordering::Relaxed) < MOST_PER_TURN;
                while Instant::now() < end && has_more() {
                    let id = NEXT.fetch_add(1, Ordering::Relaxed);
                    let sent = Instant::now();
                    exchange(&mut socket, id, call).await?;
                    taken.push(sent.elapsed().as_secs_f64() * 1e3);
                }
                anyhow::Ok(taken)
            });
        }
        let mut all = Vec::new();
        while let Some(taken) = tasks.join_next().await {
            all.extend(taken??);
        }
        all.sort_unstable_by(f64::total_cmp);
        Ok((all, start.elapsed().as_secs_f64()))
    }
}

/// A key may have a thousand reminders, and a thousand messages that have yet to be sent.
const MOST_PER_TURN: u64 = 240;

#[derive(Clone, Copy)]
enum Call {
    Reminder,
    Message,
    Agenda,
}

impl Call {
    fn tool(self) -> &'static str {
        match self {
            Self::Reminder => "reminder.create",
            Self::Message => "message.send",
            Self::Agenda => "calendar.list",
        }
    }

    fn arguments(self, number: u64) -> Value {
        match self {
            Self::Reminder => json!({
                "time": "2099-01-01T07:00:00+09:00", "note": format!("note {number}"),
                "repeat": "weekdays",
            }),
            Self::Message => json!({ "to": "a@example.com", "text": format!("text {number}") }),
            Self::Agenda => json!({}),
        }
    }
}

/// A bare request, as the counter's document has it.
async fn exchange(socket: &mut Socket, id: u64, call: Call) -> Result<()> {
    let params = json!({ "name": call.tool(), "arguments": call.arguments(id) });
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    socket.send(Message::text(request.to_string())).await?;
    loop {
        match socket.next().await.context("the socket closed")?? {
            Message::Text(text) => {
                let answer: Value = serde_json::from_str(&text)?;
                ensure!(answer["result"]["status"] == "ok", "{text}");
                return Ok(());
            }
            Message::Close(_) => bail!("the socket closed"),
            _ => {}
        }
    }
}

fn failed(error: kit::Error) -> anyhow::Error {
    anyhow!("{}", error.text())
}

async fn sql<T: Send + 'static>(
    store: &Arc<dyn Store>,
    run: impl FnMut(&mut dyn kit::Sql) -> kit::Result<T> + Send + 'static,
) -> Result<T> {
    let done = store.transaction(Budget::default(), run).await;
    done.map_err(failed)
}

/// CPU milliseconds for one firing, among so many reminders of later times.
async fn firing(cli: &Cli, places: &Places, reminders: i64) -> Result<f64> {
    // The tables are made by the program itself.
    let desk = Desk::start(cli, places, places.fresh()?).await?;
    let url = DatabaseUrl::Sqlite(desk.data.path().join("madoguchi.db"));
    let database = Database::open(&url, Options::default())
        .await
        .map_err(failed)?;
    let store: Arc<dyn Store> = Arc::new(database.clone());
    let insert = |prefix: &'static str, count: i64, first: i64, step: i64| {
        move |sql: &mut dyn kit::Sql| {
            let statement = format!(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
                 INSERT INTO innervoice_reminders (id, note, starts_local, starts_at, zone, rule, \
                 status, next_fire_at, caller, created_at, updated_at) \
                 SELECT '{prefix}' || i, 'note ' || i, '2026-01-01T07:00:00', {first} + i * {step}, \
                 'Asia/Tokyo', NULL, 'active', {first} + i * {step}, 'bench', 0, 0 FROM n"
            );
            sql.execute(&statement, &[])
        }
    };
    let now = now_ms()?;
    let years_later = now + 10_000_000_000;
    sql(&store, insert("rmd_later", reminders, years_later, 1000)).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let started = process::cpu_seconds(desk.running.id())?;
    tokio::time::sleep(Duration::from_secs(4)).await;
    let idle = (process::cpu_seconds(desk.running.id())? - started) / 4.0;
    let (before, began) = (process::cpu_seconds(desk.running.id())?, Instant::now());
    let due = now_ms()?;
    sql(&store, insert("rmd_due", FIRINGS, due, 0)).await?;
    loop {
        let count = |sql: &mut dyn kit::Sql| {
            let row = sql.query_one("SELECT COUNT(*) FROM innervoice_firings", &[])?;
            row.map_or(Ok(0), |row| row.int(0))
        };
        if store
            .query(Budget::default(), count)
            .await
            .map_err(failed)?
            >= FIRINGS
        {
            break;
        }
        ensure!(
            began.elapsed() < Duration::from_secs(120),
            "they do not fire"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // The kernel counts in hundredths of a second; let what is behind catch up.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let cpu = process::cpu_seconds(desk.running.id())? - before;
    let own = cpu - idle * began.elapsed().as_secs_f64();
    database.close().await.map_err(failed)?;
    desk.running.stop()?;
    Ok(own.max(0.0) * 1e3 / FIRINGS as f64)
}

fn now_ms() -> Result<i64> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    Ok(i64::try_from(now.as_millis())?)
}

async fn idle_sockets(desk: &Desk, goals: &mut Goals) -> Result<()> {
    let before = desk.resident().await?;
    let mut idle = Vec::with_capacity(IDLE_SOCKETS);
    for _ in 0..IDLE_SOCKETS {
        idle.push(desk.connect().await?);
    }
    let silent = desk.resident().await?;
    for (id, socket) in (1_000_000_000..).zip(&mut idle) {
        exchange(socket, id, Call::Agenda).await?;
    }
    let quiet = desk.resident().await?;
    drop(idle);
    let mut table = Table::new("memory | before | with them | each");
    for (state, after) in [("", silent), (", each after a call", quiet)] {
        let name = format!("{IDLE_SOCKETS} idle sockets{state}");
        let each = (after - before) / IDLE_SOCKETS as f64;
        let shown = format!("{} kB", number(each));
        goals.add(
            &format!("{name} under 12 kB each"),
            shown.clone(),
            each < 12.0,
        );
        table.row(&[name, megabytes(before), megabytes(after), shown]);
    }
    table.print("Idle sockets");
    Ok(())
}

/// Sessions of the handshake era that nobody uses.
async fn idle_sessions(desk: &Desk, goals: &mut Goals) -> Result<()> {
    let about = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "bench", "version": "0.1.0" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let before = desk.resident().await?;
    for _ in 0..IDLE_SESSIONS {
        let id = desk.post("", &hello).await?;
        let session = format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-06-18\r\n");
        desk.post(&session, &initialized).await?;
    }
    let after = desk.resident().await?;
    let each = (after - before) / IDLE_SESSIONS as f64;
    let shown = format!("{} kB", number(each));
    let mut table = Table::new("memory | before | with them | each");
    let name = format!("{IDLE_SESSIONS} sessions of the handshake era");
    let row = [
        name.clone(),
        megabytes(before),
        megabytes(after),
        shown.clone(),
    ];
    table.row(&row);
    table.print("Idle sessions");
    goals.add(&format!("{name} under 40 kB each"), shown, each < 40.0);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let cli = Cli::parse();
    let places = Places::new(&cli.madoguchi)?;
    let mut goals = Goals::default();
    let desk = Desk::start(&cli, &places, places.fresh()?).await?;
    let mut table = Table::new("frame to answer, ms | sockets | calls/s | p50 | p99");
    for call in [Call::Reminder, Call::Message] {
        desk.grant(call).await?;
        for sockets in [1, 64] {
            desk.turn(call, sockets, 0.5).await?;
            let (taken, lasted) = desk.turn(call, sockets, cli.seconds).await?;
            let at = |share: f64| {
                let index = (taken.len() as f64 * share) as usize;
                taken.get(index.min(taken.len().saturating_sub(1))).copied()
            };
            let (p50, p99) = (at(0.5).unwrap_or(f64::NAN), at(0.99).unwrap_or(f64::NAN));
            let rate = taken.len() as f64 / lasted;
            let row = [sockets.to_string(), number(rate), number(p50), number(p99)];
            let mut cells = vec![format!("`{}`", call.tool())];
            cells.extend(row);
            table.row(&cells);
            let goal = format!("`{}`, {sockets} socket(s): p99 under 20 ms", call.tool());
            goals.under_ms(&goal, p99, 20.0);
        }
    }
    table.print("InnerVoice over WebSocket, approval standing, durable");

    // Sessions first: they would use the memory that closed sockets have left behind.
    idle_sessions(&desk, &mut goals).await?;
    idle_sockets(&desk, &mut goals).await?;
    desk.running.stop()?;

    let few = firing(&cli, &places, FEW).await?;
    let many = firing(&cli, &places, MANY).await?;
    let mut table = Table::new("reminders stored | CPU ms for one firing");
    table.row(&[FEW.to_string(), number(few)]);
    table.row(&[MANY.to_string(), number(many)]);
    table.print("The scheduler");
    let goal = "a firing among 1,000,000 costs as among 1,000 (under 1.5 ×)";
    goals.add(goal, times(many / few), many < few * 1.5);
    goals.print();
    Ok(())
}
