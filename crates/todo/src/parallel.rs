//! Work on several threads.

use std::{panic::resume_unwind, thread};

/// Splits the items among up to four threads if `much`.
pub fn on_all<T: Sync, R: Send>(
    items: &[T],
    much: bool,
    work: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let threads = match much {
        true => thread::available_parallelism().map_or(1, usize::from),
        false => 1,
    };
    let share = items.len().div_ceil(threads.min(4)).max(1);
    let mut parts = items.chunks(share);
    let own = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let work = &work;
        let on_thread = |part| {
            let thread = thread::Builder::new().spawn_scoped(scope, move || work(part));
            (part, thread)
        };
        let others: Vec<_> = parts.map(on_thread).collect();
        let mut results = vec![work(own)];
        for (part, other) in others {
            results.push(match other {
                Ok(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // The system has no thread left.
                Err(_) => work(part),
            });
        }
        results
    })
}
