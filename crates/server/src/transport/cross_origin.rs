//! Lets pages of the allowed origins call from a browser. A browser asks first whether a
//! page may send such a request (CORS), and hides the answer unless it says so.

use std::time::Duration;

use axum::{Router, response::Response};
use http::{
    HeaderValue, Method,
    header::{self, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE},
};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::origin::Origin;
use crate::wire::headers::SESSION_ID;

/// How long a browser may remember that a page may call.
const REMEMBERED: Duration = Duration::from_secs(3_600);

/// Lets an allowed page read the guard's own refusal, such as when to try again.
pub fn let_read(origins: &[Origin], origin: Option<HeaderValue>, response: &mut Response) {
    let Some(origin) = origin.filter(|origin| is_allowed(origins, origin)) else {
        return;
    };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("retry-after"),
    );
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}

fn is_allowed(origins: &[Origin], origin: &HeaderValue) -> bool {
    let origin = origin.to_str().ok().and_then(Origin::parse);
    origin.is_some_and(|origin| origins.contains(&origin))
}

/// Opens these routes to the pages of these origins.
/// Nothing is opened to cookies: a page sends a key, or calls without one.
pub fn open<S>(routes: Router<S>, origins: &[Origin]) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    if origins.is_empty() {
        return routes;
    }
    let origins = origins.to_vec();
    let allowed = AllowOrigin::predicate(move |origin, _| is_allowed(&origins, origin));
    let shown: [HeaderName; 3] = [SESSION_ID.clone(), RETRY_AFTER, WWW_AUTHENTICATE];
    routes.layer(
        CorsLayer::new()
            .allow_origin(allowed)
            .allow_methods([Method::GET, Method::POST, Method::DELETE])
            // Arguments may come in headers of any name (`Mcp-Param-…`).
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers(shown)
            .max_age(REMEMBERED),
    )
}
