//! Asks a desk on this machine how it is, without knowing its certificate or a key.

use std::{io, net::SocketAddr, time::Duration};

use server::transport::tls::SPEAKS_HTTPS;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

const TIME_LIMIT: Duration = Duration::from_secs(2);
/// Something else may listen there, and send without end.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// What a listener answered.
pub struct Answer(String);

impl Answer {
    /// Whether the answer is the one that a desk in order gives. A desk with TLS only
    /// tells clients without TLS to use https, which at least shows that it runs.
    pub fn is_good(&self) -> bool {
        self.0.starts_with("HTTP/1.1 200") || self.0.contains(SPEAKS_HTTPS)
    }

    pub fn body(&self) -> &str {
        let body = self.0.split_once("\r\n\r\n").map(|(_, body)| body);
        body.unwrap_or_default().trim()
    }
}

pub async fn get(address: SocketAddr, path: &str) -> io::Result<Answer> {
    let ask = async {
        let mut stream = TcpStream::connect(address).await?;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        let mut limited = stream.take(LONGEST_ANSWER);
        limited.read_to_end(&mut answer).await?;
        Ok(Answer(String::from_utf8_lossy(&answer).into_owned()))
    };
    timeout(TIME_LIMIT, ask).await?
}
