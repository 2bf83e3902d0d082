//! Who may reach a listener at all: the Host and Origin checks that keep web
//! pages from calling a desk on the same machine.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use desk::{
    settings::Listener,
    stations::identify::{Credentials, Keyring, Unidentified},
};
use http::{Extensions, HeaderMap, StatusCode, Uri, header, uri::Authority};
use kit::{Error, Result};

use super::{
    answer,
    connections::{Full, OpenConnection, Standing},
    credentials, cross_origin, files,
    origin::{Origin, Scheme, normalised},
};
use crate::address_limits::Visit;

pub struct Guard {
    /// Where its listener is configured.
    section: &'static str,
    hosts: Vec<String>,
    scheme: Scheme,
    port: u16,
    /// Besides its own: what the operator allows, and where a proxy serves it.
    pub origins: Vec<Origin>,
    pub key_required: bool,
    keyring: Arc<Keyring>,
}

/// Who sends a request, as far as its head tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sender {
    Known,
    /// Has no valid key where one is needed.
    Stranger(Unidentified),
}

/// Whether the wrong key of a request was counted before it was answered.
#[derive(Clone, Default)]
struct WrongKeyCounted(Arc<AtomicBool>);

#[derive(Debug, PartialEq, Eq)]
pub enum Barred {
    /// More than one Host header: a proxy may have checked the other one.
    Hosts,
    Host,
    Origin,
}

impl Guard {
    pub fn new(
        section: &'static str,
        listener: &Listener,
        encrypted: bool,
        keyring: &Arc<Keyring>,
    ) -> Self {
        let mut hosts: Vec<String> = listener
            .allowed_hosts
            .iter()
            .map(|host| normalised(host))
            .collect();
        hosts.push(normalised(&listener.address));
        let allowed = listener.allowed_origins.iter();
        let mut origins: Vec<Origin> = allowed.filter_map(|text| Origin::parse(text)).collect();
        if let Ok(public) = listener.public_url.parse::<Uri>() {
            hosts.extend(public.host().map(normalised));
            origins.extend(Origin::of_address(&public));
        }
        Self {
            section,
            hosts,
            scheme: Scheme::of(encrypted),
            port: listener.port,
            origins,
            key_required: listener.require_key,
            keyring: Arc::clone(keyring),
        }
    }

    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Barred> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let first = hosts.next();
        if hosts.next().is_some() {
            return Err(Barred::Hosts);
        }
        let is_from_page = headers.contains_key(header::ORIGIN);
        if !is_from_page && first.is_some_and(|host| self.knows_plainly(host.as_bytes())) {
            return Ok(());
        }
        let host = match first {
            Some(host) => host.to_str().ok().and_then(|host| host.parse().ok()),
            None => uri.authority().cloned(),
        };
        let Some(host) = host.filter(|host: &Authority| self.knows(host.host())) else {
            return Err(Barred::Host);
        };
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else {
            return Ok(());
        };
        let origin = origin.to_str().ok().and_then(Origin::parse);
        let allowed =
            origins.next().is_none() && origin.is_some_and(|origin| self.trusts(&origin, &host));
        if allowed { Ok(()) } else { Err(Barred::Origin) }
    }

    /// The answer to a request that may not pass.
    fn refuse(&self, request: &Request) -> Option<Response> {
        let section = self.section;
        let text = match self.check(request.uri(), request.headers()) {
            Ok(()) if credentials::are_in_url(request.uri()) => {
                return Some(answer::refuse(
                    StatusCode::BAD_REQUEST,
                    "A key does not belong in a URL, which ends up in logs. Send it as \
                     `Authorization: Bearer KEY`, or to a WebSocket as the subprotocols \
                     `mcp, mcp.auth.KEY`.",
                ));
            }
            Ok(()) => return None,
            Err(Barred::Hosts) => {
                let text = "Send one Host header.";
                return Some(answer::refuse(StatusCode::BAD_REQUEST, text));
            }
            Err(Barred::Host) => format!(
                "This desk is not known by that name. Add it to allowed_hosts in [{section}].\n"
            ),
            Err(Barred::Origin) => format!(
                "Pages of that origin may not call this desk. Add it to allowed_origins in [{section}].\n"
            ),
        };
        Some((StatusCode::FORBIDDEN, text).into_response())
    }

    /// Whether a Host header is a known name, perhaps with a port. Nearly all are; the
    /// others are parsed.
    fn knows_plainly(&self, header: &[u8]) -> bool {
        self.hosts.iter().any(|known| {
            let (Some(host), Some(rest)) = (header.get(..known.len()), header.get(known.len()..))
            else {
                return false;
            };
            let is_port = match rest {
                [] => true,
                [b':', port @ ..] => {
                    (1..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit)
                }
                _ => false,
            };
            // An IPv6 address has brackets there.
            is_port && host.eq_ignore_ascii_case(known.as_bytes()) && !host.contains(&b':')
        })
    }

    fn knows(&self, host: &str) -> bool {
        let host = normalised(host);
        self.hosts.contains(&host)
    }

    /// Whether a page may call: one of the listener's own origin, or of one that
    /// is allowed. Where a tunnel or a container's port leads here, the own
    /// origin is what the request names as its host: no page can change that.
    fn trusts(&self, origin: &Origin, host: &Authority) -> bool {
        let is_own =
            origin.scheme == self.scheme && self.knows(&origin.host) && origin.port == self.port;
        is_own
            || self.origins.contains(origin)
            || Origin::new(self.scheme, host).is_some_and(|called| called == *origin)
    }

    /// Identifies the sender by the head of a request, before its body is read.
    /// Returns an answer if there is no room for the connection.
    pub async fn settle(
        &self,
        counter: &str,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<Sender, Response> {
        let Some(open) = extensions.get::<Arc<OpenConnection>>() else {
            return Ok(Sender::Known);
        };
        let brings_key = credentials::brings_key(headers);
        let is_settled =
            open.is(Standing::Identified) || (open.is(Standing::Anonymous) && !brings_key);
        if is_settled && !open.is_shared() {
            return Ok(Sender::Known);
        }
        let credentials = self.credentials(headers);
        let who = match self.keyring.identify(&credentials, counter).await {
            Ok(who) => who,
            Err(why) => {
                // Counted now: the connection may end before the request is answered.
                if why == Unidentified::InvalidKey
                    && let Some(counted) = extensions.get::<WrongKeyCounted>()
                {
                    counted.0.store(true, Ordering::Relaxed);
                    if let Some(visit) = extensions.get::<Arc<Visit>>() {
                        visit.wrong_key();
                    }
                }
                return Ok(Sender::Stranger(why));
            }
        };
        let settled = open.identify(&who);
        settled.map_err(Full::answer).map(|()| Sender::Known)
    }

    fn recognises(&self, headers: &HeaderMap) -> bool {
        self.keyring.recognises(&self.credentials(headers))
    }

    pub fn credentials(&self, headers: &HeaderMap) -> Credentials {
        credentials::of(headers, self.key_required)
    }
}

/// Refuses names and origins that could never match: they would keep everybody
/// out without a message.
pub fn check_names(listener: &Listener, section: &str) -> Result<()> {
    let is_address = |text: &str| {
        text.parse::<Uri>()
            .is_ok_and(|uri| uri.scheme().is_some() && uri.host().is_some())
    };
    let is_host = |text: &str| {
        let host = normalised(text);
        !host.is_empty()
            && !host.contains(['/', '@'])
            && (!host.contains(':') || host.parse::<IpAddr>().is_ok())
    };
    let invalid = |key: &str, value: &str, next: &str| {
        let message = format!("`{value}` in [{section}] {key} is not valid.");
        Err(Error::new("INVALID_CONFIG", message).next(next))
    };
    if !listener.public_url.is_empty() && !is_address(&listener.public_url) {
        let next = "Write it like https://desk.example.com.";
        return invalid("public_url", &listener.public_url, next);
    }
    if let Some(origin) = listener
        .allowed_origins
        .iter()
        .find(|text| Origin::parse(text).is_none())
    {
        let next = "Write it like https://app.example.com, without a path.";
        return invalid("allowed_origins", origin, next);
    }
    if let Some(host) = listener.allowed_hosts.iter().find(|text| !is_host(text)) {
        let next = "Write the name alone, such as desk.example.com, without a port.";
        return invalid("allowed_hosts", host, next);
    }
    Ok(())
}

/// Refuses requests that the guard bars, and addresses over their limit.
pub async fn check(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    let brings_key = credentials::brings_key(request.headers());
    let visit = request.extensions().get::<Arc<Visit>>().cloned();
    let refused = guard.refuse(&request).or_else(|| {
        // A valid key is never a guess, even if others guess from that address.
        let may_guess = || {
            let wrong_file_key = files::key_in_path(request.uri().path())
                .is_some_and(|key| !guard.keyring.recognises(&Credentials::Key(key.to_owned())));
            wrong_file_key || (brings_key && !guard.recognises(request.headers()))
        };
        Some(answer::over_limit(
            visit.as_ref()?.request(may_guess).err()?,
        ))
    });
    if let Some(mut response) = refused {
        let origin = request.headers().get(header::ORIGIN).cloned();
        answer::drain(request.into_body()).await;
        cross_origin::let_read(&guard.origins, origin, &mut response);
        return response;
    }
    let Some(visit) = visit.filter(|_| brings_key) else {
        return next.run(request).await;
    };
    let counted = WrongKeyCounted::default();
    request.extensions_mut().insert(counted.clone());
    let response = next.run(request).await;
    let is_wrong = response.status() == StatusCode::UNAUTHORIZED;
    if is_wrong && !counted.0.load(Ordering::Relaxed) {
        visit.wrong_key();
    }
    response
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use kit::time::Clock;

    use super::*;
    use desk::{settings::Identity, state::DeskState};

    fn nobody() -> Arc<Keyring> {
        let (none, clock) = (Arc::new(DeskState::none()), Clock::system());
        Arc::new(Keyring::new(&Identity::default(), &[], &none, &clock).unwrap())
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn only_known_hosts_and_origins_pass() {
        let listener = Listener {
            port: 8010,
            allowed_origins: vec!["https://app.example.com".into()],
            public_url: "https://desk.example/inside".into(),
            ..Listener::default()
        };
        let guard = Guard::new("http", &listener, false, &nobody());
        let check = |pairs: &[_]| guard.check(&Uri::from_static("/mcp/cinema"), &headers(pairs));
        assert_eq!(check(&[("host", "localhost:8010")]), Ok(()));
        assert_eq!(check(&[("host", "[::1]:8010")]), Ok(()));
        assert_eq!(check(&[("host", "LOCALHOST")]), Ok(()));
        assert_eq!(check(&[]), Err(Barred::Host));
        assert_eq!(check(&[("host", "evil.example")]), Err(Barred::Host));
        let mut twice = headers(&[("host", "localhost")]);
        twice.append("host", HeaderValue::from_static("localhost"));
        let uri = Uri::from_static("/mcp/cinema");
        assert_eq!(guard.check(&uri, &twice), Err(Barred::Hosts));
        assert_eq!(
            check(&[("host", "localhost.evil.example")]),
            Err(Barred::Host)
        );
        let to = |host, origin| check(&[("host", host), ("origin", origin)]);
        let with = |origin| to("localhost:8010", origin);
        assert_eq!(with("http://localhost:8010"), Ok(()));
        assert_eq!(with("http://127.0.0.1:8010"), Ok(()));
        assert_eq!(with("http://[::1]:8010"), Ok(()));
        assert_eq!(with("https://app.example.com"), Ok(()));
        assert_eq!(with("https://desk.example"), Ok(()));
        // A port of a tunnel or a container, and a page that came from there.
        assert_eq!(to("localhost:9000", "http://localhost:9000"), Ok(()));
        for other in [
            "http://localhost:3000",
            "http://localhost",
            "https://localhost:8010",
            "http://127.0.0.1:3000",
            "http://app.example.com",
            "https://app.example.com:8443",
            "https://desk.example:8443",
            "http://desk.example",
            "https://evil.example",
            "http://evil.example:8010",
            "http://localhost.evil.example:8010",
            "null",
            "",
        ] {
            assert_eq!(with(other), Err(Barred::Origin), "{other}");
        }
        let from = to("localhost:9000", "http://localhost:3000");
        assert_eq!(from, Err(Barred::Origin));
        let from = to("evil.example:8010", "http://evil.example:8010");
        assert_eq!(from, Err(Barred::Host));
    }
}
