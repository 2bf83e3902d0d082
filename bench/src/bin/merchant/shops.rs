//! The two shops: the program's counter, filled by its import, and the one
//! written with FastMCP and SQLite.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use bench::{
    load::{self, Limit, Outcome},
    places::Places,
    process::{self, Memory},
    server::{Running, free_port, wrapped},
    wire::Target,
};
use serde_json::Value;

use crate::{
    catalogue::Catalogue,
    queries::{self, Kind},
    work::{Carts, Searches, Stocks},
};

const PATIENCE: Duration = Duration::from_secs(180);

/// Where the servers run and where the import does, as taskset names cores.
#[derive(Default)]
pub struct Cores {
    pub servers: Option<String>,
    pub all: Option<String>,
}

pub fn on(core: Option<&String>, command: Command) -> Command {
    match core {
        Some(core) => wrapped(&["taskset", "-c", core], &command),
        None => command,
    }
}

pub struct Imported {
    pub time: Duration,
    /// The most memory it took, in kB.
    pub peak: u64,
    /// Bytes on disk.
    pub database: u64,
    pub index: u64,
}

/// Takes the catalogue in as a shopkeeper would, on all cores.
pub async fn import(
    places: &Places,
    cores: &Cores,
    file: &Path,
    data: &Path,
    products: u64,
) -> Result<Imported> {
    let mut command = Command::new(&places.madoguchi);
    command.args(["import", "merchant"]).arg(file);
    command.args(["--json", "--data"]).arg(data);
    let mut command = on(cores.all.as_ref(), command);
    let log = places.logs.join("merchant-import.log");
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(fs::File::create(&log)?)
        .spawn()
        .with_context(|| format!("{command:?}"))?;
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = process::memory(child.id()).map_or(peak, |memory| peak.max(memory.peak));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let time = started.elapsed();
    let output = child.wait_with_output()?;
    let log = log.display();
    ensure!(output.status.success(), "the import failed; see {log}");
    let told: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(
        told["imported"] == products && told["skipped"] == 0,
        "{told}"
    );
    let index = size(&data.join("search"))?;
    Ok(Imported {
        time,
        peak,
        database: size(data)? - index,
        index,
    })
}

/// Of all files in a folder.
fn size(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        sum += match metadata.is_dir() {
            true => size(&entry.path())?,
            false => metadata.len(),
        };
    }
    Ok(sum)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    Search,
    Inventory,
    Mandates,
}

pub const TOOLS: [Tool; 3] = [Tool::Search, Tool::Inventory, Tool::Mandates];

impl Tool {
    fn wire_name(self) -> &'static str {
        match self {
            Self::Search => "search_products",
            Self::Inventory => "check_inventory",
            Self::Mandates => "build_cart_mandates",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Search => "`search_products`",
            Self::Inventory => "`check_inventory` of 100",
            Self::Mandates => "`build_cart_mandates`",
        }
    }
}

pub struct Shop {
    pub name: &'static str,
    /// From its start to its first answer found in the index.
    pub start: Duration,
    /// After that.
    pub memory: Memory,
    running: Running,
    port: u16,
    path: &'static str,
    database: PathBuf,
    cart_table: &'static str,
    searches: Arc<Searches>,
    stocks: Arc<Stocks>,
    carts: Arc<Carts>,
}

impl Shop {
    /// The program on a data directory that [`import`] has filled.
    pub async fn madoguchi(
        places: &Places,
        cores: &Cores,
        catalogue: &Arc<Catalogue>,
        data: &Path,
    ) -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(&places.madoguchi);
        command.args(["serve", "--merchant-port", "0", "--innervoice-port", "0"]);
        command
            .args(["--port", &port.to_string(), "--data"])
            .arg(data);
        let log = places.logs.join("merchant.log");
        let running = Running::spawn(on(cores.servers.as_ref(), command), &log)?;
        let mut shop = Self::new("madoguchi", running, port, catalogue);
        shop.path = "/mcp/merchant";
        shop.database = data.join("madoguchi.db");
        shop.cart_table = "merchant_carts";
        shop.open(catalogue, &log).await
    }

    /// The same tools in Python, which read the catalogue from its file.
    pub async fn fastmcp(
        places: &Places,
        cores: &Cores,
        catalogue: &Arc<Catalogue>,
        file: &Path,
        data: &Path,
    ) -> Result<Self> {
        let port = free_port()?;
        let database = data.join("fastmcp.db");
        let mut command = Command::new(&places.python);
        command.arg("others/fastmcp-merchant/server.py");
        command.arg(port.to_string()).arg(file).arg(&database);
        let log = places.logs.join("fastmcp-merchant.log");
        let running = Running::spawn(on(cores.servers.as_ref(), command), &log)?;
        let mut shop = Self::new("FastMCP 4.1.4, SQLite", running, port, catalogue);
        shop.database = database;
        shop.open(catalogue, &log).await
    }

    fn new(name: &'static str, running: Running, port: u16, catalogue: &Arc<Catalogue>) -> Self {
        Self {
            name,
            start: Duration::ZERO,
            memory: Memory::default(),
            running,
            port,
            path: "/mcp",
            database: PathBuf::new(),
            cart_table: "carts",
            searches: searches(catalogue, queries::mixed(catalogue)),
            stocks: Arc::new(Stocks {
                catalogue: Arc::clone(catalogue),
            }),
            carts: Arc::new(Carts::new(catalogue)),
        }
    }

    /// Waits until it finds what a plain word means.
    async fn open(mut self, catalogue: &Arc<Catalogue>, log: &Path) -> Result<Self> {
        let started = Instant::now();
        let mut words = queries::of_kind(Kind::Word, catalogue);
        words.truncate(1);
        let word = searches(catalogue, words);
        let target = self.target(Tool::Search);
        loop {
            let error = match load::run(&target, &word, 1, Limit::calls(1)).await {
                Ok(outcome) if outcome.done == 1 => break,
                Ok(_) => anyhow::anyhow!("something else is found"),
                Err(error) => error,
            };
            if self.running.is_gone()? || started.elapsed() > PATIENCE {
                let (name, log) = (self.name, log.display());
                return Err(error.context(format!("{name} does not answer; see {log}")));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.start = started.elapsed();
        self.memory = self.memory_now()?;
        Ok(self)
    }

    fn target(&self, tool: Tool) -> Target {
        Target::new(self.port, self.path, tool.wire_name())
    }

    pub async fn call(&self, tool: Tool, connections: usize, limit: Limit) -> Result<Outcome> {
        let target = &self.target(tool);
        match tool {
            Tool::Search => load::run(target, &self.searches, connections, limit).await,
            Tool::Inventory => load::run(target, &self.stocks, connections, limit).await,
            Tool::Mandates => load::run(target, &self.carts, connections, limit).await,
        }
        .with_context(|| format!("{} of {}", tool.wire_name(), self.name))
    }

    /// All questions of one kind, one after the other.
    pub async fn ask(&self, kind: Kind) -> Result<Outcome> {
        let catalogue = &self.searches.catalogue;
        let work = searches(catalogue, queries::of_kind(kind, catalogue));
        let limit = Limit::calls(work.queries.len() as u64);
        load::run(&self.target(Tool::Search), &work, 1, limit)
            .await
            .with_context(|| format!("{}, asked of {}", kind.name(), self.name))
    }

    pub fn cpu_seconds(&self) -> Result<f64> {
        process::cpu_seconds(self.running.id())
    }

    pub fn memory_now(&self) -> Result<Memory> {
        process::memory(self.running.id())
    }

    /// Ends it, and counts the carts it confirmed in its database.
    pub fn close(self, places: &Places) -> Result<()> {
        self.running.stop()?;
        let count = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1])\
                     .execute('SELECT COUNT(*) FROM ' + sys.argv[2]).fetchone()[0])";
        let output = Command::new(&places.python)
            .args(["-c", count])
            .arg(&self.database)
            .arg(self.cart_table)
            .output()?;
        ensure!(output.status.success(), "{output:?}");
        let kept: u64 = String::from_utf8(output.stdout)?.trim().parse()?;
        let made = self.carts.made.load(Ordering::Relaxed);
        ensure!(kept == made, "{made} mandates confirmed, {kept} kept");
        Ok(())
    }
}

fn searches(catalogue: &Arc<Catalogue>, queries: Vec<queries::Query>) -> Arc<Searches> {
    Arc::new(Searches {
        catalogue: Arc::clone(catalogue),
        queries,
    })
}
