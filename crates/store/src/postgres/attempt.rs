//! A write job on its way: from one connection to the next until it is decided.

use std::{thread, time::Duration};

use kit::{Error, Result, error::CANCELLED, sql::Budget};
use tokio::runtime::Handle;

use super::{
    commits::Mark,
    pool::Client,
    primary::Primary,
    transaction::{End, Transaction},
};
use crate::{
    failure,
    job::{Session, Work},
};

/// How often a job is run when PostgreSQL asks for a transaction to be repeated.
const ATTEMPTS: u64 = 8;

pub(super) struct Attempt {
    work: Work,
    primary: Primary,
    mark: Option<Mark>,
    /// Why it is unknown whether an earlier transaction of this job was committed.
    doubt: Option<String>,
}

impl Attempt {
    pub fn new(work: Work, primary: Primary, mark: Option<Mark>) -> Self {
        Self {
            work,
            primary,
            mark,
            doubt: None,
        }
    }

    /// Runs the job until it is committed or refused, or its connection is lost, or it
    /// met too many conflicts.
    pub fn run(&mut self, mut client: Client, handle: &Handle, budget: &Budget) -> End {
        let mut attempt = 1;
        loop {
            match self.once(client, handle, budget) {
                End::Conflict(same) if attempt < ATTEMPTS => client = same,
                end => return end,
            }
            // A random pause keeps the same transactions from colliding again.
            thread::sleep(Duration::from_millis(rand::random_range(1..=5 * attempt)));
            attempt += 1;
        }
    }

    fn once(&mut self, client: Client, handle: &Handle, budget: &Budget) -> End {
        let (handle, primary) = (handle.clone(), self.primary.clone());
        let mut transaction = Transaction::write(client, handle, primary, self.mark.as_ref());
        if let (Some(mark), true) = (&self.mark, self.doubt.is_some()) {
            match transaction.was_committed(mark, budget) {
                // The answer of the job is the one that it gave then.
                Ok(true) => return transaction.end(Ok(())),
                Ok(false) => self.doubt = None,
                Err(error) => return transaction.end(Err(error)),
            }
        }
        let mut session = Session::new(transaction, budget);
        let outcome = session.write(&mut self.work);
        session.engine.end(outcome)
    }

    /// COMMIT was sent and not answered. Returns whether it can be looked up.
    pub fn doubt(&mut self, cause: &str) -> bool {
        self.doubt = Some(cause.to_owned());
        self.mark.is_some()
    }

    /// The transaction was lost before COMMIT. The server may not know yet and keep its
    /// lane locked, so the next one uses another; unless the lane is needed to look up
    /// an earlier one.
    pub fn begin_anew(&mut self, mark: Option<Mark>) {
        if self.doubt.is_none() && self.mark.is_some() {
            self.mark = mark;
        }
    }

    /// The end of a job that is decided.
    pub fn finish(self, outcome: Result<()>) -> Result<()> {
        let is_over = match &outcome {
            Ok(()) => true,
            // Its transaction may go on for a moment.
            Err(error) => error.code != CANCELLED && error.code != kit::error::TIMEOUT,
        };
        match (outcome, self.doubt) {
            (Err(error), Some(doubt)) => Err(failure::unsure(format!("{doubt}; then {error}"))),
            (outcome, _) => {
                if let (Some(mark), true) = (self.mark, is_over) {
                    mark.release();
                }
                outcome
            }
        }
    }

    /// The end of a job that could not be repeated, because of this error.
    pub fn explain(self, error: Error) -> Error {
        match self.doubt {
            Some(doubt) => failure::unsure(format!("{doubt}; then {error}")),
            None => error,
        }
    }
}
