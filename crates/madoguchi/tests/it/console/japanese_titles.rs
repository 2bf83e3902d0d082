//! Counters and tools have their Japanese names on Japanese pages.

use super::visitor::{HTML, Visitor};
use crate::harness::{Desk, request};

#[tokio::test]
async fn every_tool_and_counter_has_a_japanese_title() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let headers = [
        HTML,
        ("cookie", visitor.cookie.as_str()),
        ("x-console-form", visitor.token.as_str()),
        ("accept-language", "ja"),
    ];
    let page = request(desk.port, "GET", "/console/tools", &headers, "").await;
    let page = page.text();
    for title in ["映画館の窓口", "ショップ", "ルーム", "タスクと決定"] {
        assert!(page.contains(&format!("<h2>{title}</h2>")), "{title}");
    }
    let links = page.split("<a href=\"/console/tools/").skip(1);
    let links = links.filter(|link| !link.starts_with("fixture/"));
    let titles = links.map(|link| {
        let (_, rest) = link.split_once('>').unwrap();
        rest.split_once('<').unwrap().0
    });
    let titles: Vec<&str> = titles.collect();
    assert!(titles.len() > 60, "{titles:?}");
    for title in titles {
        assert!(!title.is_ascii(), "{title} is not Japanese");
    }
}
