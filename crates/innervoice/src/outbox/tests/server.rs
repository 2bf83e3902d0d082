//! An HTTP server that answers in one way, and keeps what it was sent.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

#[derive(Debug, Clone, Copy)]
pub enum Way {
    Answer(u16, &'static str),
    /// Takes the whole request and says nothing.
    HangUp,
    /// Takes the whole request and keeps silent.
    Hold,
}

pub struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub async fn start(way: Way) -> Self {
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
                    if let Way::Hold = way {
                        std::future::pending::<()>().await;
                    }
                    if let Way::Answer(status, body) = way {
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
