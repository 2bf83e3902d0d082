//! Which address a request comes from when proxies stand in front.
//!
//! Only the proxies that a listener names are believed. Each proxy adds the
//! address it was called from at the end of `X-Forwarded-For` or `Forwarded`, so
//! the headers are read from the end: the first address that is no trusted proxy
//! is the client's. What stands before it, the client may have written itself.

use std::net::IpAddr;

use desk::settings::Listener;
use http::{HeaderMap, HeaderName, header};
use kit::{Error, Result};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The proxies that a listener trusts.
#[derive(Debug, Default)]
pub struct Proxies(Vec<Network>);

/// All addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    bits: u32,
}

impl Proxies {
    /// `section` configures the listener.
    pub fn new(listener: &Listener, section: &str) -> Result<Self> {
        let network = |text: &String| {
            Network::parse(text).ok_or_else(|| {
                let message = format!("`{text}` in [{section}] trusted_proxies is not valid.");
                Error::new("INVALID_CONFIG", message)
                    .next("Write addresses or networks, such as 10.0.0.7, 10.0.0.0/8 or fd00::/8.")
            })
        };
        let networks = listener.trusted_proxies.iter().map(network);
        networks.collect::<Result<_>>().map(Self)
    }

    pub fn trust(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(address))
    }

    /// The address of the client. `peer` is who opened the connection.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.trust(peer) {
            return peer;
        }
        let by_list = headers.contains_key(X_FORWARDED_FOR).then(|| {
            let lists = texts(headers, X_FORWARDED_FOR);
            let hops = lists.flat_map(|list| list.split(',').rev());
            self.first_untrusted(peer, hops.map(node))
        });
        let by_standard = headers.contains_key(header::FORWARDED).then(|| {
            let lists = texts(headers, header::FORWARDED);
            let hops = lists.flat_map(|list| elements(list).into_iter().rev());
            self.first_untrusted(peer, hops.map(|element| element.and_then(node)))
        });
        match (by_list, by_standard) {
            (Some(one), Some(other)) if one == other => one,
            // A proxy writes one of them and may pass on the other as it came from the
            // client. Which one that is can't be told.
            (Some(_), Some(_)) | (None, None) => peer,
            (Some(client), None) | (None, Some(client)) => client,
        }
    }

    /// Follows the hops from the nearest on. Ends where one can't be read, because
    /// nothing is known about those before it.
    fn first_untrusted(&self, peer: IpAddr, hops: impl Iterator<Item = Option<IpAddr>>) -> IpAddr {
        let mut last = peer;
        for hop in hops {
            let Some(hop) = hop else { break };
            last = hop;
            if !self.trust(hop) {
                break;
            }
        }
        last
    }
}

/// The values of a header, the last first. One that is not text hides those
/// before it.
fn texts(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let values: Vec<_> = headers.get_all(name).iter().collect();
    let texts = values.into_iter().rev();
    texts.map(|value| value.to_str().unwrap_or("unknown"))
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.trim().split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text.trim(), None),
        };
        let address: IpAddr = address.parse().ok()?;
        let all = width(address);
        let bits = match bits {
            Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => bits.parse().ok()?,
            Some(_) => return None,
            None => all,
        };
        (bits <= all).then(|| Self { address, bits }.canonical())
    }

    /// IPv4 addresses that are written as IPv6 are compared as what they are.
    fn canonical(self) -> Self {
        let address = self.address.to_canonical();
        let fewer = width(self.address) - width(address);
        match self.bits.checked_sub(fewer) {
            Some(bits) => Self { address, bits },
            None => self,
        }
    }

    fn contains(&self, address: IpAddr) -> bool {
        let all = width(self.address);
        if all != width(address) {
            return false;
        }
        let different = number(self.address) ^ number(address);
        // Shifting by all bits is an overflow: then no bit has to be alike.
        different.checked_shr(all - self.bits).unwrap_or_default() == 0
    }
}

fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// One hop, with or without a port: `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`.
/// `None` for anything else, such as `unknown` and the names behind which proxies hide.
fn node(text: impl AsRef<str>) -> Option<IpAddr> {
    let text = text.as_ref().trim();
    let is_port = |port: &str| port.parse::<u16>().is_ok() || port.starts_with('_');
    let address = if let Some(rest) = text.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        let has_port = port.strip_prefix(':').is_some_and(is_port);
        Some(address).filter(|it| it.contains(':') && (port.is_empty() || has_port))?
    } else {
        match text.split_once(':') {
            Some((address, port)) if !port.contains(':') => {
                Some(address).filter(|_| is_port(port))?
            }
            _ => text,
        }
    };
    let address: IpAddr = address.parse().ok()?;
    Some(address.to_canonical())
}

/// The `for` of each element of a `Forwarded` header. A header that breaks the rules
/// (RFC 7239) has one element that says nothing.
fn elements(list: &str) -> Vec<Option<String>> {
    let mut found = Vec::new();
    let mut rest = list;
    let mut hop = None;
    loop {
        let Some((name, after)) = pair(rest.trim_start()) else {
            return vec![None];
        };
        if let Some((name, value)) = name
            && name.eq_ignore_ascii_case("for")
            && hop.replace(value).is_some()
        {
            return vec![None];
        }
        let after = after.trim_start();
        if let Some(next) = after.strip_prefix(';') {
            rest = next;
            continue;
        }
        found.push(hop.take());
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return found,
            None => return vec![None],
        }
    }
}

/// One `name=value` or nothing, and what follows it. `None`: it is not valid.
type Pair<'a> = (Option<(&'a str, String)>, &'a str);

fn pair(text: &str) -> Option<Pair<'_>> {
    if text.is_empty() || text.starts_with([',', ';']) {
        return Some((None, text));
    }
    let (name, rest) = text.split_once('=')?;
    if name.contains([',', ';', '"']) {
        return None;
    }
    if let Some(quoted) = rest.strip_prefix('"') {
        let mut value = String::new();
        let mut letters = quoted.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => return Some((Some((name, value)), quoted.get(at + 1..)?)),
                '\\' => value.push(letters.next()?.1),
                letter => value.push(letter),
            }
        }
        return None;
    }
    let end = rest.find([',', ';']).unwrap_or(rest.len());
    let (value, rest) = rest.split_at_checked(end)?;
    Some((Some((name, value.trim_end().to_owned())), rest))
}

#[cfg(test)]
mod tests;
