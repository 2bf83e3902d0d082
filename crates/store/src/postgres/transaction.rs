//! One PostgreSQL transaction, driven from a blocking thread.

use std::{future::Future, time::Duration};

use futures::future::try_join;
use kit::{
    Error, Param, Result, Row,
    sql::{Budget, Statement},
};
use tokio::{runtime::Handle, time::timeout};
use tokio_postgres::SimpleQueryMessage;

use super::{
    access::Access,
    commits::Mark,
    error::{chain, is_conflict, is_lost, is_read_only, is_stale, statement},
    pool::Client,
    primary::Primary,
    value::row,
};
use crate::{
    failure,
    job::{self, Engine},
};

/// How long a commit may take before its outcome counts as unknown.
const COMMIT_LIMIT: Duration = Duration::from_secs(30);
const ROLLBACK_LIMIT: Duration = Duration::from_secs(2);
/// How often a read whose first statement met a dead connection tries another one.
const RECONNECTIONS: u32 = 2;
/// How long that may take. The caller's thread waits meanwhile.
const RECONNECT_LIMIT: Duration = Duration::from_secs(2);

pub(super) struct Transaction {
    link: Link,
    progress: Progress,
}

struct Link {
    client: Client,
    handle: Handle,
    access: Access,
    primary: Primary,
    /// What marks the transaction as committed.
    mark: Option<String>,
}

#[derive(Default)]
struct Progress {
    begun: bool,
    /// PostgreSQL asked for the transaction to be repeated.
    conflict: bool,
    /// The answer to a statement is still pending: the budget ended, or the server
    /// does not answer at all.
    unanswered: bool,
    /// The server, or the connection to it, has gone.
    lost: bool,
    /// The server takes no writes.
    read_only: bool,
}

/// How a write ended.
pub(super) enum End {
    Final(Result<()>),
    /// Rolled back; can be repeated on the same connection.
    Conflict(Client),
    /// The server has gone before COMMIT was sent, so nothing was committed.
    Lost(Error),
    /// The server takes no writes.
    ReadOnly(Error),
    /// COMMIT was sent, and the answer is missing, for this reason.
    Unsure(String),
}

impl Transaction {
    pub fn read(client: Client, handle: Handle, primary: Primary) -> Self {
        Self::new(client, handle, primary, Access::Read, None)
    }

    pub fn write(client: Client, handle: Handle, primary: Primary, mark: Option<&Mark>) -> Self {
        Self::new(client, handle, primary, Access::Write, mark)
    }

    fn new(
        client: Client,
        handle: Handle,
        primary: Primary,
        access: Access,
        mark: Option<&Mark>,
    ) -> Self {
        Self {
            link: Link {
                client,
                handle,
                access,
                primary,
                mark: mark.map(Mark::statement),
            },
            progress: Progress::default(),
        }
    }

    /// Begins, and returns whether an earlier transaction with this mark was committed.
    /// Waits while that is undecided.
    pub fn was_committed(&mut self, mark: &Mark, budget: &Budget) -> Result<bool> {
        let Self { link, progress } = self;
        progress.begun = true;
        let begin = async {
            let messages = link.client.simple_query(&link.begin()).await?;
            let count = |message: &SimpleQueryMessage| match message {
                SimpleQueryMessage::CommandComplete(rows) => Some(*rows),
                _ => None,
            };
            let changed: u64 = messages.iter().filter_map(count).sum();
            if changed == 0 {
                link.client.batch_execute(&mark.confirmation()).await?;
            }
            Ok(changed == 0)
        };
        link.wait(progress, budget, begin)
    }

    /// Commits if the job succeeded, rolls back if not.
    pub fn end(self, outcome: Result<()>) -> End {
        let Self { link, progress } = self;
        match outcome {
            outcome if !progress.begun => End::Final(outcome),
            Err(error) if progress.lost => {
                link.primary.drop_idle();
                link.discard();
                End::Lost(error)
            }
            Err(error) if progress.read_only => {
                link.primary.drop_idle();
                link.discard();
                End::ReadOnly(error)
            }
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
        if progress.unanswered || progress.lost {
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

    /// Runs a statement. If it is the first of a read and its connection is dead, as all
    /// connections are after a restart of the server, tries another one.
    fn run<T>(
        &mut self,
        budget: &Budget,
        work: impl AsyncFn(&Link) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        let can_reconnect = self.link.access == Access::Read && !self.progress.begun;
        let mut attempt = 0;
        loop {
            let Self { link, progress } = self;
            let answer = link.wait(progress, budget, work(link));
            let is_dead = progress.lost && !progress.unanswered;
            if !(can_reconnect && is_dead && attempt < RECONNECTIONS && self.reconnect()) {
                return answer;
            }
            attempt += 1;
        }
    }

    fn reconnect(&mut self) -> bool {
        let link = &mut self.link;
        link.primary.drop_idle();
        let fresh = async { timeout(RECONNECT_LIMIT, link.primary.connection()).await };
        let Ok(Some(fresh)) = link.handle.block_on(fresh) else {
            return false;
        };
        drop(Client::take(std::mem::replace(&mut link.client, fresh)));
        self.progress = Progress::default();
        true
    }
}

impl Engine for Transaction {
    const HAS_OTHER_WRITERS: bool = true;

    fn query(&mut self, sql: &str, params: &[Param<'_>], budget: &Budget) -> Result<Vec<Row>> {
        let rows = self.run(budget, async |link: &Link| {
            link.client.rows(sql, params).await
        })?;
        rows.iter().map(row).collect()
    }

    fn query_all(
        &mut self,
        statements: &[Statement<'_>],
        budget: &Budget,
    ) -> Result<Vec<Vec<Row>>> {
        let answers = self.run(budget, async |link: &Link| {
            link.client.rows_of_all(statements).await
        })?;
        let answers = answers.iter();
        answers.map(|rows| rows.iter().map(row).collect()).collect()
    }

    fn execute(&mut self, sql: &str, params: &[Param<'_>], budget: &Budget) -> Result<u64> {
        self.run(budget, async |link: &Link| {
            link.client.changed(sql, params).await
        })
    }

    fn script(&mut self, text: &str, budget: &Budget) -> Result<()> {
        self.run(budget, async |link: &Link| {
            link.client.batch_execute(text).await
        })
    }
}

impl Link {
    /// What begins the transaction.
    fn begin(&self) -> String {
        let begin = self.access.begin(self.client.is_pooled);
        match &self.mark {
            Some(mark) => format!("{begin}; {mark}"),
            None => begin.to_owned(),
        }
    }

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
                let begin = self.begin();
                let begin = self.client.batch_execute(&begin);
                try_join(begin, work).await.map(|((), answer)| answer)
            }
        };
        let answer = self.handle.block_on(async {
            tokio::select! {
                biased;
                answer = answer => Ok(answer),
                over = job::exhausted(budget) => Err(over),
                () = self.primary.silent(self.client.backend.as_ref()) => {
                    progress.lost = true;
                    Err(failure::interrupted("neither the statement nor a new connection was answered"))
                }
            }
        });
        match answer {
            Ok(answer) => answer.map_err(|error| {
                progress.conflict = is_conflict(&error);
                progress.lost = is_lost(&error);
                progress.read_only = self.access == Access::Write && is_read_only(&error);
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
        let commit = async {
            tokio::select! {
                biased;
                answer = timeout(COMMIT_LIMIT, self.client.batch_execute("COMMIT")) => answer.ok(),
                () = self.primary.silent(self.client.backend.as_ref()) => None,
            }
        };
        match self.handle.block_on(commit) {
            Some(Ok(())) => End::Final(Ok(())),
            Some(Err(error)) if is_conflict(&error) => End::Conflict(self.client),
            Some(Err(error)) if is_lost(&error) => {
                self.primary.drop_idle();
                End::Unsure(chain(&error))
            }
            Some(Err(error)) => End::Final(Err(statement(&error, self.access))),
            None => {
                // Not cancelled: a server that waits for its standby would stop waiting,
                // and the commit would be visible before it is safe.
                drop(Client::take(self.client));
                self.primary.drop_idle();
                End::Unsure("no answer to COMMIT".to_owned())
            }
        }
    }

    fn roll_back(self, error: Error, conflict: bool) -> End {
        let roll_back = async {
            let answer = timeout(ROLLBACK_LIMIT, self.client.batch_execute("ROLLBACK"));
            answer.await.ok()
        };
        match self.handle.block_on(roll_back) {
            Some(Ok(())) if conflict => End::Conflict(self.client),
            Some(Ok(())) => End::Final(Err(error)),
            _ => {
                self.discard();
                End::Final(Err(error))
            }
        }
    }

    /// Cancels the running statement and drops the connection, so that the late end of
    /// one job never affects the next.
    ///
    /// PgBouncer rolls back when its client hangs up. It gets no cancellation: version
    /// 1.18 can crash when the client of one is gone.
    fn discard(self) {
        if self.client.is_pooled {
            drop(Client::take(self.client));
            return;
        }
        let (cancel, tls) = (self.client.cancel_token(), self.client.tls());
        let client = Client::take(self.client);
        self.handle.spawn(async move {
            let _ = timeout(ROLLBACK_LIMIT, cancel.cancel_query(tls)).await;
            drop(client);
        });
    }
}
