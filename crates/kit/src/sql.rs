//! Rows, and how they are read and written.
//!
//! A counter writes its SQL once, for SQLite and PostgreSQL alike:
//! - parameters are `$1`, `$2`, …
//! - columns are `BIGINT`, `TEXT` or `DOUBLE PRECISION`; a truth value is a
//!   `BIGINT` of 0 or 1, a time is a `BIGINT` of milliseconds since 1970
//! - upserts are `INSERT … ON CONFLICT …`; `RETURNING` works on both
//! - `SUM` of `BIGINT` is `NUMERIC` on PostgreSQL: write `CAST(SUM(x) AS BIGINT)`
//! - on PostgreSQL what was read may change before it is written (READ
//!   COMMITTED): let a constraint, `ON CONFLICT` or an `UPDATE` that comes first
//!   decide, never an earlier `SELECT`
//! - lock rows in a fixed order (sort before a multi-row insert), or two
//!   transactions can wait for each other

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

pub use crate::announcement::Announcement;
use crate::{
    error::{Error, Result},
    presence::Presence,
    time::Clock,
};

/// An open transaction, or a reader's snapshot.
pub trait Sql {
    fn query(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>>;

    /// Returns how many rows changed.
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64>;

    /// Runs statements that don't depend on each other's answers, in this order. On
    /// PostgreSQL they are sent together, which saves round trips.
    fn query_all(&mut self, statements: &[Statement<'_>]) -> Result<Vec<Vec<Row>>> {
        let each = statements.iter();
        each.map(|(sql, params)| self.query(sql, params)).collect()
    }

    /// Whether other transactions may write at the same time, as on PostgreSQL. SQLite
    /// has one writer.
    fn has_other_writers(&self) -> bool {
        false
    }
}

/// A statement and its parameters.
pub type Statement<'a> = (&'a str, &'a [Param<'a>]);

impl dyn Sql + '_ {
    pub fn query_one(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Option<Row>> {
        Ok(self.query(sql, params)?.into_iter().next())
    }
}

pub type ReadJob<'a> = Box<dyn FnOnce(&mut dyn Sql) -> Result<()> + Send + 'a>;
/// May run more than once: PostgreSQL can ask for a transaction to be repeated.
pub type WriteJob<'a> = Box<dyn FnMut(&mut dyn Sql) -> Result<()> + Send + 'a>;

/// The deadline and the cancellation of a piece of store work.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    pub deadline: Option<Instant>,
    pub cancel: CancellationToken,
}

impl Budget {
    /// An error after the deadline or the cancellation.
    pub fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Error::cancelled());
        }
        if self.deadline.is_some_and(|at| Instant::now() >= at) {
            return Err(Error::timeout());
        }
        Ok(())
    }
}

/// A database of any engine.
pub trait Store: Send + Sync {
    /// Runs `job` beside other readers, on the last committed state.
    fn read(&self, budget: Budget, job: ReadJob<'static>) -> BoxFuture<'_, Result<()>>;

    /// Runs `job` in a transaction of its own. An error undoes everything it
    /// did; `Ok` means that it is on disk.
    fn write(&self, budget: Budget, job: WriteJob<'static>) -> BoxFuture<'_, Result<()>>;

    /// Migrates the owner's tables to the newest version, once, even if several
    /// processes start at the same time.
    fn migrate(&self, migrations: Migrations) -> BoxFuture<'_, Result<()>>;

    /// `sqlite` or `postgres`.
    fn engine(&self) -> &'static str;

    /// The clock by which rows expire: the server's, where several machines share it.
    fn clock(&self) -> Clock {
        Clock::system()
    }

    /// A number that changes with every commit of any process, and is asked for without
    /// waiting; `None` if the engine has none.
    fn version(&self) -> Option<i64> {
        None
    }

    /// Whether the database could not be reached at some time within this period. Other
    /// processes may have had no chance to renew what they hold.
    fn was_away_within(&self, period: Duration) -> bool {
        let _ = period;
        false
    }

    /// What is wrong at present, for an operator. Known without asking the database.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// Whether calls should be sent to this process; if not, which part is missing. A
    /// lost server counts only after work has waited for it in vain.
    fn ready(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// A name under which this process claims work.
    fn presence(&self) -> Result<Presence> {
        Ok(Presence::unmarked())
    }

    /// Whether the process of that name has certainly ended. A slow or unknown one is
    /// not gone.
    fn is_gone(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Tells every process on this data, this one included, that `topic` changed; on
    /// SQLite only this one. Best effort: call it after the commit. Calls in quick
    /// succession are sent together.
    fn announce(&self, topic: &str) {
        let _ = topic;
    }

    /// The topics that any process announces from now on. Subscribe first, then look,
    /// then wait. After a lost connection the receiver gets [`Announcement::Missed`];
    /// [`crate::announcement::next`] also returns it to a receiver that lags.
    fn announcements(&self) -> broadcast::Receiver<Announcement> {
        broadcast::Sender::new(1).subscribe()
    }

    /// Whether announcements of other processes arrive at present. If not, look often.
    fn hears_others(&self) -> bool {
        false
    }

    /// `None` without a pool of connections.
    fn pool(&self) -> Option<PoolStatus> {
        None
    }
}

/// The connections of a store to its server, for `/metrics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolStatus {
    /// How many there may be.
    pub limit: usize,
    pub open: usize,
    pub in_use: usize,
    /// How many callers wait for one.
    pub waiting: usize,
    /// How often one was asked for, and how long this took in all.
    pub requests: u64,
    pub waited: Duration,
}

/// How often a read is attempted that the loss of the database interrupts.
const READ_ATTEMPTS: u32 = 3;

impl dyn Store {
    /// [`Store::read`] with an answer.
    pub async fn query<T: Send + 'static>(
        &self,
        budget: Budget,
        job: impl FnOnce(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, slot) = Slot::pair();
        self.read(
            budget,
            Box::new(move |sql| {
                slot.fill(job(sql)?);
                Ok(())
            }),
        )
        .await?;
        answer.take()
    }

    /// [`dyn Store::query`] for a job that can run more than once: it is repeated if the
    /// database is lost in the middle of it.
    pub async fn query_again<T: Send + 'static>(
        &self,
        budget: Budget,
        job: impl Fn(&mut dyn Sql) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let job = std::sync::Arc::new(job);
        let mut answer = Err(Error::internal("a query was never attempted"));
        for _ in 0..READ_ATTEMPTS {
            let again = std::sync::Arc::clone(&job);
            answer = self.query(budget.clone(), move |sql| again(sql)).await;
            if !answer.as_ref().is_err_and(Error::is_interrupted) {
                break;
            }
        }
        answer
    }

    /// [`Store::write`] with an answer.
    pub async fn transaction<T: Send + 'static>(
        &self,
        budget: Budget,
        mut job: impl FnMut(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, slot) = Slot::pair();
        self.write(
            budget,
            Box::new(move |sql| {
                slot.fill(job(sql)?);
                Ok(())
            }),
        )
        .await?;
        answer.take()
    }
}

/// Carries a job's answer out of its type-erased closure.
struct Slot<T>(std::sync::Arc<std::sync::Mutex<Option<T>>>);

impl<T> Slot<T> {
    fn pair() -> (Self, Self) {
        let shared = std::sync::Arc::new(std::sync::Mutex::new(None));
        (Self(std::sync::Arc::clone(&shared)), Self(shared))
    }

    fn fill(&self, value: T) {
        *self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = Some(value);
    }

    fn take(&self) -> Result<T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take()
            .ok_or_else(|| Error::internal("a store job ended without an answer"))
    }
}

/// One step in the history of a schema. Steps are never edited once released.
///
/// Programs of several versions may use one database, so a change is made in two steps:
/// one adds what the new program needs (expand), and a later one, in a later version,
/// takes away what no program needs any more (contract). The text of a step with which
/// older programs can't go on begins with a line that says what a program has to know:
///
/// ```sql
/// -- needs step 7
/// ALTER TABLE seats DROP COLUMN old_name;
/// ```
///
/// A program that knows no step from 7 on then refuses to start, and one that runs
/// reports it. Without such a line, every older program goes on.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    pub version: i64,
    pub name: &'static str,
    /// Statements separated by `;`, valid on both engines.
    pub sql: &'static str,
}

/// The migrations of one counter, under a name of their own in the store.
#[derive(Debug, Clone, Copy)]
pub struct Migrations {
    pub owner: &'static str,
    pub steps: &'static [Migration],
}

/// A value in a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Param<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
}

impl From<i64> for Param<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Param<'_> {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(value)
    }
}

impl<'a, T> From<Option<T>> for Param<'a>
where
    Param<'a>: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

/// A value in a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Row(pub Vec<Cell>);

impl Row {
    pub fn int(&self, column: usize) -> Result<i64> {
        match self.0.get(column) {
            Some(Cell::Int(value)) => Ok(*value),
            other => Err(wrong_type(column, "an integer", other)),
        }
    }

    pub fn real(&self, column: usize) -> Result<f64> {
        match self.0.get(column) {
            Some(Cell::Real(value)) => Ok(*value),
            #[expect(clippy::cast_precision_loss, reason = "SQLite stores 4.0 as 4")]
            Some(Cell::Int(value)) => Ok(*value as f64),
            other => Err(wrong_type(column, "a number", other)),
        }
    }

    pub fn text(&self, column: usize) -> Result<String> {
        match self.0.get(column) {
            Some(Cell::Text(value)) => Ok(value.clone()),
            other => Err(wrong_type(column, "text", other)),
        }
    }

    pub fn opt_int(&self, column: usize) -> Result<Option<i64>> {
        match self.0.get(column) {
            Some(Cell::Null) => Ok(None),
            _ => self.int(column).map(Some),
        }
    }

    pub fn opt_text(&self, column: usize) -> Result<Option<String>> {
        match self.0.get(column) {
            Some(Cell::Null) => Ok(None),
            _ => self.text(column).map(Some),
        }
    }
}

fn wrong_type(column: usize, wanted: &str, found: Option<&Cell>) -> Error {
    Error::internal(format!("column {column} is not {wanted}: {found:?}"))
}

/// `($1, $2), ($3, $4)` for a multi-row `INSERT` of `rows` rows with `columns` columns.
pub fn values(rows: usize, columns: usize) -> String {
    let mut text = String::with_capacity(rows * (columns * 5 + 4));
    let mut number = 0;
    for row in 0..rows {
        text.push_str(if row == 0 { "(" } else { ", (" });
        for column in 0..columns {
            number += 1;
            text.push_str(if column == 0 { "$" } else { ", $" });
            text.push_str(&number.to_string());
        }
        text.push(')');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_number_their_parameters() {
        assert_eq!(values(2, 3), "($1, $2, $3), ($4, $5, $6)");
    }

    #[test]
    fn a_budget_ends_with_its_deadline_or_cancellation() {
        let mut budget = Budget::default();
        assert!(budget.check().is_ok());
        budget.deadline = Some(Instant::now() + Duration::from_secs(60));
        assert!(budget.check().is_ok());
        budget.deadline = Some(Instant::now());
        assert_eq!(budget.check().unwrap_err().code, "TIMEOUT");
        budget.cancel.cancel();
        assert_eq!(budget.check().unwrap_err().code, "CANCELLED");
    }

    #[test]
    fn cells_are_read_by_their_type() {
        let cells = [
            Cell::Null,
            Cell::Int(4),
            Cell::Real(0.5),
            Cell::Text("a".into()),
        ];
        let row = Row(cells.to_vec());
        assert_eq!((row.int(1).unwrap(), row.real(1).unwrap()), (4, 4.0));
        assert_eq!(
            (row.real(2).unwrap(), row.text(3).unwrap()),
            (0.5, "a".into())
        );
        assert_eq!(
            (row.opt_int(0).unwrap(), row.opt_int(1).unwrap()),
            (None, Some(4))
        );
        let texts = (row.opt_text(0).unwrap(), row.opt_text(3).unwrap());
        assert_eq!(texts, (None, Some("a".into())));
        assert!(row.int(0).is_err() && row.int(3).is_err() && row.int(4).is_err());
        assert!(row.text(1).is_err() && row.real(3).is_err() && row.opt_int(4).is_err());
    }
}
