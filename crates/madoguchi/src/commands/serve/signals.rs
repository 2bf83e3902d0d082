//! What signals do: SIGTERM and Ctrl-C stop the desk, SIGHUP reloads its certificate.

use std::{sync::Arc, time::Duration};

use desk::Desk;
use kit::{Error, Result};
use server::transport::tls::Tls;

use crate::{locale::pick, output::tell};

/// How the program was asked to stop.
enum Stop {
    /// By a service manager: a load balancer may be in front.
    Terminate,
    /// By a person who waits.
    Interrupt,
}

impl Stop {
    /// As a shell reports a program that the signal ended.
    fn exit_code(&self) -> i32 {
        match self {
            Self::Terminate => 128 + 15,
            Self::Interrupt => 128 + 2,
        }
    }
}

/// Stops the desk at the first signal. A second one ends the program at once.
/// Listens from the call on: until then a signal would end the program.
pub fn stop(desk: &Arc<Desk>, has_page: bool) -> Result<()> {
    let mut signals = Signals::new()?;
    let desk = Arc::clone(desk);
    tokio::spawn(async move {
        let wait = match signals.next().await {
            Stop::Terminate => Duration::from_secs(desk.settings.http.drain_seconds),
            Stop::Interrupt => Duration::ZERO,
        };
        tracing::info!(
            drain_seconds = wait.as_secs(),
            "stopping after the calls in flight are answered"
        );
        if has_page {
            tell(pick(
                "\nStopping after the calls in flight are answered. Press Ctrl+C again to stop at once.",
                "\n処理中の呼び出しに応答してから終了します。すぐに終了するには、もう一度 Ctrl+C を押してください。",
            ));
        }
        tokio::spawn(async move { desk.drain(wait).await });
        let second = signals.next().await;
        tracing::warn!("stopped by a second signal; calls in flight are not answered");
        std::process::exit(second.exit_code());
    });
    Ok(())
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate()).map_err(Error::internal)?,
            interrupt: signal(SignalKind::interrupt()).map_err(Error::internal)?,
        })
    }

    async fn next(&mut self) -> Stop {
        tokio::select! {
            _ = self.terminate.recv() => Stop::Terminate,
            _ = self.interrupt.recv() => Stop::Interrupt,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Stop {
        drop(tokio::signal::ctrl_c().await);
        Stop::Interrupt
    }
}

/// Reloads the certificate on SIGHUP. Open connections keep the old one.
#[cfg(unix)]
pub fn reload(tls: Arc<Tls>) -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // Installed at once: until then the signal would end the program.
    let mut asked = signal(SignalKind::hangup()).map_err(Error::internal)?;
    tokio::spawn(async move {
        while asked.recv().await.is_some() {
            let tls = Arc::clone(&tls);
            let reloaded = tokio::task::spawn_blocking(move || tls.reload()).await;
            match reloaded.unwrap_or_else(|error| Err(Error::internal(error))) {
                Ok(()) => tracing::info!("TLS: the certificate was read again"),
                Err(error) => {
                    let what = error.text();
                    tracing::error!("TLS: the old certificate stays in use. {what}");
                }
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
pub fn reload(_: Arc<Tls>) -> Result<()> {
    Ok(())
}
