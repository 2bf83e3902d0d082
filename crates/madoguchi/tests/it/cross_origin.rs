//! Pages of other origins call the desk from a browser, if the operator allows theirs.

use serde_json::json;

use crate::harness::{
    Answer, Desk,
    clients::{self, Browser},
    request,
};

const APP: &str = "https://app.example";
const ALLOWS: &str = "[http]\nallowed_origins = [\"HTTPS://App.Example:443/\"]\n";

/// What a browser asks before it sends a page's call.
async fn preflight(port: u16, path: &str, origin: &str) -> Answer {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "authorization,mcp-param-city",
        ),
    ];
    request(port, "OPTIONS", path, &headers, "").await
}

async fn list(port: u16, path: &str, origin: &str) -> Answer {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    request(port, "POST", path, &[("origin", origin)], call.to_string()).await
}

#[tokio::test]
async fn an_allowed_page_is_told_that_it_may_call() {
    let desk = Desk::with_config(ALLOWS).await;
    let asked = preflight(desk.port, "/mcp/cinema", APP).await;
    assert_eq!(asked.status, 200);
    let header = |name| asked.header(name).unwrap_or_default();
    assert_eq!(header("access-control-allow-origin"), APP);
    assert_eq!(header("access-control-allow-methods"), "GET,POST,DELETE");
    assert_eq!(
        header("access-control-allow-headers"),
        "authorization,mcp-param-city"
    );
    assert!(header("vary").contains("origin"), "{}", header("vary"));
    // Nothing is sent along that the browser keeps, such as the console's cookie.
    assert_eq!(asked.header("access-control-allow-credentials"), None);
    let listed = list(desk.port, "/mcp/cinema", APP).await;
    assert_eq!(listed.status, 200);
    assert_eq!(listed.header("access-control-allow-origin"), Some(APP));
    let shown = listed.header("access-control-expose-headers").unwrap();
    assert!(shown.contains("mcp-session-id"), "{shown}");
}

#[tokio::test]
async fn a_page_that_lacks_a_key_can_read_why() {
    let desk = Desk::with_config(&format!("{ALLOWS}require_key = true\n")).await;
    assert_eq!(
        preflight(desk.port, "/mcp/cinema", APP).await.status,
        200,
        "a browser asks without a key"
    );
    let refused = list(desk.port, "/mcp/cinema", APP).await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("access-control-allow-origin"), Some(APP));
}

#[tokio::test]
async fn a_page_over_the_limit_can_read_when_to_try_again() {
    let config = format!("{ALLOWS}[limits]\nrequests_per_minute_per_address = 40\n");
    let desk = Desk::with_config(&config).await;
    let mut refused = list(desk.port, "/mcp/cinema", APP).await;
    for _ in 0..60 {
        if refused.status == 429 {
            break;
        }
        refused = list(desk.port, "/mcp/cinema", APP).await;
    }
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("access-control-allow-origin"), Some(APP));
    assert!(refused.header("retry-after").is_some());
}

#[tokio::test]
async fn other_pages_and_other_paths_stay_closed() {
    let desk = Desk::with_config(ALLOWS).await;
    for origin in ["https://evil.example", "http://app.example", "null"] {
        let asked = preflight(desk.port, "/mcp/cinema", origin).await;
        assert_eq!(asked.status, 403, "{origin}");
        assert_eq!(asked.header("access-control-allow-origin"), None);
    }
    for path in ["/", "/console/keys", "/metrics", "/readyz"] {
        let asked = preflight(desk.port, path, APP).await;
        assert_eq!(asked.header("access-control-allow-origin"), None, "{path}");
        let headers = [("origin", APP)];
        let page = request(desk.port, "GET", path, &headers, "").await;
        assert_eq!(page.header("access-control-allow-origin"), None, "{path}");
    }
}

#[tokio::test]
async fn without_allowed_origins_nobody_is_told_anything() {
    let desk = Desk::start().await;
    let own = desk.url("");
    let listed = list(desk.port, "/mcp/cinema", &own).await;
    assert_eq!(listed.status, 200);
    assert_eq!(listed.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn the_port_of_a_counter_has_its_own_list() {
    let config = format!("[merchant_listener]\nallowed_origins = [\"{APP}\"]\n");
    let setup = Desk::setup().config(&config).own_port("--merchant-port");
    let desk = setup.start().await;
    for path in ["/mcp", "/mcp/tools/call"] {
        let asked = preflight(desk.own_port, path, APP).await;
        assert_eq!(asked.header("access-control-allow-origin"), Some(APP));
    }
    assert_eq!(preflight(desk.port, "/mcp/merchant", APP).await.status, 403);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_page_of_another_origin_calls_in_a_browser() {
    let home = Desk::start().await;
    let page = home.url("");
    let open = Desk::with_config(&format!("[http]\nallowed_origins = [\"{page}\"]\n")).await;
    let closed = Desk::start().await;
    let arguments = ["all", &page, &open.url(""), &closed.url("")];
    let browser = Browser::Chromium;
    clients::in_browser(browser, &home.place, "cross_origin.mjs", &arguments)
        .await
        .ok();
}
