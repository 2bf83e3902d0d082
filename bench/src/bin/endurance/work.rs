//! The mixed work of a day: who comes, and how often.

mod agents;
mod counters;
mod voice;

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use futures::future::BoxFuture;
use tokio::{sync::watch, task::JoinSet};

use crate::client::World;

/// One visit; it gets its number.
type Visit = for<'a> fn(&'a World, u64) -> BoxFuture<'a, Result<()>>;

struct Visitor {
    visit: Visit,
    /// How many of them come at the same time.
    at_once: usize,
    /// Between two visits of one of them.
    pause: Duration,
}

const fn visitor(visit: Visit, at_once: usize, pause_ms: u64) -> Visitor {
    Visitor {
        visit,
        at_once,
        pause: Duration::from_millis(pause_ms),
    }
}

const VISITORS: [Visitor; 13] = [
    visitor(|world, n| Box::pin(counters::book(world, n)), 2, 400),
    visitor(|world, n| Box::pin(counters::shop(world, n)), 2, 500),
    visitor(|world, n| Box::pin(counters::plan(world, n)), 1, 400),
    visitor(|world, n| Box::pin(counters::talk(world, n)), 1, 500),
    visitor(
        |world, n| Box::pin(counters::chat_in_hall(world, n)),
        2,
        500,
    ),
    visitor(
        |world, n| Box::pin(agents::chat_on_socket(world, n)),
        2,
        700,
    ),
    visitor(|world, n| Box::pin(agents::session(world, n)), 2, 500),
    visitor(|world, n| Box::pin(agents::cut_stream(world, n)), 2, 500),
    visitor(|world, n| Box::pin(agents::wrong_key(world, n)), 1, 3000),
    visitor(|world, n| Box::pin(agents::stdio(world, n)), 1, 6000),
    visitor(|world, n| Box::pin(voice::assist(world, n)), 2, 800),
    visitor(|world, n| Box::pin(voice::send_message(world, n)), 1, 1500),
    visitor(|world, n| Box::pin(voice::decide(world, n)), 1, 4000),
];

/// After a visit that failed, because the desk is down or refuses more.
const AFTER_FAILURE: Duration = Duration::from_millis(300);
/// Visits do not last longer.
const LONGEST: Duration = Duration::from_secs(60);

/// Lets everybody come while the doors are open.
pub fn start(world: &Arc<World>, doors: &watch::Receiver<bool>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for visitor in &VISITORS {
        for _ in 0..visitor.at_once {
            tasks.spawn(come(Arc::clone(world), doors.clone(), visitor));
        }
    }
    tasks
}

async fn come(world: Arc<World>, mut doors: watch::Receiver<bool>, visitor: &Visitor) {
    for number in 0.. {
        if doors.wait_for(|open| *open).await.is_err() {
            return;
        }
        let visit = tokio::time::timeout(LONGEST, (visitor.visit)(&world, number));
        if !matches!(visit.await, Ok(Ok(()))) {
            tokio::time::sleep(AFTER_FAILURE).await;
        }
        tokio::time::sleep(visitor.pause).await;
    }
}
