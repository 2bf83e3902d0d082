//! Answers that are cut, and how a caller gets the rest.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::desk::{Desk, confirmed, member, room, with};

/// A line of a log that was written at a minute of an hour.
fn line(id: &str, message: &str, minute: usize) -> String {
    let timestamp = format!("2026-11-15T10:{minute:02}:00.000Z");
    let line = json!({"id": id, "agentName": "a", "message": message, "timestamp": timestamp});
    format!("{line}\n")
}

/// One field of all items on all pages.
async fn on_all_pages(
    desk: &Desk,
    tool: &str,
    arguments: Value,
    field: (&str, &str),
) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = with(arguments.clone(), json!({"cursor": cursor}));
        let page = desk.ok(tool, page).await;
        let sent = page.to_string();
        let bytes = sent.len() + json!(sent).to_string().len();
        assert!(bytes < 256_000, "{bytes}");
        let items = page[field.0].as_array().unwrap();
        assert!(!items.is_empty(), "{page}");
        all.extend(items.iter().map(|item| item[field.1].clone()));
        cursor = page["nextCursor"].clone();
        assert_eq!(page["hasMore"], !cursor.is_null());
        if cursor.is_null() {
            return all;
        }
    }
}

#[tokio::test]
async fn the_pages_of_a_search_have_every_message_once() {
    let desk = Desk::on_files(|_| {});
    let names = ["r", "s", "t"];
    let mut logs = [const { String::new() }; 3];
    // Of different lengths, so that a short one would fit where a long one does not.
    for number in 0..60_usize {
        let text = format!("m{number} {}", "あ".repeat(number * 997 % 9_900));
        logs[number % 3] += &line(&number.to_string(), &text, number);
    }
    for (name, log) in names.iter().zip(&logs) {
        desk.room(name, &["a"]).await;
        desk.write(&format!("rooms/{name}/messages.jsonl"), log);
    }
    let desk = desk.moved_here().await;
    let ids = async |arguments| {
        on_all_pages(&desk, "search_messages", arguments, ("messages", "id")).await
    };
    for (arguments, count) in [
        (json!({"limit": 1000}), 60),
        (json!({"limit": 7, "query": "m"}), 60),
        (json!({"limit": 1, "roomName": "s"}), 20),
    ] {
        let found = ids(arguments.clone()).await;
        assert_eq!(found.len(), count, "{arguments}");
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), count);
    }
    // Sent meanwhile: it is newer than the pages that follow.
    let first = desk.ok("search_messages", json!({"limit": 10})).await;
    desk.send("r", "a", "late").await;
    let next = json!({"limit": 10, "cursor": first["nextCursor"]});
    let next = desk.ok("search_messages", next).await;
    let expected = 59 - first["count"].as_u64().unwrap();
    assert_eq!(next["messages"][0]["id"], expected.to_string());
}

/// The log is not always in the order of its times.
#[tokio::test]
async fn a_clock_that_was_set_back_hides_no_message_from_a_search() {
    let desk = Desk::on_files(|_| {});
    for (name, minutes) in [("r", [1, 30, 5, 6, 2]), ("s", [3, 4, 20, 5, 5])] {
        desk.room(name, &["a"]).await;
        let lines = (0..)
            .zip(minutes)
            .map(|(at, minute)| line(&format!("{name}{at}"), "hi", minute));
        desk.write(
            &format!("rooms/{name}/messages.jsonl"),
            &lines.collect::<String>(),
        );
    }
    let desk = desk.moved_here().await;
    for limit in 1..=10 {
        let found = json!({"limit": limit});
        let found = on_all_pages(&desk, "search_messages", found, ("messages", "id")).await;
        assert_eq!(found.len(), 10, "{limit}: {found:?}");
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), 10, "{limit}");
    }
}

#[tokio::test]
async fn a_cursor_of_a_search_that_leads_nowhere_is_refused() {
    let desk = Desk::new();
    desk.room("r", &["a"]).await;
    for text in ["one", "two"] {
        desk.send("r", "a", text).await;
    }
    let first = desk.ok("search_messages", json!({"limit": 1})).await;
    let next = json!({"cursor": first["nextCursor"]});
    assert_eq!(desk.ok("search_messages", next.clone()).await["count"], 1);
    desk.ok("clear_room_messages", confirmed("r")).await;
    for cursor in [next, json!({"cursor": "x"}), json!({"cursor": "1.2"})] {
        desk.refuses("search_messages", cursor, "INVALID_CURSOR")
            .await;
    }
}

#[tokio::test]
async fn the_users_of_a_room_come_in_pages() {
    let desk = Desk::new();
    desk.room("r", &[]).await;
    for number in 0..12 {
        let profile = json!({"description": "\"".repeat(4_500)});
        let enter = with(
            member("r", &format!("a{number}")),
            json!({"profile": profile}),
        );
        desk.ok("enter_room", enter).await;
    }
    for arguments in [room("r"), with(room("r"), json!({"limit": 3}))] {
        let first = desk.ok("list_room_users", arguments.clone()).await;
        assert_eq!(
            (&first["onlineCount"], &first["userCount"]),
            (&json!(12), &json!(12))
        );
        assert_eq!(first["hasMore"], true);
        let names = on_all_pages(&desk, "list_room_users", arguments, ("users", "name")).await;
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 12);
        assert_eq!(names.len(), 12);
    }
    let small = Desk::new();
    small.room("r", &["b", "a"]).await;
    let users = small.ok("list_room_users", room("r")).await;
    assert_eq!(
        (&users["hasMore"], users.get("nextCursor")),
        (&json!(false), None)
    );
    let beyond = with(room("r"), json!({"cursor": "b"}));
    let beyond = small.ok("list_room_users", beyond).await;
    assert_eq!(beyond["message"], "There are no more users.");
}
