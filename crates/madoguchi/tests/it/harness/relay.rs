//! Brings a key along for a client that can't send one.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// Stops when it goes out of scope.
pub struct Relay {
    pub port: u16,
    task: JoinHandle<()>,
}

impl Relay {
    /// Passes requests on to a port of this machine, each with the key.
    pub async fn start(to: u16, key: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let key = key.to_owned();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let key = key.clone();
                tokio::spawn(async move { pass_on(client, to, &key).await });
            }
        });
        Self { port, task }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One request a connection, so that each has a head that the key can join.
async fn pass_on(mut client: TcpStream, to: u16, key: &str) -> Option<()> {
    let mut read = Vec::new();
    let end = loop {
        if client.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
        let end = read.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        if let Some(end) = end {
            break end;
        }
    };
    let body = read.split_off(end + 4);
    let head = String::from_utf8(read).ok()?;
    let lines = head.trim_end().lines();
    let kept = lines.filter(|line| !line.to_lowercase().starts_with("connection:"));
    let mut head: Vec<&str> = kept.collect();
    let key = format!("authorization: Bearer {key}");
    head.extend(["connection: close", &key, "", ""]);
    let mut desk = TcpStream::connect(("127.0.0.1", to)).await.ok()?;
    desk.write_all(head.join("\r\n").as_bytes()).await.ok()?;
    desk.write_all(&body).await.ok()?;
    copy_bidirectional(&mut client, &mut desk).await.ok()?;
    Some(())
}
