//! The one thread of this process that writes to the file.
//!
//! Every commit waits for the disk, and that wait costs the same for one job
//! as for a hundred. So the writer takes all jobs that wait, runs each in a
//! savepoint of one transaction, and commits them together: a job that fails
//! undoes only itself, and nobody is answered before the disk has it.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use kit::{Error, Result, sql::Budget};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::{
    connection::{Access, control, open_writer, with_session},
    errors::{failure_of, is_busy},
    health::Health,
};
use crate::{
    failure,
    job::{self, Work},
};

/// How many jobs may be queued; further callers wait.
const QUEUE: usize = 1_024;
/// The most jobs that are committed together.
const BATCH: usize = 256;
/// How long a batch works before it commits: another process may be waiting
/// for the lock.
const BATCH_TIME: Duration = Duration::from_millis(20);
/// How often the lock is tried before the waiting jobs are looked over.
const LOCK_ATTEMPTS: i32 = 50;

pub(super) struct Writer {
    queue: mpsc::Sender<Message>,
    pub health: Arc<Health>,
}

enum Message {
    Job(Job),
    Close(oneshot::Sender<()>),
}

struct Job {
    work: Work,
    budget: Budget,
    /// When a job without a deadline gives up waiting for the lock.
    patience: Instant,
    /// Set by whoever comes first: the writer that starts the job, or the
    /// caller that gives up on it.
    claimed: Arc<AtomicBool>,
    started: bool,
    answer: oneshot::Sender<Result<()>>,
}

impl Writer {
    pub async fn open(path: &Path, patience: Duration) -> Result<Self> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (ready, opened) = oneshot::channel();
        let path = path.to_owned();
        thread::Builder::new()
            .name("sqlite-writer".into())
            .spawn(move || match open_writer(&path, patience) {
                Ok(connection) => {
                    let health = Arc::new(Health::new(&path));
                    // If the caller is gone, the queue is empty.
                    let _ = ready.send(Ok(Arc::clone(&health)));
                    Loop::new(connection, waiting, health).run();
                }
                Err(error) => drop(ready.send(Err(error))),
            })
            .map_err(Error::internal)?;
        let health = opened.await.map_err(Error::internal)??;
        Ok(Self { queue, health })
    }

    pub async fn run(&self, budget: Budget, work: Work, patience: Duration) -> Result<()> {
        budget.check()?;
        let (budget, _guard) = job::cancel_on_drop(budget);
        let (job, mut answered) = Job::new(work, budget.clone(), patience);
        let claimed = Arc::clone(&job.claimed);
        let job = Message::Job(job);
        tokio::select! {
            biased;
            sent = self.queue.send(job) => sent.map_err(|_| failure::closed())?,
            error = job::exhausted(&budget) => return Err(error),
        }
        tokio::select! {
            biased;
            outcome = &mut answered => return outcome.unwrap_or_else(|_| Err(failure::closed())),
            error = job::exhausted(&budget) => {
                if !claimed.swap(true, Ordering::AcqRel) {
                    return Err(error);
                }
            }
        }
        // It has been started: only the writer knows how it ends.
        answered.await.unwrap_or_else(|_| Err(failure::closed()))
    }

    /// Tries whether the disk takes a write again, if it did not. Others see the result
    /// in `health`.
    pub fn try_again(&self) {
        let (job, _) = Job::new(write_nothing(), Budget::default(), Duration::ZERO);
        // If the queue is full, others try.
        let _ = self.queue.try_send(Message::Job(job));
    }

    pub fn check(&self) -> Result<()> {
        if self.queue.is_closed() {
            return Err(failure::closed());
        }
        Ok(())
    }

    /// Waits until all accepted jobs are done and the file is closed.
    pub async fn close(&self) -> Result<()> {
        let (answer, closed) = oneshot::channel();
        if self.queue.send(Message::Close(answer)).await.is_err() {
            return Ok(());
        }
        closed.await.map_err(Error::internal)
    }
}

/// A write that changes nothing and waits for the disk.
pub(super) fn write_nothing() -> Work {
    Box::new(|sql| {
        let rows = sql.query("PRAGMA user_version", &[])?;
        let version = rows.first().map_or(Ok(0), |row| row.int(0))?;
        sql.script(&format!("PRAGMA user_version = {version}"))
    })
}

impl Job {
    fn new(
        work: Work,
        budget: Budget,
        patience: Duration,
    ) -> (Self, oneshot::Receiver<Result<()>>) {
        let (answer, answered) = oneshot::channel();
        let job = Self {
            work,
            budget,
            patience: Instant::now() + patience,
            claimed: Arc::default(),
            started: false,
            answer,
        };
        (job, answered)
    }

    fn claim(&mut self) -> bool {
        self.started = self.started || !self.claimed.swap(true, Ordering::AcqRel);
        self.started
    }

    /// The caller may have gone; nobody else wants the answer.
    fn answer(self, outcome: Result<()>) {
        let _ = self.answer.send(outcome);
    }

    /// Why it should stop waiting for the lock, if it should.
    fn reason_to_give_up(&self) -> Option<Error> {
        if let Err(over) = self.budget.check() {
            return Some(over);
        }
        let late = self.budget.deadline.is_none() && Instant::now() >= self.patience;
        late.then(|| failure::busy("another process holds the write lock"))
    }
}

struct Loop {
    connection: Connection,
    queue: mpsc::Receiver<Message>,
    waiting: VecDeque<Job>,
    closing: Option<oneshot::Sender<()>>,
    health: Arc<Health>,
}

impl Loop {
    fn new(connection: Connection, queue: mpsc::Receiver<Message>, health: Arc<Health>) -> Self {
        Self {
            connection,
            queue,
            health,
            waiting: VecDeque::new(),
            closing: None,
        }
    }

    fn run(mut self) {
        // Short and steady waits: with SQLite's own growing ones, a process
        // rarely gets the lock from another that writes without a pause.
        let wait = |attempt| {
            thread::sleep(Duration::from_millis(1));
            attempt < LOCK_ATTEMPTS
        };
        if self.connection.busy_handler(Some(wait)).is_err() {
            return;
        }
        loop {
            if self.waiting.is_empty() {
                match self.queue.blocking_recv() {
                    Some(message) => self.accept(message),
                    None => break,
                }
            }
            self.collect();
            if self.lock() {
                // More may have come while the lock was awaited.
                self.collect();
                self.batch();
            }
        }
        self.finish();
    }

    fn accept(&mut self, message: Message) {
        match message {
            Message::Job(job) => self.waiting.push_back(job),
            Message::Close(answer) => {
                // Jobs that are already queued are still run.
                self.queue.close();
                self.closing = Some(answer);
            }
        }
    }

    fn collect(&mut self) {
        while self.waiting.len() < BATCH
            && let Ok(message) = self.queue.try_recv()
        {
            self.accept(message);
        }
    }

    /// Opens the transaction for the waiting jobs. `false` when none is left
    /// that wants it.
    fn lock(&mut self) -> bool {
        if !self.connection.is_autocommit() {
            let _ = control(&self.connection, "ROLLBACK");
        }
        while !self.waiting.is_empty() {
            let is_there = self.health.require_file().is_ok();
            let error = match is_there.then(|| control(&self.connection, "BEGIN IMMEDIATE")) {
                Some(Ok(())) => return true,
                Some(Err(error)) => Some(error),
                None => None,
            };
            for mut job in std::mem::take(&mut self.waiting) {
                let refusal = match &error {
                    Some(error) if is_busy(error) => job.reason_to_give_up(),
                    Some(error) => Some(self.noted(failure_of(error))),
                    None => self.health.require_file().err(),
                };
                match refusal {
                    None => self.waiting.push_back(job),
                    Some(refusal) if job.claim() => job.answer(Err(refusal)),
                    Some(_) => {}
                }
            }
        }
        false
    }

    fn batch(&mut self) {
        let begun = Instant::now();
        let alone = self.waiting.len() == 1;
        let mut done = Vec::with_capacity(self.waiting.len());
        while let Some(mut job) = self.waiting.pop_front() {
            if !job.claim() {
                continue;
            }
            match self.attempt(&mut job, alone) {
                Ok(()) => done.push(job),
                Err(error) => {
                    let error = self.noted(error);
                    job.answer(Err(error));
                }
            }
            if self.connection.is_autocommit() {
                // The failure ended the whole transaction. The other jobs of the batch
                // go first in the next one.
                for mate in done.into_iter().rev() {
                    self.waiting.push_front(mate);
                }
                return;
            }
            if begun.elapsed() >= BATCH_TIME {
                break;
            }
        }
        self.commit(done);
    }

    fn attempt(&mut self, job: &mut Job, alone: bool) -> Result<()> {
        // Alone, the transaction itself does what a savepoint would.
        let (enter, keep, undo): (&[_], &[_], &[_]) = if alone {
            (&[], &[], &["ROLLBACK"])
        } else {
            (
                &["SAVEPOINT job"],
                &["RELEASE job"],
                &["ROLLBACK TO job", "RELEASE job"],
            )
        };
        self.control(enter)?;
        let Job { work, budget, .. } = job;
        let outcome = with_session(&mut self.connection, Access::Write, budget, |session| {
            session.write(work)
        });
        if self.connection.is_autocommit() {
            return outcome.and_then(|()| Err(Error::internal("a job ended its own transaction")));
        }
        let outcome = outcome.and_then(|()| self.control(keep));
        if outcome.is_err() && self.control(undo).is_err() {
            let _ = control(&self.connection, "ROLLBACK");
        }
        outcome
    }

    fn commit(&mut self, done: Vec<Job>) {
        // With nothing to keep there is nothing to wait for the disk for.
        let end = if done.is_empty() {
            "ROLLBACK"
        } else {
            "COMMIT"
        };
        let outcome = control(&self.connection, end);
        if outcome.is_err() && !self.connection.is_autocommit() {
            let _ = control(&self.connection, "ROLLBACK");
        }
        if outcome.is_ok() && !done.is_empty() {
            self.health.note_success();
        }
        for job in done {
            job.answer(match &outcome {
                Ok(()) => Ok(()),
                Err(error) => Err(self.noted(failure_of(error))),
            });
        }
    }

    fn noted(&self, error: Error) -> Error {
        self.health.note(&error);
        error
    }

    fn control(&self, statements: &[&str]) -> Result<()> {
        statements
            .iter()
            .try_for_each(|sql| control(&self.connection, sql))
            .map_err(|error| failure_of(&error))
    }

    fn finish(self) {
        // May fail while another process reads the log; then the last process to
        // close the file does this.
        let _ = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        drop(self.connection);
        if let Some(answer) = self.closing {
            let _ = answer.send(());
        }
    }
}
