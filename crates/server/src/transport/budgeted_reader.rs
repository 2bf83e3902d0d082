//! Reads requests within the memory that they share. Small requests, nearly all
//! there are, never wait.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::{
    io::{AsyncRead, ReadBuf},
    time::Sleep,
};

use super::{
    connections::OpenConnection,
    layered::Layer,
    request_budget::{BudgetPermit, SMALL},
};

/// What is read of a large request at a time. The HTTP library doubles its
/// buffer when a read fills the 8 KiB that it begins with, and keeps it.
const MOST_AT_ONCE: usize = 8 * 1024 - 1;

/// Waits for a permit before it reads on in a large request. Reading fails when
/// such a request does not end within the limit.
pub struct BudgetedReader {
    open: Arc<OpenConnection>,
    limit: Duration,
    acquiring: Option<BoxFuture<'static, Option<BudgetPermit>>>,
    /// Runs until a large request has ended.
    overdue: Option<Pin<Box<Sleep>>>,
}

impl BudgetedReader {
    pub fn new(open: Arc<OpenConnection>, limit: Duration) -> Self {
        Self {
            open,
            limit,
            acquiring: None,
            overdue: None,
        }
    }

    /// Ready once something may be read; an error when the request took too long.
    fn poll_permit(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let most = {
            let progress = self.open.request.progress();
            if progress.permit.is_none() && progress.bytes < SMALL {
                (self.overdue, self.acquiring) = (None, None);
                return Poll::Ready(Ok(()));
            }
            progress.permit.is_none().then_some(progress.most)
        };
        let limit = self.limit;
        let overdue = self
            .overdue
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        if overdue.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let Some(most) = most else {
            return Poll::Ready(Ok(()));
        };
        let open = &self.open;
        let acquiring = self.acquiring.get_or_insert_with(|| {
            let budgets = open.request.budgets.clone();
            Box::pin(budgets.acquire(open.has_key(), most))
        });
        let permit = ready!(acquiring.as_mut().poll(context));
        self.acquiring = None;
        self.open.request.progress().permit = permit;
        Poll::Ready(Ok(()))
    }
}

impl Layer for BudgetedReader {
    fn poll_read<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_permit(context))?;
        let before = buffer.filled().len();
        let most = match self.overdue {
            Some(_) => MOST_AT_ONCE,
            None => SMALL,
        };
        if buffer.remaining() > most {
            let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
            ready!(Pin::new(stream).poll_read(context, &mut part))?;
            let read = part.filled().len();
            buffer.advance(read);
        } else {
            ready!(Pin::new(stream).poll_read(context, buffer))?;
        }
        self.open.request.progress().bytes += buffer.filled().len() - before;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use futures::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;
    use crate::transport::{connections::Connections, layered::Layered, request_budget::BUDGET};
    use desk::{metrics::Metrics, settings::Settings};

    const MINUTE: Duration = Duration::from_secs(60);

    fn connections() -> Arc<Connections> {
        Connections::new(&Settings::default(), &Metrics::new())
    }

    /// A connection without a key, whose requests become as large as `most`.
    fn connect(
        connections: &Arc<Connections>,
        most: usize,
        limit: Duration,
    ) -> (
        Layered<DuplexStream, BudgetedReader>,
        DuplexStream,
        Arc<OpenConnection>,
    ) {
        let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let open = Arc::new(connections.enter(peer, false, None));
        drop(open.request.end(most));
        let (near, far) = tokio::io::duplex(1024 * 1024);
        (
            Layered::new(near, BudgetedReader::new(Arc::clone(&open), limit)),
            far,
            open,
        )
    }

    #[tokio::test]
    async fn a_large_request_waits_until_another_has_ended() {
        let connections = connections();
        let (mut first, mut to_first, open) = connect(&connections, BUDGET, MINUTE);
        let (mut second, mut to_second, _open) = connect(&connections, BUDGET, MINUTE);
        let large = vec![1; 3 * SMALL];
        to_first.write_all(&large).await.unwrap();
        to_second.write_all(&large).await.unwrap();
        let mut read = vec![0; 3 * SMALL];
        first.read_exact(&mut read).await.unwrap();
        second.read_exact(&mut read[..SMALL]).await.unwrap();
        let rest = &mut read[SMALL..];
        assert!(second.read_exact(rest).now_or_never().is_none());
        let permit = open.request.end(BUDGET);
        assert!(second.read_exact(rest).now_or_never().is_none());
        drop(permit);
        second.read_exact(rest).await.unwrap();
    }

    #[tokio::test]
    async fn small_requests_never_wait() {
        let connections = connections();
        let (mut first, mut to_first, _open) = connect(&connections, BUDGET, MINUTE);
        to_first.write_all(&[1; 3 * SMALL]).await.unwrap();
        first.read_exact(&mut [0; 3 * SMALL]).await.unwrap();
        let (mut second, mut to_second, open) = connect(&connections, BUDGET, MINUTE);
        for _ in 0..10 {
            to_second.write_all(&[1; SMALL]).await.unwrap();
            second.read_exact(&mut [0; SMALL]).await.unwrap();
            assert!(open.request.end(BUDGET).is_none());
        }
    }

    #[tokio::test]
    async fn a_large_request_that_does_not_end_breaks_the_connection() {
        let connections = connections();
        let limit = Duration::from_millis(1);
        let (mut near, mut far, _open) = connect(&connections, BUDGET, limit);
        far.write_all(&[1; 3 * SMALL]).await.unwrap();
        near.read_exact(&mut [0; 2 * SMALL]).await.unwrap();
        let error = near.read_exact(&mut [0; 2 * SMALL]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
