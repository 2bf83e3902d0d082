//! The time zone of whoever looks at the console.

use axum::http::HeaderMap;
use jiff::tz::TimeZone;

use super::session;

/// Set by the script of the pages. Without scripts nobody can say where the reader is.
const ZONE_COOKIE: &str = "madoguchi_zone";

/// The zone of the reader's browser, else that of this machine.
pub fn zone_of(headers: &HeaderMap) -> TimeZone {
    let is_name = |name: &&str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+');
        name.len() <= 64 && name.chars().all(is_letter)
    };
    session::cookies(headers, ZONE_COOKIE)
        .find(is_name)
        .and_then(kit::time::zone)
        .unwrap_or_else(TimeZone::system)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_browser_names_its_zone_and_nothing_else() {
        let zone = |cookie: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("cookie", HeaderValue::from_static(cookie));
            zone_of(&headers)
        };
        let named = zone("a=b; madoguchi_zone=America/New_York");
        assert_eq!(named.iana_name(), Some("America/New_York"));
        for cookie in [
            "",
            "madoguchi_zone=../../etc/passwd",
            "madoguchi_zone=Mars/Base",
        ] {
            assert_eq!(zone(cookie), TimeZone::system(), "{cookie}");
        }
    }
}
