//! Callers in this process: no wire, no stations.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use bench::{
    load::{Numbers, Outcome},
    wire::{SEATS_TAKEN, Verdict, Work},
};
use kit::{Caller, Context, Counter, Run, context::NoClient, sql::Budget, testing, time::Clock};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::{
    bare::{BareLoop, Booking},
    desk_row::{self, DeskRow},
    workload::{SeatCounts, SeatReads, Workload},
};

/// One call, and how long it took.
pub type Timed = Result<(Verdict, Duration)>;

/// So many callers, each with one call at a time.
pub async fn call<F, C>(callers: usize, numbers: Numbers, one: F) -> Result<Outcome>
where
    F: Fn(u64) -> C + Clone + Send + 'static,
    C: Future<Output = Timed> + Send,
{
    let numbers = Arc::new(numbers);
    let mut tasks = JoinSet::new();
    for _ in 0..callers {
        let (one, numbers) = (one.clone(), Arc::clone(&numbers));
        tasks.spawn(async move {
            let mut outcome = Outcome::default();
            while let Some(number) = numbers.next() {
                let (verdict, latency) = one(number).await?;
                outcome.add(verdict, latency);
            }
            anyhow::Ok(outcome)
        });
    }
    let mut parts = Vec::with_capacity(callers);
    while let Some(part) = tasks.join_next().await {
        parts.push(part??);
    }
    Ok(Outcome::merge(parts, numbers.elapsed()))
}

/// A booking in the bare loop.
pub async fn book_bare(bare: BareLoop, workload: Arc<Workload>, number: u64) -> Timed {
    let booking = Booking::read(workload.booking(number)?)?;
    let started = Instant::now();
    let verdict = bare.book(booking).await?;
    Ok((verdict, started.elapsed()))
}

/// A booking by the counter's own handler in the store, with the desk's row.
pub async fn book(counter: Arc<Counter>, workload: Arc<Workload>, number: u64) -> Timed {
    let context = anonymous();
    let mut arguments: Value = serde_json::from_str(workload.booking(number)?)?;
    let started = Instant::now();
    let tool = counter.tool("reserve_seats").context("a tool")?;
    if let Some(arguments) = arguments.as_object_mut() {
        tool.normalised(&context, arguments);
    }
    let Run::Transaction(handler) = tool.run.clone() else {
        bail!("a booking is one transaction");
    };
    let show = arguments["schedule_id"].as_str().unwrap_or_default();
    let row = DeskRow::new(context.call, show);
    let store = counter.store.as_ref().context("a store")?;
    let work = move |sql: &mut dyn kit::Sql| {
        let reply = handler(&context, sql, arguments.clone())?;
        sql.execute(desk_row::INSERT, &row.params())?;
        Ok(reply)
    };
    let verdict = match store.transaction(Budget::default(), work).await {
        Ok(_) => Verdict::Done,
        Err(error) if error.code == SEATS_TAKEN => Verdict::Refused,
        Err(error) => bail!("{error}: {:?}", error.cause),
    };
    Ok((verdict, started.elapsed()))
}

/// `get_seat_availability` from the store.
pub async fn read(counter: Arc<Counter>, reads: Arc<SeatReads>, number: u64) -> Timed {
    let context = anonymous();
    let arguments = serde_json::from_str(&reads.arguments(number))?;
    let started = Instant::now();
    let answer = testing::call(&counter, &context, "get_seat_availability", arguments).await;
    let latency = started.elapsed();
    let counts: SeatCounts = serde_json::from_value(answer?)?;
    Ok((counts.check()?, latency))
}

fn anonymous() -> Context {
    Context::new(Caller::anonymous(), Clock::system(), Arc::new(NoClient))
}
