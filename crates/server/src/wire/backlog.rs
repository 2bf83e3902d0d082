//! Answers that clients have not read yet. A small part of each connection's is
//! free; the rest shares a budget. When the budget is used up, the caller with
//! the most unread bytes loses the connection that has waited longest.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use tokio_util::sync::CancellationToken;

/// Unread answers of one connection that are not counted.
const FREE: usize = 8 * 1024;

/// Bytes of all other unread answers together. Callers with a key and callers
/// without have a budget each.
const BUDGET: usize = 4 * 1024 * 1024;

/// Whose connections are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BacklogOwner {
    /// Callers without a key, by the network they come from.
    Address(std::net::IpAddr),
    /// The holder of a key, by its id.
    Key(Arc<str>),
}

/// The unread answers of all connections of a desk.
#[derive(Default)]
pub struct Backlogs {
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    numbers: u64,
    /// Connections with more unread bytes than are free, the longest waiting first.
    waiting: Vec<Waiting>,
}

struct Waiting {
    number: u64,
    reader: BacklogOwner,
    bytes: usize,
    stop: CancellationToken,
}

impl Backlogs {
    /// The backlog of one connection. `stop` ends the connection.
    pub fn of(self: &Arc<Self>, reader: BacklogOwner, stop: CancellationToken) -> Arc<Backlog> {
        let mut book = self.book();
        book.numbers += 1;
        Arc::new(Backlog {
            all: Arc::clone(self),
            number: book.numbers,
            reader: Mutex::new(reader),
            stop,
            bytes: AtomicUsize::new(0),
        })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Updates the entry of a connection.
    fn weigh(&mut self, backlog: &Backlog) {
        let bytes = backlog.bytes.load(Ordering::Relaxed);
        let known = self
            .waiting
            .iter()
            .position(|it| it.number == backlog.number);
        match known {
            Some(at) if bytes <= FREE => drop(self.waiting.remove(at)),
            Some(at) => {
                if let Some(waiting) = self.waiting.get_mut(at) {
                    waiting.bytes = bytes;
                }
            }
            None if bytes <= FREE || backlog.stop.is_cancelled() => {}
            None => self.waiting.push(Waiting {
                number: backlog.number,
                reader: backlog.reader(),
                bytes,
                stop: backlog.stop.clone(),
            }),
        }
    }

    /// Ends connections until the rest fits in the budget.
    fn make_room(&mut self, has_key: bool) {
        let is_of_class = |it: &&Waiting| matches!(it.reader, BacklogOwner::Key(_)) == has_key;
        let bytes = |it: &Waiting| it.bytes;
        while self
            .waiting
            .iter()
            .filter(is_of_class)
            .map(bytes)
            .sum::<usize>()
            > BUDGET
        {
            let mut by_reader: HashMap<&BacklogOwner, usize> = HashMap::new();
            for it in self.waiting.iter().filter(is_of_class) {
                *by_reader.entry(&it.reader).or_default() += it.bytes;
            }
            let most = by_reader.into_iter().max_by_key(|(_, bytes)| *bytes);
            let Some(reader) = most.map(|(reader, _)| reader.clone()) else {
                return;
            };
            let Some(at) = self.waiting.iter().position(|it| it.reader == reader) else {
                return;
            };
            self.waiting.remove(at).stop.cancel();
        }
    }
}

/// The unread answers of one connection.
pub struct Backlog {
    all: Arc<Backlogs>,
    number: u64,
    reader: Mutex<BacklogOwner>,
    stop: CancellationToken,
    bytes: AtomicUsize,
}

impl Backlog {
    /// Counts an answer until it is dropped.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> UnreadAnswer {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > FREE {
            let mut book = self.all.book();
            book.weigh(self);
            book.make_room(matches!(self.reader(), BacklogOwner::Key(_)));
        }
        UnreadAnswer {
            backlog: Arc::clone(self),
            bytes,
        }
    }

    /// Whether an answer of so many bytes is not counted. Nearly all are so small.
    pub fn is_free(bytes: u64) -> bool {
        bytes <= FREE as u64 / 2
    }

    /// Counts bytes until they are dropped.
    pub fn counted(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        if Self::is_free(bytes.len() as u64) {
            return bytes;
        }
        let held = self.hold(bytes.len());
        Bytes::from_owner(Counted { bytes, _held: held })
    }

    /// Sets who reads, once that is known.
    pub fn read_by(&self, reader: BacklogOwner) {
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = reader;
    }

    fn reader(&self) -> BacklogOwner {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.clone()
    }
}

struct Counted {
    bytes: Bytes,
    _held: UnreadAnswer,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// An answer that is not read yet.
pub struct UnreadAnswer {
    backlog: Arc<Backlog>,
    bytes: usize,
}

impl Drop for UnreadAnswer {
    fn drop(&mut self) {
        let before = self.backlog.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        if before > FREE {
            self.backlog.all.book().weigh(&self.backlog);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    const PART: usize = BUDGET / 8;

    fn connect(all: &Arc<Backlogs>, reader: &BacklogOwner) -> (Arc<Backlog>, CancellationToken) {
        let stop = CancellationToken::new();
        (all.of(reader.clone(), stop.clone()), stop)
    }

    fn address(last: u8) -> BacklogOwner {
        BacklogOwner::Address(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)))
    }

    #[test]
    fn whoever_holds_most_loses_the_connection_that_waits_longest() {
        let all = Arc::default();
        let (modest, modest_stop) = connect(&all, &address(1));
        let _first = modest.hold(PART);
        let mut greedy = Vec::new();
        for _ in 0..7 {
            let (backlog, stop) = connect(&all, &address(2));
            greedy.push((backlog.hold(PART), stop));
        }
        assert!(greedy.iter().all(|(_, stop)| !stop.is_cancelled()));
        let (one_more, stop) = connect(&all, &address(2));
        let _last = one_more.hold(PART);
        assert!(!modest_stop.is_cancelled() && !stop.is_cancelled());
        let stopped = greedy.iter().map(|(_, stop)| stop.is_cancelled());
        assert_eq!(
            stopped.collect::<Vec<_>>(),
            [&[true][..], &[false; 6]].concat()
        );
    }

    #[test]
    fn key_holders_and_others_do_not_compete() {
        let all = Arc::default();
        let (keyless, keyless_stop) = connect(&all, &address(1));
        let _all_of_it = keyless.hold(BUDGET);
        let (keyed, keyed_stop) = connect(&all, &address(1));
        keyed.read_by(BacklogOwner::Key("key".into()));
        let _all_of_theirs = keyed.hold(BUDGET);
        assert!(!keyless_stop.is_cancelled() && !keyed_stop.is_cancelled());
        let _too_much = keyed.hold(1);
        assert!(!keyless_stop.is_cancelled() && keyed_stop.is_cancelled());
    }

    #[test]
    fn answers_that_were_read_no_longer_count() {
        let all = Arc::default();
        let (backlog, stop) = connect(&all, &address(1));
        for _ in 0..20 {
            let bytes = backlog.counted(Bytes::from(vec![0; PART]));
            assert_eq!(bytes.len(), PART);
        }
        assert!(!stop.is_cancelled());
        assert!(all.book().waiting.is_empty());
        assert_eq!(backlog.bytes.load(Ordering::Relaxed), 0);
    }
}
