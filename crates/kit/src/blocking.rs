//! Runs work that waits for a disk or keeps a processor busy on separate threads,
//! never on those that serve connections. Each thread takes memory, so a counter has
//! a limited number of them; further work waits for a free one.

use std::sync::Arc;

use tokio::{
    sync::Semaphore,
    task::{JoinError, spawn_blocking},
};

use crate::error::{Error, Result};

#[derive(Clone)]
pub struct Blocking {
    threads: Arc<Semaphore>,
}

impl Blocking {
    /// With at most this many threads.
    pub fn new(threads: usize) -> Self {
        Self {
            threads: Arc::new(Semaphore::new(threads)),
        }
    }

    /// Work that has begun continues when the future is dropped. A panic is passed
    /// on to the caller.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let thread = Arc::clone(&self.threads).acquire_owned().await;
        let done = spawn_blocking(move || {
            let _thread = thread;
            work()
        });
        done.await.unwrap_or_else(ended)
    }

    /// Runs work that nobody waits for. Does nothing without a runtime.
    pub fn run_later(&self, work: impl FnOnce() + Send + 'static) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let this = self.clone();
        runtime.spawn(async move {
            let done = this.run(move || {
                work();
                Ok(())
            });
            let _ = done.await;
        });
    }
}

fn ended<T>(error: JoinError) -> Result<T> {
    match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => Err(Error::internal(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use futures::FutureExt;

    use super::*;

    #[test]
    fn the_number_of_threads_is_limited() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let blocking = Blocking::new(1);
            let (release, released) = mpsc::channel::<()>();
            let this = blocking.clone();
            let first = tokio::spawn(async move {
                this.run(move || {
                    let _ = released.recv_timeout(Duration::from_secs(60));
                    Ok(1)
                })
                .await
            });
            tokio::task::yield_now().await;
            let mut second = Box::pin(blocking.run(|| Ok(2)));
            assert!((&mut second).now_or_never().is_none());
            assert_eq!(blocking.threads.available_permits(), 0);
            release.send(()).unwrap();
            assert_eq!(first.await.unwrap().unwrap(), 1);
            assert_eq!(second.await.unwrap(), 2);
        });
    }
}
