//! An HTTP server that gives one response to everything and keeps the requests.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

#[derive(Debug, Clone, Copy)]
pub enum Response {
    Answer(u16, &'static str),
    /// Reads the whole request and closes the connection.
    HangUp,
    /// Reads the whole request and never answers.
    Hold,
}

pub struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub async fn start(response: Response) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                tokio::spawn(async move {
                    let Some(request) = read(&mut stream).await else {
                        return;
                    };
                    kept.lock().unwrap().push(request);
                    if let Response::Hold = response {
                        std::future::pending::<()>().await;
                    }
                    if let Response::Answer(status, body) = response {
                        let length = body.len();
                        let answer = format!(
                            "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                        );
                        let _ = stream.write_all(answer.as_bytes()).await;
                    }
                });
            }
        });
        Self { port, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub fn forget(&self) {
        self.requests.lock().unwrap().clear();
    }
}

async fn read(stream: &mut tokio::net::TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(end) = text.find("\r\n\r\n") {
            let head = text[..end].to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.trim().parse().unwrap());
            if bytes.len() >= end + 4 + length {
                return Some(text);
            }
        }
        match stream.read(&mut part).await.ok()? {
            0 => return None,
            count => bytes.extend_from_slice(&part[..count]),
        }
    }
}
