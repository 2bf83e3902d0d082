//! Finds the events that the server does not have yet, and keeps the outcomes.

use kit::{Result, Sql, sql::Budget};

use super::remote_calendar::Server;
use crate::{
    calendar_file::PAST_MS,
    store::caldav::{self, Outcome},
    worker::{Worker, pause_after},
};

/// The lease only saves work: every request carries a condition, so two processes
/// that write the same event do no harm.
const LEASE: &str = "innervoice-caldav";
const BATCH: i64 = 8;

impl Worker {
    /// Writes every change to the server until it is stopped.
    pub async fn sync_calendar(self) {
        if let Some(server) = &self.state.caldav {
            self.repeat(LEASE, || self.sync_round(server)).await;
        }
    }

    async fn sync_round(&self, server: &Server) -> Result<()> {
        let now = self.now();
        let read = move |sql: &mut dyn Sql| caldav::due(sql, now, now - PAST_MS, BATCH);
        for due in self.store().query(Budget::default(), read).await? {
            if !self.holds(LEASE).await? || self.stop.is_cancelled() {
                return Ok(());
            }
            let outcome = server.write_event(&due).await;
            let event = due.event.id.as_str();
            match &outcome {
                Outcome::Done { .. } => {}
                Outcome::Conflict(..) => tracing::warn!(
                    event,
                    "CalDAV: somebody else changed the copy on the server; it is not overwritten"
                ),
                Outcome::Retry(why) => tracing::warn!(event, "CalDAV: {why} It is retried."),
            }
            let next = self.now() + pause_after(due.attempts + 1);
            let settle = move |sql: &mut dyn Sql| caldav::settle(sql, &due, &outcome, next);
            self.store().transaction(Budget::default(), settle).await?;
        }
        Ok(())
    }
}
