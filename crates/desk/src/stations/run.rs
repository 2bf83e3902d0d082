//! Runs the tool: within its time limit, cancellable, and answered whatever
//! happens, a panic included.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Context, Error, Reply, Result, Run, Sql, handler::Ready, sql::Budget};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    approvals::{self, redemption},
    desk::Desk,
    ledger::{self, Entry},
    panics,
    stations::approve,
    window::{PreparedTool, Window},
};

/// The store keeps to the time limit by itself. Should it be stuck, the caller
/// is told so this much later, and that the outcome is not known.
const GRACE: Duration = Duration::from_secs(5);

/// What came of it.
pub struct Ran {
    pub result: Result<Reply>,
    /// The approval is used up, and the result is kept with it.
    pub is_kept: bool,
}

pub async fn run(
    desk: &Desk,
    window: &Window,
    tool: &PreparedTool,
    context: &mut Context,
    arguments: Value,
    approval: Option<&str>,
) -> Ran {
    let limit = tool.tool.time_limit;
    context.deadline = Some(Instant::now() + limit);
    // When the client goes away this future is dropped; the guard then tells
    // the store, and work that is not yet committed is undone.
    context.cancel = context.cancel.child_token();
    let _gone = context.cancel.clone().drop_guard();

    let ran = match (&tool.tool.run, approval) {
        (Run::Transaction(_) | Run::Prepared(_), _) => {
            let work = in_transaction(desk, window, tool, context, arguments, approval);
            // Boxed, as it is larger than all else a call does.
            let result = Box::pin(work).await;
            Ran {
                is_kept: approval.is_some() && result.is_ok(),
                result,
            }
        }
        (_, Some(approval)) => {
            Box::pin(approved(desk, window, tool, context, arguments, approval)).await
        }
        (_, None) => Ran {
            result: outside_transaction(window, tool, context, arguments).await,
            is_kept: false,
        },
    };
    if ran.result.is_ok() {
        window.publish(context.take_changes());
    }
    ran
}

/// Work that has no transaction in which its approval could be used up.
async fn outside_transaction(
    window: &Window,
    tool: &PreparedTool,
    context: &Context,
    arguments: Value,
) -> Result<Reply> {
    let limit = tool.tool.time_limit;
    match &tool.tool.run {
        Run::Async(handler) => {
            let deadline = context.deadline.unwrap_or_else(|| Instant::now() + limit);
            let work = panics::caught("the tool", handler(context.clone(), arguments));
            tokio::select! {
                result = work => result,
                () = tokio::time::sleep_until(deadline.into()) => Err(late(tool)),
                () = context.cancel.cancelled() => Err(Error::cancelled()),
            }
        }
        Run::Transaction(_) | Run::Prepared(_) => {
            Err(Error::internal("a transaction was to run outside of one"))
        }
        Run::Query(handler) => {
            let (handler, inside) = (Arc::clone(handler), context.clone());
            let work = store(window)?.query(context.budget(), move |sql| {
                handler(&inside, sql, arguments)
            });
            within(limit + GRACE, work).await
        }
    }
}

/// What a transaction will do. Whatever can be worked out before it begins is
/// ready by then, so that the store's writer does not wait.
async fn ready(
    window: &Window,
    tool: &PreparedTool,
    context: &Context,
    arguments: Value,
) -> Result<Ready> {
    let inside = context.clone();
    match &tool.tool.run {
        Run::Transaction(handler) => {
            let handler = Arc::clone(handler);
            Ok(Box::new(move |sql| {
                handler(&inside, sql, arguments.clone())
            }))
        }
        Run::Prepared(prepare) => {
            let prepare = Arc::clone(prepare);
            let prepared = store(window)?.query(context.budget(), move |sql| {
                prepare(&inside, sql, arguments)
            });
            within(tool.tool.time_limit + GRACE, prepared).await
        }
        Run::Query(_) | Run::Async(_) => Err(Error::internal("this work has no transaction")),
    }
}

async fn in_transaction(
    desk: &Desk,
    window: &Window,
    tool: &PreparedTool,
    context: &Context,
    arguments: Value,
    approval: Option<&str>,
) -> Result<Reply> {
    let entry = Entry::new(desk, window, tool, &arguments);
    // A retry with its idempotency key has its answer already, also when the
    // work could no longer be done.
    let mut work = ready(window, tool, context, arguments)
        .await
        .unwrap_or_else(refusing);
    let store = store(window)?;
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
                redemption::keep(sql, &approval.id, &redemption::text(Ok(&reply))?)?;
            }
            Ok(reply)
        })
    });
    within(tool.tool.time_limit + GRACE, done).await
}

/// Beginning the work uses its approval up, whatever comes of it: it is done
/// once or, after a crash, perhaps not at all, but never twice. So what is begun
/// goes on to its end even when its client has gone, and its result is kept for
/// the identical call.
async fn approved(
    desk: &Desk,
    window: &Window,
    tool: &PreparedTool,
    context: &mut Context,
    arguments: Value,
    approval: &str,
) -> Ran {
    if let Err(error) = redeem_before(desk, context, approval).await {
        return Ran {
            result: Err(error),
            is_kept: false,
        };
    }
    context.cancel = CancellationToken::new();
    let result = outside_transaction(window, tool, context, arguments).await;
    match keep_after(desk, approval, &result).await {
        Ok(is_kept) => Ran { result, is_kept },
        Err(error) => {
            // It is done; who repeats it is told that its outcome is not known.
            tracing::warn!(cause = ?error.cause, approval, "the answer of an approved call could not be kept");
            Ran {
                result,
                is_kept: true,
            }
        }
    }
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

/// Keeps the result for the identical call. `false` when there is none to keep:
/// the tool asks back, or nobody knows how far it came.
async fn keep_after(desk: &Desk, approval: &str, result: &Result<Reply>) -> Result<bool> {
    let asks_back = matches!(result, Ok(Reply::InputRequired { .. }));
    let text = match result {
        Err(error) if error.is_internal() || error.code == kit::error::TIMEOUT => return Ok(false),
        result => redemption::text(result.as_ref())?,
    };
    let approval = approval.to_owned();
    let store = &desk.state.get().await?.store;
    store
        .transaction(Budget::default(), move |sql| match asks_back {
            true => approvals::give_back(sql, &approval),
            false => redemption::keep(sql, &approval, &text),
        })
        .await?;
    Ok(!asks_back)
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
