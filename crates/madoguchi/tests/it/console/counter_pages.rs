//! What the tests of counters' pages share, and people who use the pages in a browser.

use serde_json::{Value, json};

use super::visitor::Visitor;
use crate::harness::{
    Desk,
    clients::{self, Browser},
    structured,
};

/// Presses the button of a form on a counter's page; what the page shows then.
pub async fn press(
    visitor: &Visitor<'_>,
    path: &str,
    tool: &str,
    fixed: Value,
    entered: &[(&str, &str)],
) -> String {
    let fixed = fixed.to_string();
    let mut fields = vec![("tool", tool), ("fixed", fixed.as_str())];
    fields.extend_from_slice(entered);
    let page = visitor.send(path, &fields).await;
    assert_eq!(page.status, 200, "{}", page.text());
    page.text()
}

/// A text of this many characters that would like to be more than text.
pub fn hostile(length: usize) -> String {
    let start = "<script>alert(1)</script>\u{202e}\u{200b}\n\n<svg onload=alert(1)>\n\n\
        <img src=x onerror=alert(1)> <button>Approve</button> [x](javascript:alert(1)) ";
    start
        .chars()
        .chain("長x".chars().cycle())
        .take(length)
        .collect()
}

pub async fn assert_harmless(visitor: &Visitor<'_>, path: &str) {
    let page = visitor.page(path).await;
    let text = page.text();
    assert_eq!(page.status, 200, "{path}: {text}");
    let own = text
        .split_once("id=\"own\"")
        .expect("the counter's own part")
        .1;
    for tag in [
        "<script",
        "<svg",
        "<img",
        "<button>Approve",
        "\u{202e}",
        "\u{200b}",
    ] {
        assert!(!own.contains(tag), "{tag} in {path}: {own}");
    }
    assert!(
        own.contains("&lt;script&gt;") || own.contains("&lt;svg"),
        "{path}: {own}"
    );
    assert!(own.contains("U+202E"), "{path}: {own}");
    assert!(text.len() < 300_000, "{path}: {}", text.len());
}

/// People in a browser.
pub async fn in_a_browser(browser: Browser, cases: &str) {
    let desk = Desk::start().await;
    let calls = [
        (
            "rooms",
            "create_room",
            json!({ "roomName": "odd", "description": hostile(200) }),
        ),
        (
            "rooms",
            "enter_room",
            json!({
                "roomName": "odd", "agentName": "<svg onload=alert(1)>",
                "profile": { "role": hostile(500) }
            }),
        ),
        (
            "rooms",
            "send_message",
            json!({
                "roomName": "odd", "agentName": "<svg onload=alert(1)>", "message": hostile(10_000)
            }),
        ),
        (
            "todo",
            "create_task",
            json!({ "title": "Write the plan", "category": "SPEC" }),
        ),
        (
            "todo",
            "create_task",
            json!({
                "title": hostile(100), "category": "Odd <svg onload=alert(1)>", "due": "2020-01-02",
                "description": hostile(400)
            }),
        ),
        (
            "todo",
            "create_adr",
            json!({ "title": "Use Rust", "context": hostile(500), "decision": "d", "rationale": "r" }),
        ),
    ];
    for (counter, tool, arguments) in calls {
        structured(&desk.call(counter, tool, arguments).await);
    }
    let (url, files) = (desk.url(""), desk.place.path().join(".todo"));
    let arguments = [cases, url.as_str(), files.to_str().unwrap()];
    let output =
        clients::in_browser(browser, &desk.place, "console_counters.mjs", &arguments).await;
    output.ok();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_talk_with_agents_in_a_browser() {
    in_a_browser(Browser::Chromium, "talking").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_plan_with_agents_in_a_browser() {
    in_a_browser(Browser::Chromium, "planning").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn rooms_and_boards_are_accessible_in_a_browser() {
    in_a_browser(Browser::Chromium, "looking").await;
}
