//! What hostile callers do. A behaviour is what one connection does; it is
//! repeated on many connections until the run ends.

mod bodies;
mod counters;
mod sessions;
mod slow;
mod sockets;
mod unread;
mod voice;

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use anyhow::Result;
use futures::future::BoxFuture;
use tokio::task::JoinSet;

use crate::caller::Caller;

pub use counters::prepare;

/// Connections that all behaviours together hold. The desk allows 1,024; those
/// that come and go need some too.
const HELD: usize = 900;

/// One behaviour alone tries to hold more than the desk allows.
const HELD_ALONE: usize = 1_100;

/// A connection that was refused or broken off is tried again after this long.
const PAUSE: Duration = Duration::from_secs(1);

/// How many connections a behaviour has at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Crowd {
    /// An equal share of those that may be held.
    Share,
    Few(usize),
}
use Crowd::{Few, Share};

/// One connection, with its number in the crowd, from opening to closing.
type One = dyn Fn(Arc<Caller>, usize) -> BoxFuture<'static, Result<()>> + Send + Sync;

pub struct Behaviour {
    pub name: &'static str,
    needs_key: bool,
    crowd: Crowd,
    one: Arc<One>,
}

fn anybody<F>(
    name: &'static str,
    crowd: Crowd,
    one: impl Fn(Arc<Caller>, usize) -> F + Send + Sync + 'static,
) -> Behaviour
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    Behaviour {
        name,
        needs_key: false,
        crowd,
        one: Arc::new(move |caller, number| Box::pin(one(caller, number))),
    }
}

fn keyed(behaviour: Behaviour) -> Behaviour {
    Behaviour {
        needs_key: true,
        ..behaviour
    }
}

pub static ALL: LazyLock<Vec<Behaviour>> = LazyLock::new(|| {
    vec![
        anybody("idle-sockets", Share, sockets::idle),
        anybody("large-clients", Share, sockets::large_client),
        anybody("waits", Share, sockets::waits),
        anybody("in-flight", Few(6), sockets::in_flight),
        anybody("unread-metrics", Share, unread::metrics),
        anybody("unread-answers", Share, unread::answers),
        anybody("unread-sockets", Few(16), unread::sockets),
        anybody("slow-heads", Share, slow::head),
        anybody("slow-bodies", Share, slow::body),
        anybody("tiny-chunks", Few(8), slow::tiny_chunks),
        anybody("slow-messages", Share, slow::message),
        anybody("large-bodies", Few(8), bodies::large),
        anybody("large-messages", Few(6), bodies::large_message),
        anybody("once-large", Share, bodies::once_large),
        anybody("deep-json", Few(4), bodies::deep),
        anybody("batches", Few(4), bodies::batch),
        anybody("sessions", Few(6), sessions::many),
        anybody("session-calls", Few(4), sessions::calls),
        anybody("subscriptions", Few(8), sessions::subscriptions),
        anybody("listens", Share, sessions::listen),
        anybody("searches", Few(4), counters::searches),
        anybody("room-churn", Few(2), counters::room_churn),
        anybody("mentions", Few(4), counters::mentions),
        anybody("carts", Few(4), counters::carts),
        anybody("bookings", Few(2), counters::bookings),
        anybody("tasks", Few(2), counters::tasks),
        anybody("reads", Few(8), counters::reads),
        anybody("wrong-keys", Few(8), counters::wrong_keys),
        keyed(anybody("approvals", Few(8), voice::approvals)),
        keyed(anybody("repeats", Few(2), voice::repeats)),
    ]
});

/// Everything that a caller with or without a key can do.
pub fn of(has_key: bool) -> Vec<&'static Behaviour> {
    let can = |it: &&Behaviour| has_key || !it.needs_key;
    ALL.iter().filter(can).collect()
}

/// How many connections each of them holds, of those that take a share.
pub fn share(of: &[&Behaviour]) -> usize {
    match of.iter().filter(|it| it.crowd == Share).count() {
        0 | 1 if of.len() == 1 => HELD_ALONE,
        sharing => HELD / sharing.max(1),
    }
}

impl Behaviour {
    /// Starts it; it goes on until the tasks are dropped.
    pub fn start(&self, caller: &Arc<Caller>, share: usize, tasks: &mut JoinSet<()>) {
        let connections = match self.crowd {
            Few(few) => few,
            Share => share,
        };
        for number in 0..connections {
            let (caller, one) = (Arc::clone(caller), Arc::clone(&self.one));
            tasks.spawn(async move {
                loop {
                    if one(Arc::clone(&caller), number).await.is_err() {
                        caller.tally.broke();
                        tokio::time::sleep(PAUSE).await;
                    }
                }
            });
        }
    }
}
