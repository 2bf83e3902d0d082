//! Sends signed heads of the audit trail to where the trail's own machine can't change
//! them: appends them to a file, or posts them to a web address.
//!
//! A head is made at intervals if there are new records, and once more at the end. Heads
//! that can't be sent wait; when too many wait, the oldest are dropped, because a newer
//! head vouches for all records before it.

use std::{
    collections::VecDeque,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use desk::{
    Desk,
    audit::{self, HeadKey, Trail, TrailHead},
    private_files,
};
use reqwest::{
    Client,
    header::{CONTENT_TYPE, HeaderValue},
    redirect::Policy,
};
use tokio::{task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::sending::cause;

/// How many heads may wait.
const QUEUE: usize = 1000;
/// The wait before a repetition; it doubles.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long the program waits for the last heads when it ends.
const LAST_WAIT: Duration = Duration::from_secs(5);

enum Target {
    File(PathBuf),
    Web(Client, String),
}

/// Ships heads until the program ends.
pub struct HeadShipper {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl HeadShipper {
    /// Starts, if the settings say where to.
    pub fn start(desk: &Arc<Desk>) -> Option<Self> {
        let settings = &desk.settings.audit;
        let trail = desk.audit.trail.clone()?;
        let target = match settings.ship_to.trim() {
            "" => return None,
            url if url.starts_with("http://") || url.starts_with("https://") => {
                Target::Web(client()?, url.to_owned())
            }
            path => Target::File(path.into()),
        };
        let shipping = Shipping {
            desk: Arc::clone(desk),
            trail,
            target,
            every: Duration::from_secs(settings.ship_seconds.max(1)),
            last: String::new(),
            waiting: VecDeque::new(),
            wait: FIRST_WAIT,
            is_failing: false,
        };
        let stop = CancellationToken::new();
        let task = tokio::spawn(shipping.run(stop.clone()));
        Some(Self { stop, task })
    }

    /// Sends the last head, after the trail was closed.
    pub async fn finish(self) {
        self.stop.cancel();
        if tokio::time::timeout(LAST_WAIT, self.task).await.is_err() {
            tracing::warn!("the last heads of the audit trail could not be sent in time");
        }
    }
}

fn client() -> Option<Client> {
    // With two TLS libraries linked in, rustls has to be told which to use.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().timeout(TIMEOUT).redirect(Policy::none());
    let client = client.build();
    let client = client.inspect_err(|error| tracing::warn!(%error, "heads can't be sent"));
    client.ok()
}

struct Shipping {
    desk: Arc<Desk>,
    trail: Arc<Trail>,
    target: Target,
    every: Duration,
    /// The digest of the last head that was made.
    last: String,
    waiting: VecDeque<String>,
    /// How long to wait before the next repetition.
    wait: Duration,
    is_failing: bool,
}

impl Shipping {
    async fn run(mut self, stop: CancellationToken) {
        let mut ticks = tokio::time::interval_at(Instant::now() + self.every, self.every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let retry = !self.waiting.is_empty();
            tokio::select! {
                _ = ticks.tick() => self.make().await,
                () = tokio::time::sleep(self.wait), if retry => {}
                () = stop.cancelled() => {
                    self.make().await;
                    self.send_all().await;
                    return;
                }
            }
            // A slow receiver does not hold up the end of the program.
            tokio::select! {
                () = self.send_all() => {}
                () = stop.cancelled() => {}
            }
        }
    }

    async fn make(&mut self) {
        match self.head().await {
            Ok(None) => {}
            Ok(Some(line)) => {
                let dropped = enqueue(&mut self.waiting, line);
                self.desk.metrics.heads_dropped.inc_by(dropped);
            }
            Err(error) => {
                tracing::warn!(error = %error.text(), cause = ?error.cause, "no head of the audit trail could be made");
            }
        }
    }

    /// `None`: nothing has changed.
    async fn head(&mut self) -> kit::Result<Option<String>> {
        let now = self.trail.now();
        let read = audit::blocking(&self.trail.store, move |store, _| {
            TrailHead::read(store, now)
        });
        let head = read.await?;
        let is_empty = head.checkpoints.is_none() && head.segments.is_empty();
        if is_empty || head.hash == self.last {
            return Ok(None);
        }
        let hash = head.hash.clone();
        let signed = HeadKey::of(&self.desk.state.get().await?.secret)?.sign(head)?;
        let line = serde_json::to_string(&signed).map_err(kit::Error::internal)?;
        self.last = hash;
        Ok(Some(line))
    }

    /// Sends what waits, the oldest first, until something fails.
    async fn send_all(&mut self) {
        while let Some(line) = self.waiting.front() {
            let sent = match &self.target {
                Target::File(path) => append(path.clone(), line.clone()).await,
                Target::Web(client, url) => post(client, url, line.clone()).await,
            };
            if let Err(cause) = sent {
                if !self.is_failing {
                    tracing::warn!("heads of the audit trail can't be sent: {cause}");
                }
                self.is_failing = true;
                self.wait = (self.wait * 2).min(LONGEST_WAIT);
                return;
            }
            if self.is_failing {
                tracing::info!("heads of the audit trail are sent again");
            }
            self.is_failing = false;
            self.wait = FIRST_WAIT;
            self.waiting.pop_front();
            self.desk.metrics.heads_sent.inc();
        }
    }
}

/// Returns how many were dropped for it.
fn enqueue(waiting: &mut VecDeque<String>, line: String) -> u64 {
    waiting.push_back(line);
    let excess = waiting.len().saturating_sub(QUEUE);
    waiting.drain(..excess);
    excess as u64
}

async fn append(path: PathBuf, line: String) -> Result<(), String> {
    let write = move || {
        let path: &Path = &path;
        let mut file = private_files::options()
            .append(true)
            .create(true)
            .open(path)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    };
    let written = tokio::task::spawn_blocking(write).await;
    match written {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

async fn post(client: &Client, url: &str, line: String) -> Result<(), String> {
    let request = client
        .post(url)
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .body(line);
    let answer = request.send().await.map_err(|error| cause(&error))?;
    match answer.status() {
        status if status.is_success() => Ok(()),
        status => Err(format!("the receiver answered {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_too_many_heads_wait_the_oldest_are_dropped() {
        let mut waiting = VecDeque::new();
        let all = (0..QUEUE + 3).map(|it| it.to_string());
        let dropped: u64 = all.map(|line| enqueue(&mut waiting, line)).sum();
        assert_eq!((waiting.len(), dropped), (QUEUE, 3));
        assert_eq!(waiting.front().map(String::as_str), Some("3"));
    }
}
