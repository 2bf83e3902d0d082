//! What both engines have in common: how a job is run.
//!
//! [`Session`] is the `Sql` that a job is handed. It makes the engines agree
//! where they would differ: after a failed statement PostgreSQL refuses the
//! rest of a transaction, SQLite does not; PostgreSQL refuses NUL in text,
//! SQLite does not. Here both refuse.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

use kit::{
    Error, Param, Result, Row, Sql,
    error::INVALID_ARGUMENT,
    sql::{Budget, ReadJob, Statement},
};
use tokio_util::sync::DropGuard;

/// A write job as the engines take it: with scripts, for migrations.
pub(crate) type Work = Box<dyn FnMut(&mut dyn Script) -> Result<()> + Send>;

/// `Sql` plus what only migrations need.
pub(crate) trait Script: Sql {
    /// Runs several statements without parameters.
    fn script(&mut self, text: &str) -> Result<()>;
}

/// One engine's open transaction.
pub(crate) trait Engine {
    /// Whether other transactions may write at the same time.
    const HAS_OTHER_WRITERS: bool;

    fn query(&mut self, sql: &str, params: &[Param<'_>], budget: &Budget) -> Result<Vec<Row>>;
    fn query_all(
        &mut self,
        statements: &[Statement<'_>],
        budget: &Budget,
    ) -> Result<Vec<Vec<Row>>> {
        let each = statements.iter();
        each.map(|(sql, params)| self.query(sql, params, budget))
            .collect()
    }

    fn execute(&mut self, sql: &str, params: &[Param<'_>], budget: &Budget) -> Result<u64>;
    fn script(&mut self, text: &str, budget: &Budget) -> Result<()>;
}

pub(crate) struct Session<'a, E> {
    pub engine: E,
    budget: &'a Budget,
    failed: bool,
}

impl<'a, E: Engine> Session<'a, E> {
    pub fn new(engine: E, budget: &'a Budget) -> Self {
        Self {
            engine,
            budget,
            failed: false,
        }
    }

    /// Runs a write job. `Ok` means that its work may be committed.
    pub fn write(&mut self, work: &mut Work) -> Result<()> {
        self.run(|session| work(session))
    }

    pub fn read(&mut self, job: ReadJob<'static>) -> Result<()> {
        self.run(|session| job(session))
    }

    fn run(&mut self, job: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.budget.check()?;
        catch_unwind(AssertUnwindSafe(|| job(self))).unwrap_or_else(|panic| {
            Err(Error::internal(format!(
                "a store job panicked: {}",
                panic_text(panic.as_ref())
            )))
        })?;
        if self.failed {
            return Err(Error::internal(
                "a store job went on although one of its statements had failed",
            ));
        }
        // The last chance to cancel before the commit.
        self.budget.check()
    }

    fn statement<T>(&mut self, run: impl FnOnce(&mut E, &Budget) -> Result<T>) -> Result<T> {
        if self.failed {
            return Err(Error::internal(
                "an earlier statement of this store job has failed",
            ));
        }
        let outcome = self
            .budget
            .check()
            .and_then(|()| run(&mut self.engine, self.budget));
        self.failed = outcome.is_err();
        outcome
    }
}

impl<E: Engine> Sql for Session<'_, E> {
    fn query(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        self.statement(|engine, budget| {
            refuse_nul(params)?;
            engine.query(sql, params, budget)
        })
    }

    fn query_all(&mut self, statements: &[Statement<'_>]) -> Result<Vec<Vec<Row>>> {
        self.statement(|engine, budget| {
            let mut params = statements.iter().map(|(_, params)| *params);
            params.try_for_each(refuse_nul)?;
            engine.query_all(statements, budget)
        })
    }

    fn has_other_writers(&self) -> bool {
        E::HAS_OTHER_WRITERS
    }

    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64> {
        self.statement(|engine, budget| {
            refuse_nul(params)?;
            engine.execute(sql, params, budget)
        })
    }
}

impl<E: Engine> Script for Session<'_, E> {
    fn script(&mut self, text: &str) -> Result<()> {
        self.statement(|engine, budget| engine.script(text, budget))
    }
}

fn refuse_nul(params: &[Param<'_>]) -> Result<()> {
    let holds_nul = |param: &Param<'_>| matches!(param, Param::Text(text) if text.contains('\0'));
    if params.iter().any(holds_nul) {
        return Err(Error::new(
            INVALID_ARGUMENT,
            "A text holds the character U+0000, which can't be stored.",
        )
        .next("Remove it and try again."));
    }
    Ok(())
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "no message"
    }
}

/// The same budget, which is also cancelled when the guard is dropped, together with
/// the future that waits for the job.
pub(crate) fn cancel_on_drop(budget: Budget) -> (Budget, DropGuard) {
    let cancel = budget.cancel.child_token();
    let guard = cancel.clone().drop_guard();
    let deadline = budget.deadline;
    (Budget { deadline, cancel }, guard)
}

/// Waits until the budget ends, and returns why.
pub(crate) async fn exhausted(budget: &Budget) -> Error {
    let late = async {
        match budget.deadline {
            Some(at) => tokio::time::sleep_until(at.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = budget.cancel.cancelled() => Error::cancelled(),
        () = late => Error::timeout(),
    }
}
