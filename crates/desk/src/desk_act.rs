//! What people do at the desk itself: changes of policies and keys. Each attempt leaves
//! a record. A row is committed with the change, from which the record can be made if
//! the process dies before it is written.

use std::time::{Duration, Instant};

use kit::{Caller, Result, Sql, ids::CallId, sql::Budget};
use serde_json::{Map, Value};

use crate::{
    desk::Desk,
    digest, ledger, state,
    stations::audit::{CallRecord, Outcome},
    trace::CallTrace,
};

pub struct DeskAct {
    pub caller: Caller,
    /// The counter that it is about, or [`crate::DESK`].
    pub counter: &'static str,
    /// One of [`crate::audit::acts`].
    pub name: &'static str,
    /// What was done to what, without secrets.
    pub arguments: Map<String, Value>,
    /// The rows that it changes, as `desk_versions` names them.
    pub rows: &'static str,
}

impl DeskAct {
    /// Does `work` in a transaction that other desks notice, if it is `allowed`. Acts on
    /// the same rows wait for each other.
    pub async fn run<T: Send + 'static>(
        self,
        desk: &Desk,
        allowed: Result<()>,
        work: impl FnMut(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let record = CallRecord {
            call: CallId::new(),
            caller: self.caller.clone(),
            address: None,
            counter: self.counter,
            tool: self.name,
            writes: true,
            has_ledger_row: true,
            started: Instant::now(),
            outcome: Outcome::Abandoned,
            waited: Duration::ZERO,
            approval: None,
            arguments: desk.audit.redacted_act(&self.arguments),
        };
        let call = record.call;
        let record = desk.audit.open(record, None, CallTrace::default()).await;
        let done = match record.may_run().and(allowed) {
            Ok(()) => self.commit(desk, call, work).await,
            Err(error) => Err(error),
        };
        let outcome = match &done {
            Ok(_) => Outcome::Done,
            Err(error) => Outcome::of(Err(error)),
        };
        record.close(outcome).await;
        done
    }

    async fn commit<T: Send + 'static>(
        self,
        desk: &Desk,
        call: CallId,
        mut work: impl FnMut(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (rows, caller) = (self.rows, self.caller.id);
        let (call, process) = (call.to_string(), desk.process.clone());
        let digest = digest::of_json(&Value::Object(self.arguments));
        let now = desk.clock.now().as_millisecond();
        let state = desk.state.get().await?;
        let transaction = move |sql: &mut dyn Sql| {
            // First, so that changes wait for each other.
            state::touch(sql, rows)?;
            let done = work(sql)?;
            sql.execute(
                ledger::WRITTEN,
                &[
                    (&call).into(),
                    now.into(),
                    (&*caller).into(),
                    self.counter.into(),
                    self.name.into(),
                    (&digest).into(),
                    (&process).into(),
                    "".into(),
                ],
            )?;
            Ok(done)
        };
        let budget = Budget::default();
        let done = state.store.transaction(budget, transaction).await?;
        state::announce(&state.store, rows);
        Ok(done)
    }
}
