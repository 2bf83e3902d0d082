//! Limits per address, for callers without a key: requests and wrong keys per
//! minute. They are checked before anything else, so a refusal costs one table
//! lookup. How many connections an address may have is in `connections.rs`.
//!
//! An IPv6 address counts as its /64 network, which is what one household or one
//! rented machine has to itself.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
    time::Instant,
};

use desk::{metrics::Metrics, settings::Settings};
use kit::minute_limit::MinuteLimit;
use prometheus_client::metrics::counter::Counter;

/// How many addresses each limit remembers.
const MOST: usize = 16_384;

/// The counts of all addresses of a desk.
pub struct Addresses {
    requests: MinuteLimit<IpAddr>,
    wrong_keys: MinuteLimit<IpAddr>,
    refused: Counter,
    started: Instant,
}

/// Where a request comes from.
pub struct Visit {
    addresses: Arc<Addresses>,
    pub address: IpAddr,
    from: IpAddr,
}

/// Why a request is refused, with the milliseconds to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverLimit {
    Requests(u64),
    WrongKeys(u64),
}

impl OverLimit {
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
            requests: MinuteLimit::new(settings.limits.requests_per_minute_per_address, MOST),
            wrong_keys: MinuteLimit::new(settings.limits.wrong_keys_per_minute, MOST),
            refused: metrics.requests_refused.clone(),
            started: Instant::now(),
        })
    }

    /// Milliseconds since the start.
    fn now(&self) -> i64 {
        i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    pub fn visit(self: &Arc<Self>, address: IpAddr) -> Visit {
        Visit {
            addresses: Arc::clone(self),
            address,
            from: network(address),
        }
    }
}

impl Visit {
    /// Counts a request and checks the limits. After too many wrong keys, only
    /// requests that may be another guess are refused; `may_guess` runs only then.
    pub fn request(&self, may_guess: impl FnOnce() -> bool) -> Result<(), OverLimit> {
        let addresses = &self.addresses;
        let now = addresses.now();
        let wrong_keys = addresses.wrong_keys.wait(&self.from, now);
        let wrong_keys = wrong_keys.filter(|_| may_guess());
        let result = match wrong_keys {
            Some(wait) => Err(OverLimit::WrongKeys(wait)),
            None => addresses
                .requests
                .admit(self.from, now)
                .map_err(OverLimit::Requests),
        };
        if result.is_err() {
            addresses.refused.inc();
        }
        result
    }

    pub fn wrong_key(&self) {
        let addresses = &self.addresses;
        if addresses.wrong_keys.count(self.from, addresses.now()) {
            let address = self.from;
            tracing::warn!(%address, "too many wrong keys: unknown keys from this address are refused until the first of them is a minute old");
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

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
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
        assert!(matches!(
            visit.request(|| true),
            Err(OverLimit::WrongKeys(_))
        ));
        assert_eq!(visit.request(|| false), Ok(()));
        assert!(matches!(
            visit.request(|| false),
            Err(OverLimit::Requests(_))
        ));
        let other = addresses.visit(v4(2));
        assert_eq!(other.request(|| true), Ok(()));
    }
}
