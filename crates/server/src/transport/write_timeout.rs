//! Ends a connection whose peer stops reading. Writing to it fails after a
//! while, so that its answers are not kept and its place becomes free.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::Sleep;

use super::layered::Layer;

pub struct WriteTimeout {
    limit: Duration,
    /// Runs while the peer takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl WriteTimeout {
    pub fn new(limit: Duration) -> Self {
        Self {
            limit,
            stalled: None,
        }
    }
}

impl Layer for WriteTimeout {
    /// An error when nothing could be written for as long as the limit.
    fn poll_written<T>(
        &mut self,
        attempt: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if attempt.is_ready() {
            self.stalled = None;
            return attempt;
        }
        let limit = self.limit;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::transport::layered::Layered;

    #[tokio::test]
    async fn a_peer_that_stops_reading_is_an_error() {
        let (near, mut far) = tokio::io::duplex(8);
        let mut near = Layered::new(near, WriteTimeout::new(Duration::from_secs(600)));
        let (written, read) = tokio::join!(
            async {
                near.write_all(&[1; 80]).await?;
                near.shutdown().await
            },
            async { far.read_to_end(&mut Vec::new()).await },
        );
        written.unwrap();
        assert_eq!(read.unwrap(), 80);

        let (near, _far) = tokio::io::duplex(8);
        let mut near = Layered::new(near, WriteTimeout::new(Duration::from_millis(1)));
        near.write_all(&[1; 8]).await.unwrap();
        let error = near.write_all(&[1]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
