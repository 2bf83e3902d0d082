//! Requests that have begun and not ended. Small ones, nearly all there are, are
//! read without asking. A larger one waits for its part of a budget, so that
//! many at once do not take the memory of all.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Sleep,
};

use super::connections::{OpenConnection, Standing};

/// As much of a request is read without asking.
pub const SMALL: usize = 8 * 1024;

/// What all larger requests together may hold, for callers with a key and for
/// all others apart: strangers keep no key holder waiting.
const BUDGET: usize = 4 * 1024 * 1024;

/// What is read of a large request at a time. The HTTP library doubles its
/// buffer when a read fills the 8 KiB that it begins with, and keeps it.
const MOST_AT_ONCE: usize = 8 * 1024 - 1;

/// A request's part of the budget, until it is dropped.
pub type Leave = OwnedSemaphorePermit;

/// The budgets of a desk.
#[derive(Clone)]
pub struct Budgets {
    with_key: Arc<Semaphore>,
    without_key: Arc<Semaphore>,
}

impl Default for Budgets {
    fn default() -> Self {
        let budget = || Arc::new(Semaphore::new(BUDGET));
        Self {
            with_key: budget(),
            without_key: budget(),
        }
    }
}

impl Budgets {
    /// Waits until so many bytes are to be had; a request that may become larger
    /// than the budget takes all of it.
    async fn leave(self, has_key: bool, bytes: usize) -> Option<Leave> {
        let budget = if has_key {
            self.with_key
        } else {
            self.without_key
        };
        let bytes = u32::try_from(bytes.min(BUDGET)).ok()?;
        budget.acquire_many_owned(bytes).await.ok()
    }
}

/// The request that a connection is reading.
pub struct Unfinished {
    budgets: Budgets,
    state: Mutex<State>,
}

struct State {
    /// Read of it so far.
    bytes: usize,
    /// How large it may become.
    most: usize,
    leave: Option<Leave>,
}

impl Unfinished {
    /// The first thing to come may become as large as `most`.
    pub fn new(budgets: Budgets, most: usize) -> Self {
        let state = State {
            bytes: 0,
            most,
            leave: None,
        };
        Self {
            budgets,
            state: Mutex::new(state),
        }
    }

    /// What was read so far is whole: a head, a body, a message. Returns its part
    /// of the budget, to hold until it is answered. What comes next may become
    /// as large as `next`.
    pub fn end(&self, next: usize) -> Option<Leave> {
        let mut state = self.state();
        state.bytes = 0;
        state.most = next;
        state.leave.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that reads no more than it has leave for. A request that has
/// leave and does not end within the limit breaks the connection.
pub struct ReadBudget<S> {
    inner: S,
    open: Arc<OpenConnection>,
    limit: Duration,
    asking: Option<BoxFuture<'static, Option<Leave>>>,
    /// Runs while a large request is waited for.
    overdue: Option<Pin<Box<Sleep>>>,
}

impl<S> ReadBudget<S> {
    pub fn new(inner: S, open: Arc<OpenConnection>, limit: Duration) -> Self {
        Self {
            inner,
            open,
            limit,
            asking: None,
            overdue: None,
        }
    }

    /// Ready once something may be read; an error when the request took too long.
    fn poll_leave(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let most = {
            let state = self.open.unfinished.state();
            if state.leave.is_none() && state.bytes < SMALL {
                (self.overdue, self.asking) = (None, None);
                return Poll::Ready(Ok(()));
            }
            state.leave.is_none().then_some(state.most)
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
        let asking = self.asking.get_or_insert_with(|| {
            let budgets = open.unfinished.budgets.clone();
            Box::pin(budgets.leave(open.is(Standing::Identified), most))
        });
        let leave = ready!(asking.as_mut().poll(context));
        self.asking = None;
        self.open.unfinished.state().leave = leave;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ReadBudget<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_leave(context))?;
        let before = buffer.filled().len();
        let most = match self.overdue {
            Some(_) => MOST_AT_ONCE,
            None => SMALL,
        };
        if buffer.remaining() > most {
            let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
            ready!(Pin::new(&mut self.inner).poll_read(context, &mut part))?;
            let read = part.filled().len();
            buffer.advance(read);
        } else {
            ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        }
        self.open.unfinished.state().bytes += buffer.filled().len() - before;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ReadBudget<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use futures::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;
    use crate::transport::connections::Connections;
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
    ) -> (ReadBudget<DuplexStream>, DuplexStream, Arc<OpenConnection>) {
        let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let open = Arc::new(connections.enter(peer, false));
        drop(open.unfinished.end(most));
        let (near, far) = tokio::io::duplex(1024 * 1024);
        (ReadBudget::new(near, Arc::clone(&open), limit), far, open)
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
        let leave = open.unfinished.end(BUDGET);
        assert!(second.read_exact(rest).now_or_never().is_none());
        drop(leave);
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
            assert!(open.unfinished.end(BUDGET).is_none());
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

    #[tokio::test]
    async fn those_without_a_key_keep_nobody_with_one_waiting() {
        let budgets = Budgets::default();
        let all = budgets.clone().leave(false, BUDGET).await;
        assert!(budgets.clone().leave(false, 1).now_or_never().is_none());
        assert!(budgets.clone().leave(true, 1).now_or_never().is_some());
        drop(all);
        assert!(budgets.leave(false, 1).now_or_never().is_some());
    }
}
