//! Sending, paging, searching, and what is unread.

use futures::future::join_all;
use serde_json::{Value, json};

use super::desk::{Desk, hourly_messages, in_files, member, room, texts, with};

#[tokio::test]
async fn pages_go_from_newest_to_oldest_by_offset_and_by_cursor() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    for n in 0..25 {
        desk.send("a", "x", &format!("m{n}")).await;
    }
    assert_eq!(desk.texts("a", json!({"limit": 2})).await, ["m24", "m23"]);
    assert_eq!(
        desk.texts("a", json!({"limit": 2, "offset": 23})).await,
        ["m1", "m0"]
    );
    assert!(desk.texts("a", json!({"offset": 25})).await.is_empty());
    let last = with(room("a"), json!({"offset": 20}));
    let last = desk.ok("get_messages", last).await;
    assert_eq!(last["hasMore"], false);
    assert_eq!(last["count"], 5);

    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let arguments = json!({"roomName": "a", "limit": 10, "cursor": cursor});
        let page = desk.ok("get_messages", arguments).await;
        seen.extend(texts(&page));
        // What comes meanwhile does not shift the pages.
        desk.send("a", "x", "meanwhile").await;
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            assert_eq!(page["hasMore"], false);
            break;
        }
    }
    let expected: Vec<String> = (0..25).rev().map(|n| format!("m{n}")).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_large_page_is_cut_and_says_how_to_go_on() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    for _ in 0..150 {
        desk.send("a", "x", &"x".repeat(10_000)).await;
    }
    let mut counts = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = json!({"roomName": "a", "limit": 1000, "cursor": cursor});
        let page = desk.ok("get_messages", page).await;
        counts.push(page["count"].as_u64().unwrap());
        cursor = page["nextCursor"].clone();
        assert_eq!(page["hasMore"], !cursor.is_null());
        if cursor.is_null() {
            break;
        }
    }
    assert!((9..=11).contains(&counts[0]), "{counts:?}");
    assert_eq!(counts.iter().sum::<u64>(), 150);
}

#[tokio::test]
async fn an_older_page_is_found_by_a_message_or_a_time() {
    let (desk, ids) = hourly_messages().await;
    for (before, texts) in [
        (ids[3].as_str(), ["m2 @y", "m1"].as_slice()),
        (ids[1].as_str(), &["m0 @y"]),
        (ids[0].as_str(), &[]),
        ("2026-11-15T12:00:00Z", &["late", "m1"]),
        ("2026-11-15T11:30:00Z", &["m1", "m0 @y"]),
        ("2026-11-15T20:00:00+09:00", &["m0 @y"]),
        ("2026-11-16", &["late", "m5"]),
        ("2026-11-15", &[]),
    ] {
        let page = json!({"before": before, "limit": 2, "offset": 1});
        assert_eq!(desk.texts("a", page).await, texts, "{before}");
    }
    let mentions =
        json!({"before": "2026-11-15T13:00:00Z", "agentName": "y", "mentionsOnly": true});
    assert_eq!(desk.texts("a", mentions).await, ["m2 @y", "m0 @y"]);
    // From there on by cursor, as from any page.
    let page = json!({"roomName": "a", "before": ids[4], "limit": 3});
    let page = desk.ok("get_messages", page).await;
    assert_eq!(texts(&page), ["m3", "m2 @y", "m1"]);
    assert_eq!(page["hasMore"], true);
    let rest = json!({"before": ids[4], "cursor": page["nextCursor"]});
    assert_eq!(desk.texts("a", rest).await, ["m0 @y"]);
    // What is left open counts as left out.
    let open = json!({"before": null, "limit": null, "offset": null, "cursor": null});
    assert_eq!(desk.texts("a", open).await.len(), 7);
}

#[tokio::test]
async fn mentions_only_returns_the_messages_that_mention_an_agent() {
    let desk = Desk::new();
    desk.room("a", &["x", "田中", "レビュー担当"]).await;
    desk.send("a", "x", "@田中さん、見てください").await;
    desk.send("a", "x", "nobody").await;
    desk.send("a", "x", "＠レビュー担当 と @田中").await;
    let of = |agent: &str| json!({"agentName": agent, "mentionsOnly": true});
    assert_eq!(
        desk.texts("a", of("田中")).await,
        ["＠レビュー担当 と @田中", "@田中さん、見てください"]
    );
    assert_eq!(desk.texts("a", of("レビュー担当")).await.len(), 1);
    assert!(desk.texts("a", of("x")).await.is_empty());
    let one = json!({"roomName": "a", "agentName": "田中", "mentionsOnly": true, "limit": 1});
    let page = desk.ok("get_messages", one.clone()).await;
    assert_eq!(page["hasMore"], true);
    let mut next = one;
    next["cursor"] = page["nextCursor"].clone();
    let page = desk.ok("get_messages", next).await;
    assert_eq!(texts(&page), ["@田中さん、見てください"]);
    assert_eq!(page["hasMore"], false);
}

#[tokio::test]
async fn search_folds_japanese_and_filters() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    desk.room("b", &["x"]).await;
    desk.send("a", "x", "リリース計画を共有します").await;
    desk.send("a", "y", "Ｒｅｌｅａｓｅ plan, 2nd draft").await;
    desk.send("b", "x", "りりーすノート").await;
    let search = async |arguments: Value| texts(&desk.ok("search_messages", arguments).await);
    let expected = ["りりーすノート", "リリース計画を共有します"];
    assert_eq!(search(json!({"query": "ﾘﾘｰｽ"})).await, expected);
    assert_eq!(search(json!({"query": "release DRAFT"})).await.len(), 1);
    // Words apart, in any order; Japanese compounds by their parts, if need be.
    assert_eq!(search(json!({"query": "draft release"})).await.len(), 1);
    let apart = json!({"query": "計画リリース"});
    let apart = desk.ok("search_messages", apart).await;
    assert_eq!(texts(&apart), ["リリース計画を共有します"]);
    assert_eq!(apart["lookedFor"], json!(["計画", "リリース"]));
    assert!(apart["message"].is_string());
    assert_eq!(
        search(json!({"query": "リリース", "roomName": "a"}))
            .await
            .len(),
        1
    );
    assert_eq!(search(json!({"agentName": "x"})).await.len(), 2);
    assert_eq!(search(json!({"since": "2020-01-01"})).await.len(), 3);
    assert!(search(json!({"until": "2020-01-01"})).await.is_empty());
    let first = desk.ok("search_messages", json!({"limit": 1})).await;
    assert_eq!(first["hasMore"], true);
    assert_eq!(first["messages"][0]["roomName"], "b");
    desk.refuses(
        "search_messages",
        json!({"since": "yesterday"}),
        "INVALID_ARGUMENT",
    )
    .await;
}

#[tokio::test]
async fn unread_counts_messages_of_others_after_the_read_position() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    let unread = async |agent: &str| {
        let rooms = desk.rooms(Some(agent)).await;
        rooms[0]["unreadCount"].as_u64().unwrap()
    };
    let first = desk.send("a", "x", "one").await;
    desk.send("a", "x", "two").await;
    assert_eq!(unread("y").await, 2);
    assert_eq!(unread("x").await, 0);
    // Sending does not advance one's position, and reading does neither.
    desk.send("a", "y", "mine").await;
    desk.texts("a", json!({"agentName": "y"})).await;
    assert_eq!(unread("y").await, 2);
    assert_eq!(unread("x").await, 1);
    let mark = json!({"roomName": "a", "agentName": "y", "messageId": first});
    assert_eq!(desk.ok("mark_read", mark.clone()).await["unreadCount"], 1);
    let all = member("a", "y");
    assert_eq!(desk.ok("mark_read", all).await["unreadCount"], 0);
    assert_eq!(
        desk.ok("mark_read", mark).await["unreadCount"],
        0,
        "never backwards"
    );
    let page = desk.ok("get_messages", member("a", "x")).await;
    assert_eq!(page["unreadCount"], 1);
    // Another process knows as well, and so does the original server.
    let other = desk.beside();
    let rooms = other.rooms(Some("y")).await;
    assert_eq!(rooms[0]["unreadCount"], 0);
    if in_files() {
        let status = desk.json("rooms/a/read_status.json");
        assert_eq!(status["y"]["agentName"], "y");
        assert!(status["y"]["lastReadMessageId"].is_string());
        assert!(status["y"]["lastReadTimestamp"].is_string());
    }
}

#[tokio::test]
async fn replies_name_what_they_answer() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    let question = desk.send("a", "x", "ready?").await;
    let reply = json!({"roomName": "a", "agentName": "y", "message": "yes", "reply_to": question});
    desk.ok("send_message", reply).await;
    let page = desk.ok("get_messages", room("a")).await;
    assert_eq!(page["messages"][0]["replyTo"], question);
    if in_files() {
        let line = desk.read("rooms/a/messages.jsonl");
        let line = line.lines().last().unwrap();
        assert!(
            line.ends_with(&format!("\"metadata\":{{}},\"replyTo\":\"{question}\"}}")),
            "{line}"
        );
    }
}

#[tokio::test]
async fn a_retry_with_the_same_id_sends_once() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    let send = |agent: &str, message: &str| json!({"roomName": "a", "agentName": agent, "message": message, "clientMessageId": "k1"});
    // At once, in the same batch and in the next ones.
    let calls = (0..8).map(|_| desk.ok("send_message", send("x", "once")));
    let answers = join_all(calls).await;
    let id = &answers[0]["messageId"];
    assert!(answers.iter().all(|answer| answer["messageId"] == *id));
    assert_eq!(answers.iter().filter(|a| a["duplicate"] == true).count(), 7);
    assert_eq!(desk.count("a").await, 1);
    // In another process, which has only the file.
    let again = desk.beside().ok("send_message", send("x", "once")).await;
    assert_eq!(
        (&again["messageId"], &again["timestamp"]),
        (id, &answers[0]["timestamp"])
    );
    desk.refuses(
        "send_message",
        send("x", "other"),
        "CLIENT_MESSAGE_ID_REUSED",
    )
    .await;
    // The key is each agent's own.
    assert_ne!(
        desk.ok("send_message", send("y", "once")).await["messageId"],
        *id
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_sent_at_once_stay_in_their_rooms() {
    let desk = Desk::new();
    let rooms: Vec<String> = (0..20).map(|n| format!("room-{n}")).collect();
    for room in &rooms {
        desk.room(room, &["x", "y", "z"]).await;
    }
    let desk = &desk;
    let calls = rooms.iter().flat_map(|room| {
        (0..30).map(move |n| async move {
            let agent = ["x", "y", "z"][n % 3];
            desk.send(room, agent, &format!("{room} {n}")).await;
        })
    });
    join_all(calls).await;
    for room in &rooms {
        let all = desk.texts(room, json!({"limit": 1000})).await;
        assert_eq!(all.len(), 30);
        assert!(all.iter().all(|text| text.starts_with(&format!("{room} "))));
    }
    let status = desk.ok("get_status", json!({})).await;
    assert_eq!(status["totalMessages"], 600);
}
