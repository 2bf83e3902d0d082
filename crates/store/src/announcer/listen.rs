//! Announcements by `NOTIFY` and `LISTEN`, on one connection.

use std::{future::poll_fn, sync::atomic::Ordering, time::Duration};

use kit::{Announcement, Result, announcement::LocalAnnouncements};
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, types::Type};

use super::state::{AnnouncerState, CHANNEL};
use crate::{
    failure,
    postgres::{Connector, Driver, connecting, is_pooled},
};

/// How long announcements are collected after some were sent.
const COLLECT: Duration = Duration::from_millis(2);
/// How often the connection is tried when nothing else is sent: one that only listens
/// would not notice a server that is gone.
const PROBE: Duration = Duration::from_secs(10);
/// A statement without an answer for this long means that the server is gone.
const ANSWER: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Why listening ended for good.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Stopped,
    /// `LISTEN` has no effect behind a pooler.
    Pooled,
}

impl Ended {
    pub fn is_pooled(self) -> bool {
        self == Self::Pooled
    }
}

/// Listens and announces until it is stopped; reconnects as often as needed.
pub(super) async fn run(
    connector: &Connector,
    state: &AnnouncerState,
    local: &LocalAnnouncements,
) -> Ended {
    let mut pause = FIRST_PAUSE;
    loop {
        let connected = tokio::select! {
            biased;
            connected = connect(connector) => connected,
            // What was announced by then is sent first.
            () = state.stop.cancelled(), if state.is_empty() => return Ended::Stopped,
        };
        match connected {
            Ok(None) => return Ended::Pooled,
            Ok(Some((client, driver))) => {
                pause = FIRST_PAUSE;
                let ended = session(&client, driver, state, local).await;
                state.is_listening.store(false, Ordering::Relaxed);
                match ended {
                    Ok(()) => return Ended::Stopped,
                    Err(error) => {
                        tracing::debug!(cause = ?error.cause, "listening was interrupted")
                    }
                }
            }
            Err(error) => {
                tracing::debug!(cause = ?error.cause, "listening is not possible yet");
            }
        }
        tokio::select! {
            biased;
            () = state.stop.cancelled() => return Ended::Stopped,
            () = sleep(pause.mul_f64(rand::random_range(0.5..1.0))) => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Whether a direct connection can be made; `false` behind a pooler.
pub(super) async fn check(connector: &Connector) -> Result<bool> {
    let connected = connect(connector).await?;
    Ok(connected.is_some())
}

/// A connection, and the task that drives it; `None` behind a pooler.
async fn connect(connector: &Connector) -> Result<Option<(Client, Driver)>> {
    let (client, mut driver) = connector.connect().await?;
    let ended = async { while let Some(Ok(_)) = poll_fn(|cx| driver.poll_message(cx)).await {} };
    let pooled = tokio::select! {
        pooled = is_pooled(&client) => pooled,
        () = ended => return Err(failure::unreachable("the connection ended")),
        () = sleep(ANSWER) => return Err(failure::unreachable("no answer in time")),
    };
    let pooled = pooled.map_err(|error| connecting(&error))?;
    Ok((!pooled).then_some((client, driver)))
}

/// One connection from its first to its last statement. `Ok` when it was stopped.
async fn session(
    client: &Client,
    mut driver: Driver,
    state: &AnnouncerState,
    local: &LocalAnnouncements,
) -> Result<()> {
    let receive = async {
        while let Some(message) = poll_fn(|cx| driver.poll_message(cx)).await {
            match message {
                Ok(AsyncMessage::Notification(sent)) => state.hand_on(sent.payload(), local),
                Ok(_) => {}
                Err(error) => return connecting(&error),
            }
        }
        failure::unreachable("the connection ended")
    };
    let send = async {
        let begin = format!("LISTEN {CHANNEL}");
        answered(client.batch_execute(&begin)).await?;
        // Announcements may have been made before this moment.
        state.is_listening.store(true, Ordering::Relaxed);
        local.send(Announcement::Missed);
        loop {
            let stopped = tokio::select! {
                () = state.added.notified() => false,
                () = sleep(PROBE) => false,
                () = state.stop.cancelled() => true,
            };
            announce(client, state).await?;
            if stopped {
                return Ok(());
            }
            sleep(COLLECT).await;
        }
    };
    tokio::select! {
        error = receive => Err(error),
        ended = send => ended,
    }
}

/// Tells the others what waits; only asks for an answer when nothing does.
async fn announce(client: &Client, state: &AnnouncerState) -> Result<()> {
    let topics = state.take();
    if topics.is_empty() {
        return answered(client.batch_execute("SELECT 1")).await;
    }
    for message in state.messages(&topics) {
        let statement = "SELECT pg_notify($1, $2)";
        let params: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 2] =
            [(&CHANNEL, Type::TEXT), (&message, Type::TEXT)];
        if let Err(error) = answered(client.execute_typed(statement, &params)).await {
            state.put_back(topics);
            return Err(error);
        }
    }
    Ok(())
}

async fn answered<T>(
    statement: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
) -> Result<()> {
    match timeout(ANSWER, statement).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(connecting(&error)),
        Err(_) => Err(failure::unreachable("no answer in time")),
    }
}
