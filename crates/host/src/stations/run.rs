//! Runs the tool: within its time limit, cancellable, and answered whatever
//! happens, a panic included.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::FutureExt;
use kit::{Context, Error, Reply, Result, Run, Sql, sql::Budget, tool::Ready};
use serde_json::Value;

use crate::{
    approvals::{self, redemption},
    desk::{Desk, PreparedTool, Window},
    ledger::{self, Entry},
    stations::approve,
};

/// The store keeps to the time limit by itself. Should it be stuck, the caller
/// is told so this much later, and that the outcome is not known.
const GRACE: Duration = Duration::from_secs(5);

pub async fn run(
    desk: &Desk,
    window: &Window,
    tool: &PreparedTool,
    context: &mut Context,
    arguments: Value,
    approval: Option<&str>,
) -> Result<Reply> {
    let limit = tool.tool.time_limit;
    let deadline = Instant::now() + limit;
    context.deadline = Some(deadline);
    // When the client goes away this future is dropped; the guard then tells
    // the store, and work that is not yet committed is undone.
    context.cancel = context.cancel.child_token();
    let _gone = context.cancel.clone().drop_guard();

    let reply = match &tool.tool.run {
        Run::Async(handler) => {
            if let Some(approval) = approval {
                redeem_before(desk, context, approval).await?;
            }
            let work = AssertUnwindSafe(handler(context.clone(), arguments)).catch_unwind();
            let result = tokio::select! {
                result = work => result.unwrap_or_else(|panic| Err(panicked(&*panic))),
                () = tokio::time::sleep_until(deadline.into()) => Err(late(tool)),
                () = context.cancel.cancelled() => Err(Error::cancelled()),
            };
            if let Some(approval) = approval {
                settle_after(desk, approval, &result).await?;
            }
            result
        }
        Run::Query(handler) => {
            let (handler, inside) = (Arc::clone(handler), context.clone());
            let work = store(window)?.query(context.budget(), move |sql| {
                handler(&inside, sql, arguments)
            });
            within(limit + GRACE, work).await
        }
        Run::Transaction(handler) => {
            let (handler, inside) = (Arc::clone(handler), context.clone());
            let entry = Entry::new(desk, window, tool, &arguments);
            let work: Ready = Box::new(move |sql| handler(&inside, sql, arguments.clone()));
            transact(desk, store(window)?, entry, context, approval, limit, work).await
        }
        Run::Prepared(prepare) => {
            let (prepare, inside) = (Arc::clone(prepare), context.clone());
            let entry = Entry::new(desk, window, tool, &arguments);
            let prepared = store(window)?.query(context.budget(), move |sql| {
                prepare(&inside, sql, arguments)
            });
            let work = match within(limit + GRACE, prepared).await {
                Ok(ready) => ready,
                // A retry with its idempotency key has its answer already, also
                // when the work could no longer be done.
                Err(error) => refusing(error),
            };
            transact(desk, store(window)?, entry, context, approval, limit, work).await
        }
    }?;
    window.publish(context.take_changes());
    Ok(reply)
}

/// Runs the work in a transaction in which the desk's own rows take part.
async fn transact(
    desk: &Desk,
    store: &Arc<dyn kit::Store>,
    entry: Entry,
    context: &Context,
    approval: Option<&str>,
    limit: Duration,
    mut work: Ready,
) -> Result<Reply> {
    let inside = context.clone();
    let approval = approval.map(|id| Used {
        id: id.to_owned(),
        beside_its_row: desk.keeps_rows_in(store),
    });
    let done = store.transaction(context.budget(), move |sql| {
        // A repeated attempt must not announce its changes twice.
        inside.take_changes();
        ledger::once(&entry, &inside, sql, |sql| {
            if let Some(approval) = &approval {
                approval.redeem(sql, &inside)?;
            }
            let reply = work(sql)?;
            if let Some(approval) = &approval {
                redemption::keep(sql, &approval.id, &reply)?;
            }
            Ok(reply)
        })
    });
    within(limit + GRACE, done).await
}

/// Work that only says why it can't be done.
fn refusing(error: Error) -> Ready {
    let mut error = Some(error);
    Box::new(move |_| {
        let error = error.take();
        Err(error.unwrap_or_else(|| Error::internal("a refused call was repeated")))
    })
}

/// An approval that the work's own transaction uses up.
struct Used {
    id: String,
    /// Whether its row is in the same store, and so can change with the work.
    beside_its_row: bool,
}

impl Used {
    fn redeem(&self, sql: &mut dyn Sql, context: &Context) -> Result<()> {
        let now = context.clock.now().as_millisecond();
        let first = redemption::redeem(sql, &self.id, &context.call.to_string(), now)?;
        if !first || (self.beside_its_row && !approvals::mark_used(sql, &self.id, now)?) {
            return Err(approve::used());
        }
        Ok(())
    }
}

/// Work that is not done in a transaction uses its approval before it begins: it
/// is done once or, after a crash, perhaps not at all, but never twice.
async fn redeem_before(desk: &Desk, context: &Context, approval: &str) -> Result<()> {
    let used = Used {
        id: approval.to_owned(),
        beside_its_row: true,
    };
    let inside = context.clone();
    let store = &desk.state.get().await?.store;
    store
        .transaction(context.budget(), move |sql| used.redeem(sql, &inside))
        .await
}

/// Keeps the reply; or gives the approval back when the tool did nothing.
async fn settle_after(desk: &Desk, approval: &str, result: &Result<Reply>) -> Result<()> {
    let reply = match result {
        Ok(Reply::InputRequired { .. }) => None,
        Ok(reply) => Some(reply.clone()),
        Err(error) if error.is_internal() || error.code == kit::error::TIMEOUT => return Ok(()),
        Err(_) => None,
    };
    let approval = approval.to_owned();
    let store = &desk.state.get().await?.store;
    store
        .transaction(Budget::default(), move |sql| match &reply {
            Some(reply) => redemption::keep(sql, &approval, reply),
            None => approvals::give_back(sql, &approval),
        })
        .await
}

/// What is not done in a transaction may be half done.
fn late(tool: &PreparedTool) -> Error {
    if tool.tool.writes() {
        return Error::timeout().next("Look whether it took effect before you try again.");
    }
    Error::timeout()
}

fn store(window: &Window) -> Result<&Arc<dyn kit::Store>> {
    window
        .counter
        .store
        .as_ref()
        .ok_or_else(|| Error::internal("a tool wants the store of a counter that has none"))
}

async fn within<T>(limit: Duration, work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        Err(Error::new(
            kit::error::TIMEOUT,
            "The store did not answer in time; it is not known whether the change was made.",
        )
        .next("Look before you retry, or retry with the same idempotency key."))
    })
}

/// The message of a panic is for the log; the caller learns that it is our fault.
fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    Error::internal(format!("the tool panicked: {message}"))
}
