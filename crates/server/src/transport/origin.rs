//! A web origin: scheme, host and port together. Pages of one origin must not
//! call what belongs to another, and another port is another origin.

use http::{Uri, uri::Authority};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub scheme: Scheme,
    pub host: String,
    pub port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

impl Scheme {
    /// Of a listener, which has TLS or not.
    pub fn of(encrypted: bool) -> Self {
        if encrypted { Self::Https } else { Self::Http }
    }

    fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Origin {
    /// An `Origin` header, or an origin as people write it.
    pub fn parse(text: &str) -> Option<Self> {
        let uri: Uri = text.to_ascii_lowercase().parse().ok()?;
        let is_bare = uri.path_and_query().is_none_or(|rest| rest.as_str() == "/");
        Self::of_address(&uri).filter(|_| is_bare)
    }

    /// The origin of the pages at an address.
    pub fn of_address(uri: &Uri) -> Option<Self> {
        let scheme = match uri.scheme_str()? {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        Self::new(scheme, uri.authority()?)
    }

    /// What a client calls that names this authority as its host.
    pub fn new(scheme: Scheme, authority: &Authority) -> Option<Self> {
        let host = normalised(authority.host());
        let is_plain = !authority.as_str().contains('@') && !host.is_empty();
        is_plain.then(|| Self {
            scheme,
            host,
            port: authority.port_u16().unwrap_or(scheme.default_port()),
        })
    }
}

/// A host as it is compared: in small letters, IPv6 without brackets.
pub fn normalised(host: &str) -> String {
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheme_host_and_port_make_an_origin() {
        let same = |one: &str, other: &str| {
            let (one, other) = (Origin::parse(one), Origin::parse(other));
            one.is_some() && one == other
        };
        assert!(same("http://localhost", "HTTP://LOCALHOST:80/"));
        assert!(same("https://a.example:443", "https://a.example"));
        assert!(same("http://[::1]:8010", "http://[::1]:8010/"));
        assert!(!same("http://localhost:8010", "http://localhost:3000"));
        assert!(!same("http://localhost:443", "https://localhost:443"));
        assert!(!same("http://localhost", "http://127.0.0.1"));
        for none in [
            "null",
            "",
            "localhost:8010",
            "file:///etc/passwd",
            "ftp://localhost",
            "http://",
            "http://localhost/path",
            "http://localhost/?query",
            "http://somebody@localhost",
        ] {
            assert_eq!(Origin::parse(none), None, "{none}");
        }
    }
}
