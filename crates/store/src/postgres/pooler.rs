//! Recognises a pooler such as PgBouncer between us and PostgreSQL.
//!
//! A pooler may run every transaction on another server process. So nothing may be
//! left in the session: a prepared statement would be missing later, or worse, be
//! another client's of the same name. A pooler gives each client a process number of its own
//! making; PostgreSQL itself gives the number of the process that serves it.

use std::{
    convert::Infallible,
    future::{Ready, ready},
};

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio_postgres::{CancelToken, Client, SimpleQueryMessage, tls::TlsConnect};

use super::tls::Encrypted;

/// Whether the process that answers is another than the one that was announced.
pub(crate) async fn is_pooled(client: &Client) -> Result<bool, tokio_postgres::Error> {
    let answer = client.simple_query("SELECT pg_backend_pid()").await?;
    let answering = answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse::<i32>().ok(),
        _ => None,
    });
    let announced = announced(&client.cancel_token()).await;
    Ok(answering.is_none() || answering != announced)
}

/// The process number from the start of the connection. The driver keeps it to itself
/// but for requests to cancel, so one is written into a buffer and read from there.
async fn announced(token: &CancelToken) -> Option<i32> {
    let (near, mut far) = duplex(64);
    // The answer to a request for TLS, which comes first unless TLS is off.
    far.write_all(b"S").await.ok()?;
    token.cancel_query_raw(near, NoHandshake).await.ok()?;
    let mut written = Vec::new();
    far.read_to_end(&mut written).await.ok()?;
    // At the end: the process number and its secret.
    let (_, end) = written.split_last_chunk::<8>()?;
    let (number, _) = end.split_first_chunk::<4>()?;
    Some(i32::from_be_bytes(*number))
}

/// Takes a buffer for an encrypted stream.
struct NoHandshake;

impl TlsConnect<DuplexStream> for NoHandshake {
    type Stream = Encrypted<DuplexStream>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Stream, Infallible>>;

    fn connect(self, stream: DuplexStream) -> Self::Future {
        ready(Ok(Encrypted {
            stream,
            end_point: None,
        }))
    }
}
