//! Runs the tool within its time limit. The work can be cancelled, and a panic is
//! answered as an error.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Context, Error, Reply, Result, Run, Sql, handler::Ready, sql::Budget};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    answer_cache::CachedQuestion,
    approvals::{self, redemption},
    desk::Desk,
    ledger::{self, LedgerEntry},
    panics,
    served_counter::{PreparedTool, ServedCounter},
    stations::approve,
    trace::CallTrace,
};

/// The store applies the time limit itself. If it hangs, the caller is told this much
/// later that the outcome is unknown.
const GRACE: Duration = Duration::from_secs(5);

/// What the store does, in traces.
const QUERY: &str = "store query";
const TRANSACTION: &str = "store transaction";

pub struct RunOutcome {
    pub result: Result<Reply>,
    /// The approval is used, and the result is stored with it.
    pub is_kept: bool,
}

pub async fn run(
    desk: &Desk,
    served: &ServedCounter,
    tool: &PreparedTool,
    context: &mut Context,
    arguments: Value,
    approval: Option<&str>,
    trace: &mut CallTrace,
) -> RunOutcome {
    let limit = tool.tool.time_limit;
    context.deadline = Some(Instant::now() + limit);
    // When the client disconnects, this future is dropped. The guard then cancels the
    // work in the store, which undoes what is not committed.
    context.cancel = context.cancel.child_token();
    let _gone = context.cancel.clone().drop_guard();

    let ran = match (&tool.tool.run, approval) {
        (Run::Transaction(_) | Run::Prepared(_), _) => {
            let work = in_transaction(desk, served, tool, context, arguments, approval, trace);
            // Boxed, because it is the largest future of a call.
            let result = Box::pin(work).await;
            RunOutcome {
                is_kept: approval.is_some() && result.is_ok(),
                result,
            }
        }
        (_, Some(approval)) => {
            let work = run_approved(desk, served, tool, context, arguments, approval, trace);
            Box::pin(work).await
        }
        (_, None) => RunOutcome {
            result: outside_transaction(served, tool, context, arguments, trace).await,
            is_kept: false,
        },
    };
    if ran.result.is_ok() {
        served.publish(context.take_changes());
    }
    ran
}

/// Runs work that has no transaction in which it could use its approval.
async fn outside_transaction(
    served: &ServedCounter,
    tool: &PreparedTool,
    context: &Context,
    arguments: Value,
    trace: &mut CallTrace,
) -> Result<Reply> {
    let limit = tool.tool.time_limit;
    match &tool.tool.run {
        Run::Async(handler) => {
            let deadline = context.deadline.unwrap_or_else(|| Instant::now() + limit);
            let work = panics::caught("the tool", handler(context.clone(), arguments));
            // The work comes first: most of it never waits, and then there is no timer.
            tokio::select! {
                biased;
                result = work => result,
                () = tokio::time::sleep_until(deadline.into()) => Err(late(tool)),
                () = context.cancel.cancelled() => Err(Error::cancelled()),
            }
        }
        Run::Transaction(_) | Run::Prepared(_) => Err(Error::internal(
            "a transaction handler was run outside a transaction",
        )),
        Run::Query(handler) => {
            let store = store(served)?;
            let kept = tool.tool.caches_answers.then_some(&tool.answer_cache);
            let question = kept.and_then(|kept| kept.question(context, &**store, &arguments));
            if let Some(answer) = question.as_ref().and_then(CachedQuestion::answer) {
                return Ok(answer);
            }
            let (handler, inside) = (Arc::clone(handler), context.clone());
            let work = store.query_again(context.budget(), move |sql| {
                handler(&inside, sql, arguments.clone())
            });
            let reply = within(limit + GRACE, trace.job(QUERY, work)).await?;
            match question {
                Some(question) => question.keep(reply),
                None => Ok(reply),
            }
        }
    }
}

/// The work of a transaction. A prepared handler does its expensive part here, before
/// the transaction begins, so that the store's writer does not wait.
async fn ready(
    served: &ServedCounter,
    tool: &PreparedTool,
    context: &Context,
    arguments: Value,
    trace: &mut CallTrace,
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
            let prepared = store(served)?.query_again(context.budget(), move |sql| {
                prepare(&inside, sql, arguments.clone())
            });
            within(tool.tool.time_limit + GRACE, trace.job(QUERY, prepared)).await
        }
        Run::Query(_) | Run::Async(_) => Err(Error::internal("this work has no transaction")),
    }
}

async fn in_transaction(
    desk: &Desk,
    served: &ServedCounter,
    tool: &PreparedTool,
    context: &Context,
    arguments: Value,
    approval: Option<&str>,
    trace: &mut CallTrace,
) -> Result<Reply> {
    let entry = LedgerEntry::new(desk, served, tool, &arguments);
    // A retry with an idempotency key gets its first answer, even if the work could no
    // longer be done.
    let mut work = ready(served, tool, context, arguments, trace)
        .await
        .unwrap_or_else(refusing);
    let store = store(served)?;
    let inside = context.clone();
    let approval = approval.map(|id| ApprovalUse {
        id: id.to_owned(),
        row_in_same_store: desk.keeps_rows_in(store),
    });
    let done = store.transaction(context.budget(), move |sql| {
        // A retried transaction must not announce its changes twice.
        inside.take_changes();
        ledger::run_once(&entry, &inside, sql, |sql| {
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
    within(tool.tool.time_limit + GRACE, trace.job(TRANSACTION, done)).await
}

/// Uses the approval before the work begins. So the work is done once or, after a
/// crash, perhaps not at all, but never twice. It continues even if its client
/// disconnects, and its result is kept for the identical call.
async fn run_approved(
    desk: &Desk,
    served: &ServedCounter,
    tool: &PreparedTool,
    context: &mut Context,
    arguments: Value,
    approval: &str,
    trace: &mut CallTrace,
) -> RunOutcome {
    let redeemed = trace.job(TRANSACTION, redeem_before(desk, context, approval));
    if let Err(error) = redeemed.await {
        return RunOutcome {
            result: Err(error),
            is_kept: false,
        };
    }
    context.cancel = CancellationToken::new();
    let result = outside_transaction(served, tool, context, arguments, trace).await;
    let kept = trace.job(TRANSACTION, keep_after(desk, approval, &result));
    match kept.await {
        Ok(is_kept) => RunOutcome { result, is_kept },
        Err(error) => {
            // The work is done. A repeated call is told that its outcome is unknown.
            tracing::warn!(cause = ?error.cause, approval, "the answer of an approved call could not be kept");
            RunOutcome {
                result,
                is_kept: true,
            }
        }
    }
}

/// Work that always fails with this error.
fn refusing(error: Error) -> Ready {
    let mut error = Some(error);
    Box::new(move |_| {
        let error = error.take();
        Err(error.unwrap_or_else(|| Error::internal("a refused call was repeated")))
    })
}

/// An approval that a transaction uses.
struct ApprovalUse {
    id: String,
    /// Whether its row is in the same store, so that it can change with the work.
    row_in_same_store: bool,
}

impl ApprovalUse {
    fn redeem(&self, sql: &mut dyn Sql, context: &Context) -> Result<()> {
        let now = context.clock.now().as_millisecond();
        let first = redemption::redeem(sql, &self.id, &context.call.to_string(), now)?;
        if !first || (self.row_in_same_store && !approvals::mark_used(sql, &self.id, now)?) {
            return Err(approve::used());
        }
        Ok(())
    }
}

async fn redeem_before(desk: &Desk, context: &Context, approval: &str) -> Result<()> {
    let used = ApprovalUse {
        id: approval.to_owned(),
        row_in_same_store: true,
    };
    let inside = context.clone();
    let store = &desk.state.get().await?.store;
    store
        .transaction(context.budget(), move |sql| used.redeem(sql, &inside))
        .await
}

/// Stores the result for the identical call. `false`: there is none, because the tool
/// asks the client for more or its outcome is unknown.
async fn keep_after(desk: &Desk, approval: &str, result: &Result<Reply>) -> Result<bool> {
    let asks_back = matches!(result, Ok(Reply::InputRequired { .. }));
    let text = match result {
        Err(error) if error.is_internal() || is_unknown(error) => return Ok(false),
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

/// Whether the error leaves open what was done.
fn is_unknown(error: &Error) -> bool {
    error.code == kit::error::TIMEOUT || error.code == kit::error::OUTCOME_UNKNOWN
}

/// Work outside a transaction may be half done.
fn late(tool: &PreparedTool) -> Error {
    if tool.tool.writes() {
        return Error::timeout().next("Check whether it took effect before you retry.");
    }
    Error::timeout()
}

fn store(served: &ServedCounter) -> Result<&Arc<dyn kit::Store>> {
    served
        .counter
        .store
        .as_ref()
        .ok_or_else(|| Error::internal("a tool wants the store of a counter that has none"))
}

async fn within<T>(limit: Duration, work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        Err(Error::new(
            kit::error::TIMEOUT,
            "The store did not answer in time, so it is unknown whether the change was made.",
        )
        .next("Check before you retry, or retry with the same idempotency key."))
    })
}
