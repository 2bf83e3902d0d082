//! The page that helps to connect a client, and learns when the client has called.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncReadExt;

use super::visitor::{Visitor, between};
use crate::harness::{Desk, Place, call, initialize, initialized, plain_call, result, structured};

/// What the page says about a client.
async fn said_of(visitor: &Visitor<'_>, id: &str) -> String {
    let page = visitor.page("/console/connect").await.text();
    between(&page, &format!("<p id=\"{id}\""), "</p>").to_owned()
}

async fn becomes_connected(visitor: &Visitor<'_>, id: &str) {
    for _ in 0..100 {
        if said_of(visitor, id).await.contains("connected") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{id} never called");
}

#[tokio::test]
async fn each_client_of_this_machine_has_its_snippet_until_it_calls() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().join(".cursor")).unwrap();
    let desk = Desk::setup().place(&place).start().await;
    let visitor = Visitor::enter(&desk).await;
    let page = visitor.page("/console/connect").await.text();
    let (here, elsewhere) = page.split_once("not found here").unwrap();
    assert!(here.contains("<h2>Cursor</h2>") && !elsewhere.contains("<h2>Cursor</h2>"));
    assert!(elsewhere.contains("<h2>LM Studio</h2>"));
    // The same as the command prints.
    let words = ["install", "cursor", "cinema", "--print", "--json"];
    let printed = place.run(&words).ok().json();
    let command = printed["entries"][0]["entry"]["command"].as_str().unwrap();
    let entry = format!("&quot;command&quot;: &quot;{command}&quot;");
    assert!(here.contains(&entry), "{here}");
    assert!(here.contains(printed["file"].as_str().unwrap()));
    assert!(here.contains("madoguchi install cursor cinema"));
    assert!(said_of(&visitor, "cursor").await.contains("no call yet"));

    // Whoever watches is told at once.
    let mut stream = visitor.watch("/console/connect/events").await;
    let told = async {
        let mut heard = String::new();
        while !heard.contains("data: changed") {
            let mut read = vec![0; 4096];
            let length = stream.read(&mut read).await.unwrap();
            assert!(length > 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&read[..length]));
        }
    };
    let calls = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let mut message = call(1, "get_movie_list", json!({}));
        let info = json!({ "name": "cursor-vscode", "version": "1.0.0" });
        message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = info;
        let answer = desk.post("cinema", None, &message).await.message();
        structured(result(&answer));
    };
    tokio::join!(told, calls);
    becomes_connected(&visitor, "cursor").await;
}

#[tokio::test]
async fn a_client_that_starts_its_own_process_is_noticed_too() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let mut pipe = desk.stdio("todo", None);
    let mut hello = initialize(1, "2025-11-25");
    hello["params"]["clientInfo"]["name"] = "claude-code".into();
    pipe.request(&hello);
    pipe.send(&initialized());
    let listed = pipe.request(&plain_call(2, "list_tasks", json!({})));
    structured(result(&listed));
    becomes_connected(&visitor, "claude-code").await;
}

#[tokio::test]
async fn names_of_strangers_are_shown_as_text_and_only_some() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    for number in 0..150 {
        let mut message = call(1, "get_movie_list", json!({ "limit": 1 }));
        let name = format!("<b>bot\u{202e}{number}</b>");
        let info = json!({ "name": name, "version": "1" });
        message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = info;
        desk.post("cinema", None, &message).await;
    }
    let count = async || {
        let page = visitor.page("/console/connect").await.text();
        assert!(!page.contains("<b>bot") && !page.contains('\u{202e}'));
        page.matches("&lt;b&gt;bot").count()
    };
    for _ in 0..100 {
        if count().await == 100 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(count().await, 100);
}
