//! A visitor's session: a signed cookie, a token that only the console's own
//! pages know, and the check that keeps other pages from acting for a visitor.
//!
//! Browsers send a cookie to every port of a host, so another program on this
//! machine gets it from whoever visits it. Therefore the cookie alone shows and
//! decides nothing. A form token is needed too: it is sent once, when the link is
//! used, and the page keeps it in its origin's own storage.
//!
//! Cookie and token are stateless, so they survive a restart and work on every
//! desk on the same data. Only signing out stores a row, until the cookie would
//! have expired.

use desk::{
    digest::{hex, parse_hex},
    state::{self, OpenState, Secret},
};
use http::{HeaderMap, Uri, header};
use kit::{Result, sql::Budget};
use subtle::ConstantTimeEq;

pub const COOKIE: &str = "madoguchi_console";

/// A working day, and a late evening.
const LASTS_MS: i64 = 12 * 60 * 60 * 1000;

const PLAIN: &str = "plain";
const SCRIPTED: &str = "scripted";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    id: String,
    pub expires_at: i64,
    /// Of a browser that runs no scripts: its pages carry the token themselves.
    pub plain: bool,
}

impl Session {
    pub fn new(now: i64, plain: bool) -> Self {
        Self {
            id: kit::ids::random("", 26),
            expires_at: now + LASTS_MS,
            plain,
        }
    }

    fn claims(&self) -> String {
        let kind = if self.plain { PLAIN } else { SCRIPTED };
        format!("{}.{}.{kind}", self.id, self.expires_at)
    }

    pub fn cookie(&self, secret: &Secret, secure: bool) -> String {
        let claims = self.claims();
        let mac = hex(&secret.mac("console session", claims.as_bytes()));
        cookie(
            COOKIE,
            &format!("{claims}.{mac}"),
            LASTS_MS / 1000,
            "; HttpOnly",
            secure,
        )
    }

    /// The token that requests of this session carry.
    pub fn form_token(&self, secret: &Secret) -> String {
        hex(&secret.mac("console form", self.claims().as_bytes()))
    }

    pub fn knows(&self, secret: &Secret, form_token: &str) -> bool {
        let wanted = secret.mac("console form", self.claims().as_bytes());
        parse_hex(form_token).is_some_and(|given| given.ct_eq(&wanted).into())
    }

    /// The session a request belongs to.
    pub async fn of(state: &OpenState, headers: &HeaderMap, now: i64) -> Result<Option<Self>> {
        let signed = cookies(headers, COOKIE).find_map(|value| Self::parse(&state.secret, value));
        let Some(session) = signed.filter(|session| session.expires_at > now) else {
            return Ok(None);
        };
        Ok(session.is_open(state).await?.then_some(session))
    }

    fn parse(secret: &Secret, value: &str) -> Option<Self> {
        let (claims, mac) = value.rsplit_once('.')?;
        let wanted = secret.mac("console session", claims.as_bytes());
        let is_ours: bool = parse_hex(mac)?.ct_eq(&wanted).into();
        let mut claims = claims.split('.');
        let session = Self {
            id: claims.next()?.to_owned(),
            expires_at: claims.next()?.parse().ok()?,
            plain: claims.next()? == PLAIN,
        };
        is_ours.then_some(session)
    }

    fn ended_hash(&self, secret: &Secret) -> String {
        hex(&secret.mac("console signed out", self.id.as_bytes()))
    }

    /// Whether the visitor has not signed out.
    pub async fn is_open(&self, state: &OpenState) -> Result<bool> {
        let hash = self.ended_hash(&state.secret);
        state
            .store
            .query(Budget::default(), move |sql| {
                let row = sql.query_one(
                    "SELECT 1 FROM desk_links WHERE hash = $1",
                    &[(&hash).into()],
                )?;
                Ok(row.is_none())
            })
            .await
    }

    /// Signs out: the cookie opens nothing any more, whoever has a copy of it.
    pub async fn end(&self, state: &OpenState) -> Result<()> {
        let (hash, expires_at) = (self.ended_hash(&state.secret), self.expires_at);
        state
            .store
            .transaction(Budget::default(), move |sql| {
                // Streams of this session, of whichever desk, look again and end.
                state::touch(sql, state::APPROVALS)?;
                sql.execute(
                    "INSERT INTO desk_links (hash, expires_at) VALUES ($1, $2)
                     ON CONFLICT DO NOTHING",
                    &[(&hash).into(), expires_at.into()],
                )
            })
            .await?;
        state::announce(&state.store, state::APPROVALS);
        Ok(())
    }
}

/// Takes the session's cookie away.
pub fn no_cookie(secure: bool) -> String {
    cookie(COOKIE, "", 0, "; HttpOnly", secure)
}

pub fn cookie(name: &str, value: &str, seconds: i64, more: &str, secure: bool) -> String {
    let secure = if secure { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; Max-Age={seconds}; SameSite=Strict{more}{secure}")
}

pub fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(move |(given, _)| *given == name)
        .map(|(_, value)| value)
}

/// Whether a request that changes something comes from a page of the console.
/// Cookies know no ports, so neither they nor `SameSite` tell a page of another
/// program on this machine from ours; the origin does.
pub fn is_from_here(headers: &HeaderMap, public_url: &str) -> bool {
    let site = headers.get("sec-fetch-site");
    if site.is_some_and(|site| site != "same-origin") {
        return false;
    }
    let Some(origin) = headers.get(header::ORIGIN) else {
        return site.is_some();
    };
    let Some(origin) = origin.to_str().ok().and_then(|text| text.parse().ok()) else {
        return false;
    };
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let same_host = authority(&origin)
        .is_some_and(|own| host.is_some_and(|host| own.eq_ignore_ascii_case(host)));
    let public = public_url.parse::<Uri>().ok();
    let same_public = public.is_some_and(|public| {
        public.scheme() == origin.scheme() && authority(&public) == authority(&origin)
    });
    same_host || same_public
}

fn authority(uri: &Uri) -> Option<&str> {
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    uri.authority().filter(|_| is_web).map(|own| own.as_str())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[test]
    fn a_cookie_is_valid_only_as_it_was_signed() {
        let (secret, other) = (Secret::random(), Secret::random());
        let session = Session::new(1_000, false);
        let cookie = session.cookie(&secret, false);
        let value = cookie
            .strip_prefix("madoguchi_console=")
            .and_then(|rest| rest.split(';').next())
            .unwrap();
        assert_eq!(Session::parse(&secret, value), Some(session.clone()));
        assert_eq!(Session::parse(&other, value), None);
        let later = value.replace(&session.expires_at.to_string(), "99999999999999");
        assert_eq!(Session::parse(&secret, &later), None);
        let weaker = value.replace(SCRIPTED, PLAIN);
        assert_eq!(Session::parse(&secret, &weaker), None);
        for broken in ["", ".", "..", "a.b.c", "a.1"] {
            assert_eq!(Session::parse(&secret, broken), None, "{broken}");
        }
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
        assert!(!cookie.contains("Secure") && session.cookie(&secret, true).contains("Secure"));
    }

    #[test]
    fn a_form_belongs_to_its_session() {
        let secret = Secret::random();
        let (mine, yours) = (Session::new(0, false), Session::new(0, true));
        assert!(mine.knows(&secret, &mine.form_token(&secret)));
        assert!(!mine.knows(&secret, &yours.form_token(&secret)));
        assert!(!mine.knows(&secret, ""));
    }

    #[test]
    fn only_pages_of_the_console_act() {
        let host = ("host", "127.0.0.1:8010");
        let from = |pairs: &[(&'static str, &str)]| {
            let mut all = vec![host];
            all.extend_from_slice(pairs);
            is_from_here(&headers(&all), "https://desk.example")
        };
        assert!(from(&[("origin", "http://127.0.0.1:8010")]));
        assert!(from(&[("origin", "https://desk.example")]));
        assert!(from(&[("sec-fetch-site", "same-origin")]));
        assert!(!from(&[]));
        assert!(!from(&[("origin", "null")]));
        assert!(!from(&[("origin", "http://127.0.0.1:3000")]));
        assert!(!from(&[("origin", "http://desk.example")]));
        assert!(!from(&[("sec-fetch-site", "same-site")]));
        assert!(!from(&[("sec-fetch-site", "none")]));
        let both = ("origin", "http://127.0.0.1:8010");
        assert!(!from(&[both, ("sec-fetch-site", "cross-site")]));
    }
}
