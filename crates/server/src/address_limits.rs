//! Limits per address, for callers without a key: requests and wrong keys per
//! minute. They are checked before anything else, so a refusal costs one table
//! lookup. How many connections an address may have is in `connections.rs`.
//!
//! An IPv6 address counts as its /64 network, which is what one household or one
//! rented machine has to itself. The tables are bounded: when one is full, the
//! address whose minute began first is forgotten.

use std::{
    collections::{HashMap, VecDeque},
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use desk::{metrics::Metrics, settings::Settings};
use prometheus_client::metrics::counter::Counter;

const MINUTE: Duration = Duration::from_secs(60);

/// How many addresses a table remembers: about 2 MB when it is full.
const MOST: usize = 16_384;

/// The counts of all addresses of a desk.
pub struct Addresses {
    requests: Minutes,
    wrong_keys: Minutes,
    refused: Counter,
}

/// Where a connection comes from.
pub struct Visit {
    addresses: Arc<Addresses>,
    from: IpAddr,
}

/// Why a request is refused, with the milliseconds to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barred {
    Requests(u64),
    WrongKeys(u64),
}

impl Barred {
    pub fn retry_after_ms(self) -> u64 {
        match self {
            Self::Requests(wait) | Self::WrongKeys(wait) => wait,
        }
    }

    pub fn message(self) -> &'static str {
        match self {
            Self::Requests(_) => "Too many requests came from your address. Wait, then go on.",
            Self::WrongKeys(_) => {
                "Too many wrong keys came from your address. Wait, then use the right one."
            }
        }
    }
}

impl Addresses {
    pub fn new(settings: &Settings, metrics: &Metrics) -> Arc<Self> {
        Arc::new(Self {
            requests: Minutes::new(settings.limits.requests_per_minute_per_address),
            wrong_keys: Minutes::new(settings.limits.wrong_keys_per_minute),
            refused: metrics.requests_refused.clone(),
        })
    }

    pub fn visit(self: &Arc<Self>, peer: IpAddr) -> Visit {
        Visit {
            addresses: Arc::clone(self),
            from: network(peer),
        }
    }
}

impl Visit {
    /// Counts a request and checks the limits. After too many wrong keys, only
    /// requests that may be another guess are refused; `may_guess` runs only then.
    pub fn request(&self, may_guess: impl FnOnce() -> bool) -> Result<(), Barred> {
        let (now, addresses) = (Instant::now(), &self.addresses);
        let wrong_keys = addresses.wrong_keys.over(self.from, now);
        let wrong_keys = wrong_keys.filter(|_| may_guess());
        let result = match wrong_keys {
            Some(wait) => Err(Barred::WrongKeys(wait)),
            None => addresses
                .requests
                .admit(self.from, now)
                .map_err(Barred::Requests),
        };
        if result.is_err() {
            addresses.refused.inc();
        }
        result
    }

    pub fn wrong_key(&self) {
        let wrong = &self.addresses.wrong_keys;
        if wrong.count(self.from, Instant::now()) {
            let address = self.from;
            tracing::warn!(%address, "too many wrong keys: unknown keys from this address are refused until its minute ends");
        }
    }
}

/// The part of an address that its owner can't change at will.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address => address,
    }
}

/// Counts per address, each in a minute that begins with the first.
struct Minutes {
    /// 0 for no limit.
    most: u32,
    table: Mutex<Table>,
    /// How many addresses are in the table; usually none.
    known: AtomicUsize,
}

#[derive(Default)]
struct Table {
    counts: HashMap<IpAddr, Minute>,
    /// The same addresses, in the order in which their minutes began.
    order: VecDeque<IpAddr>,
}

struct Minute {
    ends: Instant,
    count: u32,
}

impl Minutes {
    fn new(most: u32) -> Self {
        Self {
            most,
            table: Mutex::default(),
            known: AtomicUsize::new(0),
        }
    }

    /// The milliseconds to wait, when there were too many.
    fn over(&self, address: IpAddr, now: Instant) -> Option<u64> {
        if self.most == 0 || self.known.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.table().over(address, now, self.most)
    }

    /// `true` when this one reaches the limit.
    fn count(&self, address: IpAddr, now: Instant) -> bool {
        if self.most == 0 {
            return false;
        }
        let mut table = self.table();
        let count = table.count(address, now);
        self.known.store(table.counts.len(), Ordering::Relaxed);
        count == self.most
    }

    /// Counts one, unless there were too many.
    fn admit(&self, address: IpAddr, now: Instant) -> Result<(), u64> {
        if self.most == 0 {
            return Ok(());
        }
        let mut table = self.table();
        if let Some(wait) = table.over(address, now, self.most) {
            return Err(wait);
        }
        table.count(address, now);
        Ok(())
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn over(&self, address: IpAddr, now: Instant, most: u32) -> Option<u64> {
        let minute = self.counts.get(&address)?;
        let left = minute.ends.saturating_duration_since(now);
        let wait = u64::try_from(left.as_millis()).unwrap_or_default();
        (minute.count >= most && !left.is_zero()).then_some(wait.max(1))
    }

    /// How many there were in its minute, this one included.
    fn count(&mut self, address: IpAddr, now: Instant) -> u32 {
        self.forget(now);
        if let Some(minute) = self.counts.get_mut(&address) {
            minute.count = minute.count.saturating_add(1);
            return minute.count;
        }
        if self.counts.len() >= MOST {
            self.forget_first();
        }
        let ends = now + MINUTE;
        self.counts.insert(address, Minute { ends, count: 1 });
        self.order.push_back(address);
        1
    }

    /// Drops the minutes that are over.
    fn forget(&mut self, now: Instant) {
        while let Some(first) = self.order.front() {
            if self
                .counts
                .get(first)
                .is_some_and(|minute| now < minute.ends)
            {
                break;
            }
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some(first) = self.order.pop_front() {
            self.counts.remove(&first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    #[test]
    fn a_minute_begins_with_its_first_request() {
        let minutes = Minutes::new(3);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(!minutes.count(v4(1), at(0)));
        assert!(!minutes.count(v4(1), at(10)));
        assert_eq!(minutes.over(v4(1), at(10)), None);
        assert!(minutes.count(v4(1), at(20)));
        assert_eq!(minutes.over(v4(1), at(20)), Some(40_000));
        assert_eq!(minutes.over(v4(2), at(20)), None);
        assert_eq!(minutes.over(v4(1), at(60)), None);
        assert!(!minutes.count(v4(1), at(61)));
        assert_eq!(minutes.over(v4(1), at(61)), None);
    }

    #[test]
    fn zero_means_no_limit() {
        let minutes = Minutes::new(0);
        let now = Instant::now();
        for _ in 0..100 {
            assert!(!minutes.count(v4(1), now));
        }
        assert_eq!(minutes.over(v4(1), now), None);
        assert!(minutes.table().counts.is_empty());
    }

    #[test]
    fn the_table_does_not_grow_beyond_its_bound() {
        let minutes = Minutes::new(1);
        let now = Instant::now();
        let many = u32::try_from(MOST).unwrap() + 1000;
        for number in 0..many {
            minutes.count(v4(number), now);
        }
        assert_eq!(minutes.table().counts.len(), MOST);
        assert_eq!(minutes.table().order.len(), MOST);
        assert_eq!(minutes.over(v4(0), now), None, "the first is forgotten");
        assert!(minutes.over(v4(many - 1), now).is_some());
        // When their minute is over, all of them go.
        minutes.count(v4(0), now + MINUTE);
        assert_eq!(minutes.table().counts.len(), 1);
        assert_eq!(minutes.table().order.len(), 1);
    }

    #[test]
    fn neighbours_on_an_ipv6_network_count_as_one() {
        let network = |text: &str| network(text.parse().unwrap());
        assert_eq!(
            network("2001:db8:1:2:3::4"),
            network("2001:db8:1:2:ffff::9")
        );
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
    }

    #[test]
    fn wrong_keys_bar_only_callers_with_an_unknown_key() {
        let mut settings = Settings::default();
        settings.limits.wrong_keys_per_minute = 2;
        settings.limits.requests_per_minute_per_address = 3;
        let addresses = Addresses::new(&settings, &Metrics::new());
        let visit = addresses.visit(v4(1));
        assert_eq!(visit.request(|| true), Ok(()));
        visit.wrong_key();
        assert_eq!(visit.request(|| true), Ok(()));
        visit.wrong_key();
        assert!(matches!(visit.request(|| true), Err(Barred::WrongKeys(_))));
        assert_eq!(visit.request(|| false), Ok(()));
        assert!(matches!(visit.request(|| false), Err(Barred::Requests(_))));
        let other = addresses.visit(v4(2));
        assert_eq!(other.request(|| true), Ok(()));
    }
}
