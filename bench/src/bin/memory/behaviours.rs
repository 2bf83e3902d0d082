//! What hostile callers do. A behaviour is what one connection does; it is
//! repeated on many connections until the run ends.

mod bodies;
mod counters;
mod sessions;
mod slow;
mod sockets;
mod unread;
mod voice;

use std::{sync::Arc, time::Duration};

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
type One = fn(Arc<Caller>, usize) -> BoxFuture<'static, Result<()>>;

pub struct Behaviour {
    pub name: &'static str,
    needs_key: bool,
    crowd: Crowd,
    one: One,
}

const fn anybody(name: &'static str, crowd: Crowd, one: One) -> Behaviour {
    Behaviour {
        name,
        needs_key: false,
        crowd,
        one,
    }
}

const fn keyed(name: &'static str, crowd: Crowd, one: One) -> Behaviour {
    Behaviour {
        needs_key: true,
        ..anybody(name, crowd, one)
    }
}

pub static ALL: [Behaviour; 30] = [
    anybody("idle-sockets", Share, |c, n| Box::pin(sockets::idle(c, n))),
    anybody("large-clients", Share, |c, n| {
        Box::pin(sockets::large_client(c, n))
    }),
    anybody("waits", Share, |c, n| Box::pin(sockets::waits(c, n))),
    anybody("in-flight", Few(6), |c, n| {
        Box::pin(sockets::in_flight(c, n))
    }),
    anybody("unread-metrics", Share, |c, n| {
        Box::pin(unread::metrics(c, n))
    }),
    anybody("unread-answers", Share, |c, n| {
        Box::pin(unread::answers(c, n))
    }),
    anybody("unread-sockets", Few(16), |c, n| {
        Box::pin(unread::sockets(c, n))
    }),
    anybody("slow-heads", Share, |c, n| Box::pin(slow::head(c, n))),
    anybody("slow-bodies", Share, |c, n| Box::pin(slow::body(c, n))),
    anybody("tiny-chunks", Few(8), |c, n| {
        Box::pin(slow::tiny_chunks(c, n))
    }),
    anybody("slow-messages", Share, |c, n| Box::pin(slow::message(c, n))),
    anybody("large-bodies", Few(8), |c, n| Box::pin(bodies::large(c, n))),
    anybody("large-messages", Few(6), |c, n| {
        Box::pin(bodies::large_message(c, n))
    }),
    anybody("once-large", Share, |c, n| {
        Box::pin(bodies::once_large(c, n))
    }),
    anybody("deep-json", Few(4), |c, n| Box::pin(bodies::deep(c, n))),
    anybody("batches", Few(4), |c, n| Box::pin(bodies::batch(c, n))),
    anybody("sessions", Few(6), |c, n| Box::pin(sessions::many(c, n))),
    anybody("session-calls", Few(4), |c, n| {
        Box::pin(sessions::calls(c, n))
    }),
    anybody("subscriptions", Few(8), |c, n| {
        Box::pin(sessions::subscriptions(c, n))
    }),
    anybody("listens", Share, |c, n| Box::pin(sessions::listen(c, n))),
    anybody("searches", Few(4), |c, n| {
        Box::pin(counters::searches(c, n))
    }),
    anybody("room-churn", Few(2), |c, n| {
        Box::pin(counters::room_churn(c, n))
    }),
    anybody("mentions", Few(4), |c, n| {
        Box::pin(counters::mentions(c, n))
    }),
    anybody("carts", Few(4), |c, n| Box::pin(counters::carts(c, n))),
    anybody("bookings", Few(2), |c, n| {
        Box::pin(counters::bookings(c, n))
    }),
    anybody("tasks", Few(2), |c, n| Box::pin(counters::tasks(c, n))),
    anybody("reads", Few(8), |c, n| Box::pin(counters::reads(c, n))),
    anybody("wrong-keys", Few(8), |c, n| {
        Box::pin(counters::wrong_keys(c, n))
    }),
    keyed("approvals", Few(8), |c, n| Box::pin(voice::approvals(c, n))),
    keyed("repeats", Few(2), |c, n| Box::pin(voice::repeats(c, n))),
];

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
            let (caller, one) = (Arc::clone(caller), self.one);
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
