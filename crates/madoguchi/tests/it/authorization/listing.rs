//! What a caller sees before its first call: the tools it may use, the schemas the
//! operator publishes, what day it is.

use jiff::{Zoned, tz::TimeZone};
use serde_json::{Value, json};

use super::{Client, Way};
use crate::harness::{Desk, Socket, initialize, modern, plain, request, result};

const KEY: &str = "Authorization";

fn names(tools: &[Value]) -> Vec<&str> {
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
    names.collect()
}

#[tokio::test]
async fn only_tools_that_the_caller_may_use_are_listed() {
    let desk = Desk::setup()
        .config("[approval.tools]\n\"todo.delete_task\" = \"deny\"\n")
        .own_port("--merchant-port")
        .start()
        .await;
    let scoped = desk.place.create_key(&[
        "scoped",
        "--tools",
        "get_movie_list,message.send,search_products",
    ]);
    let reader = desk.place.create_key(&["reader", "--read-only"]);
    let full = desk.place.create_key(&["full"]);
    for way in Way::ALL {
        let listed = async |counter: &str, key: &str| {
            let mut client = Client::open(&desk, counter, key, way).await;
            let tools = client.list("tools/list", "tools").await;
            client.close();
            tools
        };
        assert_eq!(names(&listed("cinema", &scoped).await), ["get_movie_list"]);
        let spoken = listed("innervoice", &scoped).await;
        assert_eq!(names(&spoken), ["message_send"], "{way:?}");
        let read = listed("cinema", &reader).await;
        assert!(!names(&read).contains(&"reserve_seats"), "{way:?}");
        assert!(names(&read).contains(&"get_movie_list"), "{way:?}");
        let all = listed("cinema", &full).await;
        assert!(names(&all).contains(&"reserve_seats"), "{way:?}");
        let todo = listed("todo", &full).await;
        assert!(!names(&todo).contains(&"delete_task"), "denied, {way:?}");
        assert!(names(&todo).contains(&"create_task"), "{way:?}");
    }
    // Without the protocol.
    let bearer = format!("Bearer {scoped}");
    let headers = [(KEY, bearer.as_str()), ("content-type", "application/json")];
    let path = "/mcp/tools/list";
    let answer = request(desk.own_port, "POST", path, &headers, "{}").await;
    let tools = answer.message()["tools"].as_array().unwrap().clone();
    assert_eq!(names(&tools), ["search_products"]);
    // Who keeps the list may show it to others only if it is the same for them.
    for (key, scope) in [(Some(&*full), "private"), (None, "public")] {
        let list = modern(1, "tools/list", json!({}));
        let answer = desk.post("rooms", key, &list).await;
        assert_eq!(result(&answer.message())["cacheScope"], scope);
    }
}

#[tokio::test]
async fn a_key_of_another_counter_is_told_so() {
    let desk = Desk::start().await;
    let key = desk.place.create_key(&["rooms", "--counters", "rooms"]);
    let body = plain(1, "tools/list", json!({})).to_string();
    let ask = async |key: &str| {
        let bearer = format!("Bearer {key}");
        let headers = [(KEY, bearer.as_str())];
        request(desk.port, "POST", "/mcp/cinema", &headers, body.clone()).await
    };
    let refused = ask(&key).await;
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert!(refused.text().contains("does not open cinema"));
    let challenge = refused.header("www-authenticate").unwrap();
    assert!(challenge.contains("insufficient_scope"), "{challenge}");
    // A body that is larger than what strangers may send makes no difference.
    let bearer = format!("Bearer {key}");
    let large = plain(1, "tools/list", json!({ "x": "x".repeat(200_000) }));
    let headers = [(KEY, bearer.as_str())];
    let path = "/mcp/cinema";
    let answer = request(desk.port, "POST", path, &headers, large.to_string()).await;
    assert_eq!(answer.status, 403, "{}", answer.text());

    let mut socket = Socket::with_bearer(&desk, "cinema", &key).await;
    let answer = socket.request(&plain(1, "tools/list", json!({}))).await;
    assert_eq!(answer["error"]["code"], 403, "{answer}");
    let closed = socket.closed().await.unwrap();
    assert!(closed.reason.contains("does not open"), "{closed:?}");

    // Unlike unknown and revoked keys, it is not a wrong one.
    for _ in 0..40 {
        assert_eq!(ask(&key).await.status, 403);
    }
    desk.place.run(&["keys", "revoke", "rooms"]).ok();
    let mut status = 403;
    for _ in 0..100 {
        status = ask(&key).await.status;
        if status != 403 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(status, 401);
    assert_eq!(ask("unknown").await.status, 401);
}

#[tokio::test]
async fn the_operator_can_leave_out_schemas_and_the_mirrored_text() {
    let config = "[tools]\noutput_schemas = false\ntext = \"line\"\n";
    let desk = Desk::with_config(config).await;
    let full = desk.place.create_key(&["full"]);
    for way in Way::ALL {
        let mut client = Client::open(&desk, "cinema", &full, way).await;
        for tool in client.list("tools/list", "tools").await {
            assert!(tool.get("outputSchema").is_none(), "{way:?}: {tool}");
            assert!(tool.get("inputSchema").is_some(), "{way:?}: {tool}");
        }
        let params = json!({ "name": "get_movie_list", "arguments": { "limit": 1 } });
        let answer = client.ask("tools/call", &params).await;
        let answer = result(&answer);
        assert!(answer["structuredContent"]["movies"].is_array(), "{answer}");
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(
            text.len() < 200 && text.contains("movies"),
            "{way:?}: {text}"
        );
        client.close();
    }
}

#[tokio::test]
async fn instructions_name_the_day_and_the_listed_tools() {
    let desk = Desk::setup()
        .config("[approval]\nhold_seconds = 0\n")
        .own_port("--innervoice-port")
        .start()
        .await;
    let full = desk.place.create_key(&["full"]);
    let instructions = |answer: &Value| {
        let text = result(answer)["instructions"].as_str();
        text.unwrap().to_owned()
    };
    let today = || {
        let tokyo = TimeZone::get("Asia/Tokyo").unwrap();
        Zoned::now().with_time_zone(tokyo).date().to_string()
    };
    let before = today();
    let answer = desk.rpc("cinema", "server/discover", json!({})).await;
    let said = instructions(&answer);
    let is_today = |said: &str| {
        [&before, &today()]
            .iter()
            .any(|day| said.contains(&format!("Today is {day} (Asia/Tokyo)")))
    };
    assert!(is_today(&said), "{said}");

    let mut socket = Socket::own_port(&desk, &full).await;
    let own = socket.request(&initialize(0, crate::harness::LEGACY)).await;
    let said = instructions(&own);
    assert!(said.contains("calendar.create"), "{said}");
    assert!(!said.contains("calendar_create"), "{said}");
    let mut socket = Socket::with_bearer(&desk, "innervoice", &full).await;
    let main = socket.request(&initialize(0, crate::harness::LEGACY)).await;
    assert!(instructions(&main).contains("calendar_create"));
}
