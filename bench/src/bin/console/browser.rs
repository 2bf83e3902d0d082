//! A browser at the console, as far as the desk notices: it signs in, loads pages with
//! their files, listens, and asks again as `pages.js` does.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bench::http::Connection;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::Instant as Moment,
};

use crate::desk::Desk;

/// The least time between two looks at a page that changes, as in `pages.js`.
const BETWEEN: Duration = Duration::from_secs(1);
/// Longer than any turn.
const NEVER: Duration = Duration::from_secs(86_400);

#[derive(Clone)]
pub struct Browser {
    port: u16,
    cookie: String,
    token: String,
}

/// A page as it came.
pub struct Loaded {
    pub html: String,
    /// From the request to the last byte.
    pub took: Duration,
}

impl Browser {
    pub async fn sign_in(desk: &Desk) -> Result<Self> {
        let link = desk.link()?;
        let (_, token) = link.split_once("token=").context("a token in the link")?;
        let (port, body) = (desk.port, format!("token={token}"));
        let request = format!(
            "POST /console/open HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             Origin: http://127.0.0.1:{port}\r\nAccept: text/html\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut connection = Connection::open(port).await?;
        let (status, page) = connection.ask(request.as_bytes()).await?;
        ensure!(status == 200, "not let in: {status}");
        let page = String::from_utf8(page.to_vec())?;
        let cookie = connection.header("set-cookie").context("a cookie")?;
        let cookie = cookie.split(';').next().unwrap_or_default();
        Ok(Self {
            port,
            cookie: cookie.to_owned(),
            token: attribute(&page, "data-form").context("a token")?.to_owned(),
        })
    }

    fn request(&self, path: &str, with_token: bool) -> String {
        let token = match with_token {
            true => format!("X-Console-Form: {}\r\n", self.token),
            false => String::new(),
        };
        format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAccept: text/html,*/*;q=0.8\r\n\
             Cookie: {}\r\n{token}\r\n",
            self.port, self.cookie
        )
    }

    /// What is at an address: for whoever has the cookie alone, or the token too.
    pub async fn load(&self, path: &str, with_token: bool) -> Result<Loaded> {
        let mut connection = Connection::open(self.port).await?;
        let request = self.request(path, with_token);
        let sent = Instant::now();
        let (status, body) = connection.ask(request.as_bytes()).await?;
        let took = sent.elapsed();
        ensure!(status == 200, "{path}: {status}");
        let html = String::from_utf8(body.to_vec())?;
        Ok(Loaded { html, took })
    }

    /// The page with its content.
    pub async fn page(&self, path: &str) -> Result<Loaded> {
        self.load(path, true).await
    }

    /// Keeps a page open until it is aborted: listens where the page says, and asks for
    /// the page again when told to and every so often.
    pub async fn keep_open(self, path: String) -> Result<()> {
        let page = self.page(&path).await?.html;
        let every = attribute(&page, "data-every").and_then(|seconds| seconds.parse().ok());
        let every = every.map_or(NEVER, Duration::from_secs);
        // The inbox comes with its stream, and is not asked for again.
        let is_inbox = page.contains("id=\"inbox\"");
        let watched = attribute(&page, "data-watch").map(str::to_owned);
        let watched = watched.or_else(|| is_inbox.then(|| "/console/events".to_owned()));
        let mut stream = match &watched {
            Some(address) => Some(self.listen(address).await?),
            None => None,
        };
        let mut again = Moment::now() + every;
        let mut last = Moment::now();
        loop {
            tokio::select! {
                heard = next_message(&mut stream) => {
                    heard?;
                    if is_inbox {
                        continue;
                    }
                    again = again.min(last + BETWEEN);
                }
                () = tokio::time::sleep_until(again) => {
                    last = Moment::now();
                    self.page(&path).await?;
                    again = last + every;
                }
            }
        }
    }

    async fn listen(&self, address: &str) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        let request = self.request(address, true);
        stream.write_all(request.as_bytes()).await?;
        Ok(stream)
    }
}

/// Waits for more on the stream; for ever where there is none. Heartbeats are no message.
async fn next_message(stream: &mut Option<TcpStream>) -> Result<()> {
    let Some(stream) = stream else {
        return std::future::pending().await;
    };
    let mut read = [0; 64 * 1024];
    loop {
        let length = stream.read(&mut read).await?;
        ensure!(length > 0, "the stream ended");
        let text = String::from_utf8_lossy(&read[..length]);
        if text.contains("data:") {
            return Ok(());
        }
    }
}

/// Many browsers, until they are dropped.
pub struct OpenConsoles {
    tasks: JoinSet<Result<()>>,
}

impl OpenConsoles {
    pub async fn open(browsers: &[Browser], paths: &[String]) -> Result<Self> {
        let mut tasks = JoinSet::new();
        for (browser, path) in browsers.iter().zip(paths) {
            tasks.spawn(browser.clone().keep_open(path.clone()));
            // People do not come all at once.
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Ok(Self { tasks })
    }

    /// Fails if one of them could not stay.
    pub async fn close(mut self) -> Result<()> {
        while let Some(ended) = self.tasks.try_join_next() {
            ended??;
        }
        self.tasks.shutdown().await;
        Ok(())
    }
}

/// The first value of an attribute.
pub fn attribute<'a>(html: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = html.split_once(&format!("{name}=\""))?;
    Some(rest.split_once('"')?.0)
}
