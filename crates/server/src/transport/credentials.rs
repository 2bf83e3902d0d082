//! The key that a request brings: in a header, or in a WebSocket's subprotocols.

use desk::stations::identify::Credentials;
use http::{HeaderMap, Uri, header};

/// Before the key, in a subprotocol.
const KEY_PROTOCOL: &str = "mcp.auth.";

/// What people call a key in an address.
const KEY_PARAMETERS: [&str; 4] = ["key", "api_key", "token", "access_token"];

/// The key of a request: `Authorization: Bearer KEY`, or, for WebSocket clients that
/// cannot set headers, a subprotocol `mcp.auth.KEY`.
pub fn of(headers: &HeaderMap, key_required: bool) -> Credentials {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        // A header that is there but not a bearer key opens nothing.
        let key = value.to_str().ok().and_then(bearer).unwrap_or_default();
        return Credentials::Key(key.to_owned());
    }
    subprotocols(headers)
        .find_map(|protocol| protocol.strip_prefix(KEY_PROTOCOL))
        .map_or(Credentials::Nothing { key_required }, |key| {
            Credentials::Key(key.to_owned())
        })
}

/// Whether [`of`] would find a key, right or wrong.
pub fn brings_key(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION)
        || subprotocols(headers).any(|protocol| protocol.starts_with(KEY_PROTOCOL))
}

/// Whether a URL contains a key. Proxies and browsers log URLs. Links into the
/// console work once and are not keys.
pub fn are_in_url(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    !uri.path().starts_with("/console/")
        && query.split('&').any(|pair| {
            let name = pair.split('=').next().unwrap_or_default();
            KEY_PARAMETERS
                .iter()
                .any(|key| name.eq_ignore_ascii_case(key))
        })
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

fn subprotocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(header::SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn keys_come_in_a_header_or_a_subprotocol_never_in_an_address() {
        let found = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            of(&headers, false)
        };
        let key = |key: &str| Credentials::Key(key.into());
        assert_eq!(found("authorization", "Bearer abc"), key("abc"));
        assert_eq!(found("authorization", "Basic abc"), key(""));
        assert_eq!(
            found("sec-websocket-protocol", "mcp, mcp.auth.abc"),
            key("abc")
        );
        let nothing = Credentials::Nothing {
            key_required: false,
        };
        assert_eq!(of(&HeaderMap::new(), false), nothing);
        for (address, is_key) in [
            ("/mcp/cinema?API_KEY=abc", true),
            ("/mcp/cinema?x=1&token=abc", true),
            ("/mcp/cinema?keys=abc", false),
            ("/console/enter?key=abc", false),
        ] {
            assert_eq!(are_in_url(&Uri::from_static(address)), is_key, "{address}");
        }
    }
}
