//! One keep-alive HTTP/1.1 connection, no more than the load generator needs.

use anyhow::{Context as _, Result, bail, ensure};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
};

const HEADERS: usize = 32;

pub struct Connection<S = TcpStream> {
    stream: S,
    /// What has arrived of the current answer.
    received: Vec<u8>,
    body: Vec<u8>,
}

/// What the head of an answer says.
struct Head {
    status: u16,
    is_json: bool,
    /// Where the body starts.
    start: usize,
    length: Length,
}

/// How the head of an answer says where its body ends.
enum Length {
    Known(usize),
    Chunked,
}

impl Connection {
    pub async fn open(port: u16) -> Result<Self> {
        Self::over(TcpStream::connect(("127.0.0.1", port)).await?)
    }

    /// Uses a connection that is open already.
    pub fn over(stream: TcpStream) -> Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self::on(stream))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Uses any stream of bytes, such as one under TLS.
    pub fn on(stream: S) -> Self {
        Self {
            stream,
            received: Vec::with_capacity(16 * 1024),
            body: Vec::new(),
        }
    }

    /// Sends a request and reads nothing of its answer.
    pub async fn send_only(&mut self, request: &[u8]) -> Result<()> {
        self.stream.write_all(request).await?;
        Ok(self.stream.flush().await?)
    }

    /// Sends a whole request and returns the body of its answer, which must have
    /// this status.
    pub async fn exchange(&mut self, request: &str, status: u16) -> Result<&[u8]> {
        let head = self.send(request.as_bytes()).await?;
        if head.status != status {
            let received = String::from_utf8_lossy(&self.received);
            bail!("HTTP {}: {received}", head.status);
        }
        ensure!(head.is_json, "an answer that is not JSON");
        self.receive(&head).await
    }

    /// Sends a whole request; returns the status and the body of its answer,
    /// whatever they are.
    pub async fn ask(&mut self, request: &[u8]) -> Result<(u16, &[u8])> {
        let head = self.send(request).await?;
        Ok((head.status, self.receive(&head).await?))
    }

    /// A header of the last answer.
    pub fn header(&self, name: &str) -> Option<String> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        response.parse(&self.received).ok()?;
        let header = value(response.headers, name)?;
        Some(String::from_utf8_lossy(header).into_owned())
    }

    async fn send(&mut self, request: &[u8]) -> Result<Head> {
        self.stream.write_all(request).await?;
        self.stream.flush().await?;
        self.received.clear();
        loop {
            self.read_more().await?;
            if let Some(head) = head(&self.received)? {
                return Ok(head);
            }
        }
    }

    async fn receive(&mut self, head: &Head) -> Result<&[u8]> {
        let start = head.start;
        match head.length {
            Length::Known(length) => {
                while self.received.len() < start + length {
                    self.read_more().await?;
                }
                Ok(&self.received[start..start + length])
            }
            Length::Chunked => {
                while !dechunk(&self.received[start..], &mut self.body)? {
                    self.read_more().await?;
                }
                Ok(&self.body)
            }
        }
    }

    async fn read_more(&mut self) -> Result<()> {
        let read = self.stream.read_buf(&mut self.received).await?;
        ensure!(read > 0, "the server closed the connection");
        Ok(())
    }
}

/// The head, once it is complete.
fn head(received: &[u8]) -> Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = response.parse(received)? else {
        return Ok(None);
    };
    let kind = value(response.headers, "content-type").unwrap_or_default();
    let length = match value(response.headers, "content-length") {
        Some(length) => Length::Known(std::str::from_utf8(length)?.parse()?),
        None => Length::Chunked,
    };
    Ok(Some(Head {
        status: response.code.unwrap_or_default(),
        is_json: kind.starts_with(b"application/json"),
        start,
        length,
    }))
}

fn value<'a>(headers: &[httparse::Header<'a>], name: &str) -> Option<&'a [u8]> {
    let mut headers = headers.iter();
    headers
        .find(|header| header.name.eq_ignore_ascii_case(name))
        .map(|header| header.value)
}

/// Joins the chunks into `body`; `false` while some are still to come.
fn dechunk(mut chunks: &[u8], body: &mut Vec<u8>) -> Result<bool> {
    body.clear();
    loop {
        let size = match httparse::parse_chunk_size(chunks) {
            Ok(httparse::Status::Complete(size)) => size,
            Ok(httparse::Status::Partial) => return Ok(false),
            Err(_) => bail!("a broken chunk"),
        };
        let (start, length) = (size.0, usize::try_from(size.1)?);
        let end = start + length;
        // Every chunk, the empty last one too, ends in a line break.
        if chunks.len() < end + 2 {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
        body.extend_from_slice(chunks.get(start..end).context("a broken chunk")?);
        chunks = &chunks[end + 2..];
    }
}
