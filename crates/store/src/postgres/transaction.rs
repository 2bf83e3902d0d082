//! One PostgreSQL transaction, driven from a blocking thread.

use std::{future::Future, time::Duration};

use futures::future::try_join;
use kit::{Error, Param, Result, Row, sql::Budget};
use tokio::{runtime::Handle, time::timeout};

use super::{
    access::Access,
    error::{is_conflict, is_lost, is_stale, statement, unsure},
    pool::Client,
    value::row,
};
use crate::job::{self, Engine};

/// How long a commit may take before its outcome counts as unknown.
const COMMIT_LIMIT: Duration = Duration::from_secs(30);
const ROLLBACK_LIMIT: Duration = Duration::from_secs(2);

pub(super) struct Transaction {
    link: Link,
    progress: Progress,
}

struct Link {
    client: Client,
    handle: Handle,
    access: Access,
}

#[derive(Default)]
struct Progress {
    begun: bool,
    /// PostgreSQL asked for the transaction to be repeated.
    conflict: bool,
    /// The budget ended while a statement ran, so its answer is still pending.
    unanswered: bool,
}

/// How a write ended.
pub(super) enum End {
    Final(Result<()>),
    /// Rolled back; can be repeated on the same connection.
    Conflict(Client),
}

impl Transaction {
    pub fn new(client: Client, handle: Handle, access: Access) -> Self {
        Self {
            link: Link {
                client,
                handle,
                access,
            },
            progress: Progress::default(),
        }
    }

    /// Commits if the job succeeded, rolls back if not.
    pub fn end(self, outcome: Result<()>) -> End {
        let Self { link, progress } = self;
        match outcome {
            outcome if !progress.begun => End::Final(outcome),
            outcome if progress.unanswered => {
                link.discard();
                End::Final(outcome)
            }
            Ok(()) => link.commit(),
            Err(error) => link.roll_back(error, progress.conflict),
        }
    }

    /// Ends a read, without waiting for it.
    pub fn leave(self) {
        let Self { link, progress } = self;
        if progress.unanswered {
            link.discard();
        } else if progress.begun {
            let Link { client, handle, .. } = link;
            handle.spawn(async move {
                let end = timeout(ROLLBACK_LIMIT, client.batch_execute("COMMIT")).await;
                if !matches!(end, Ok(Ok(()))) {
                    drop(Client::take(client));
                }
            });
        }
    }
}

impl Engine for Transaction {
    fn query(&mut self, sql: &str, params: &[Param<'_>], budget: &Budget) -> Result<Vec<Row>> {
        let Self { link, progress } = self;
        let rows = link.wait(progress, budget, link.client.rows(sql, params))?;
        rows.iter().map(row).collect()
    }

    fn execute(&mut self, sql: &str, params: &[Param<'_>], budget: &Budget) -> Result<u64> {
        let Self { link, progress } = self;
        link.wait(progress, budget, link.client.changed(sql, params))
    }

    fn script(&mut self, text: &str, budget: &Budget) -> Result<()> {
        let Self { link, progress } = self;
        link.wait(progress, budget, link.client.batch_execute(text))
    }
}

impl Link {
    /// Waits for `work`; the first time, `BEGIN` is sent ahead of it without
    /// waiting for its answer.
    fn wait<T>(
        &self,
        progress: &mut Progress,
        budget: &Budget,
        work: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        let begun = std::mem::replace(&mut progress.begun, true);
        let answer = async {
            if begun {
                work.await
            } else {
                let begin = self.access.begin(self.client.is_pooled);
                let begin = self.client.batch_execute(begin);
                try_join(begin, work).await.map(|((), answer)| answer)
            }
        };
        let answer = self.handle.block_on(async {
            tokio::select! {
                biased;
                answer = answer => Ok(answer),
                over = job::exhausted(budget) => Err(over),
            }
        });
        match answer {
            Ok(answer) => answer.map_err(|error| {
                progress.conflict = is_conflict(&error);
                // The next attempt may use another connection with the same statement.
                if is_stale(&error)
                    && let Some(pool) = Client::pool(&self.client)
                {
                    pool.manager().tables_changed();
                }
                statement(&error, self.access)
            }),
            Err(over) => {
                progress.unanswered = true;
                Err(over)
            }
        }
    }

    fn commit(self) -> End {
        match self.finish("COMMIT", COMMIT_LIMIT) {
            Some(Ok(())) => End::Final(Ok(())),
            Some(Err(error)) if is_conflict(&error) => End::Conflict(self.client),
            Some(Err(error)) if is_lost(&error) => End::Final(Err(unsure(error.to_string()))),
            Some(Err(error)) => End::Final(Err(statement(&error, self.access))),
            None => {
                self.discard();
                End::Final(Err(unsure("no answer to COMMIT")))
            }
        }
    }

    fn roll_back(self, error: Error, conflict: bool) -> End {
        match self.finish("ROLLBACK", ROLLBACK_LIMIT) {
            Some(Ok(())) if conflict => End::Conflict(self.client),
            Some(Ok(())) => End::Final(Err(error)),
            _ => {
                self.discard();
                End::Final(Err(error))
            }
        }
    }

    /// `None` when there was no answer in time.
    fn finish(&self, sql: &str, limit: Duration) -> Option<Result<(), tokio_postgres::Error>> {
        self.handle
            .block_on(async { timeout(limit, self.client.batch_execute(sql)).await.ok() })
    }

    /// Cancels the running statement and drops the connection, so that the late end of
    /// one job never affects the next.
    fn discard(self) {
        let (cancel, tls) = (self.client.cancel_token(), self.client.tls());
        let client = Client::take(self.client);
        self.handle.spawn(async move {
            let _ = timeout(ROLLBACK_LIMIT, cancel.cancel_query(tls)).await;
            drop(client);
        });
    }
}
