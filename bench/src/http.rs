//! One keep-alive HTTP/1.1 connection, no more than the load generator needs.

use anyhow::{Context as _, Result, bail, ensure};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

const HEADERS: usize = 32;

pub struct Connection {
    stream: TcpStream,
    /// What has arrived of the current answer.
    received: Vec<u8>,
    body: Vec<u8>,
}

/// How the head of an answer says where its body ends.
enum Length {
    Known(usize),
    Chunked,
}

impl Connection {
    pub async fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            received: Vec::with_capacity(16 * 1024),
            body: Vec::new(),
        })
    }

    /// Sends a whole request and returns the body of its answer, which must have
    /// this status.
    pub async fn exchange(&mut self, request: &str, status: u16) -> Result<&[u8]> {
        self.stream.write_all(request.as_bytes()).await?;
        self.received.clear();
        loop {
            let read = self.stream.read_buf(&mut self.received).await?;
            ensure!(read > 0, "the server closed the connection");
            let Some((start, length)) = head(&self.received, status)? else {
                continue;
            };
            match length {
                Length::Known(length) => {
                    while self.received.len() < start + length {
                        let read = self.stream.read_buf(&mut self.received).await?;
                        ensure!(read > 0, "the server closed the connection");
                    }
                    return Ok(&self.received[start..start + length]);
                }
                Length::Chunked => {
                    while !dechunk(&self.received[start..], &mut self.body)? {
                        let read = self.stream.read_buf(&mut self.received).await?;
                        ensure!(read > 0, "the server closed the connection");
                    }
                    return Ok(&self.body);
                }
            }
        }
    }
}

/// Where the body starts and how long it is, once the head is complete.
fn head(received: &[u8], wanted: u16) -> Result<Option<(usize, Length)>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = response.parse(received)? else {
        return Ok(None);
    };
    let status = response.code.unwrap_or_default();
    if status != wanted {
        bail!("HTTP {status}: {}", String::from_utf8_lossy(received));
    }
    let value = |name: &str| {
        let mut headers = response.headers.iter();
        headers
            .find(|header| header.name.eq_ignore_ascii_case(name))
            .map(|header| header.value)
    };
    let kind = value("content-type").unwrap_or_default();
    ensure!(
        kind.starts_with(b"application/json"),
        "an answer of type {}",
        String::from_utf8_lossy(kind)
    );
    let length = match value("content-length") {
        Some(length) => Length::Known(std::str::from_utf8(length)?.parse()?),
        None => Length::Chunked,
    };
    Ok(Some((start, length)))
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
