//! Moving rooms from files to a database and back.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};

use super::desk::{Desk, member, message, room, with};

/// Every file of the rooms, parsed. Signs of life and copies are not moved.
fn files(path: &Path) -> BTreeMap<String, Vec<Value>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let (path_here, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if path_here.is_dir() && name != ".locks" {
                folders.push(path_here);
            } else if !name.starts_with('.') && name != "activity.json" && path_here.is_file() {
                let text = std::fs::read_to_string(&path_here).unwrap();
                let values = serde_json::Deserializer::from_str(&text).into_iter();
                let name = path_here.strip_prefix(path).unwrap().display().to_string();
                found.insert(name, values.map(Result::unwrap).collect());
            }
        }
    }
    found
}

/// What a caller sees of everything.
async fn seen(desk: &Desk) -> Value {
    let mut seen = vec![desk.ok("list_rooms", json!({})).await];
    for name in ["a", "b"] {
        let all = with(room(name), json!({"limit": 1000}));
        seen.push(desk.ok("get_messages", all).await);
        seen.push(desk.ok("list_room_users", room(name)).await);
    }
    for agent in ["x", "y", "left"] {
        seen.push(desk.ok("list_rooms", json!({"agentName": agent})).await);
    }
    seen.push(desk.ok("search_messages", json!({"query": "m"})).await);
    json!(seen)
}

#[tokio::test]
async fn rooms_come_back_from_a_database_as_they_were() {
    let desk = Desk::on_files(|settings| settings.max_messages = 3.try_into().unwrap());
    desk.room("b", &["y"]).await;
    let key = desk.outcome(Some("k"), "create_room", json!({"roomName": "a"}));
    assert_eq!(key.await, "ok");
    for agent in ["x", "y", "left"] {
        let profile = json!({"profile": {"role": agent, "metadata": {"n": 1}}});
        desk.ok("enter_room", with(member("a", agent), profile))
            .await;
    }
    let mut ids = Vec::new();
    for number in 0..8 {
        let more = json!({"metadata": {"n": number}, "clientMessageId": number.to_string()});
        let text = format!("m{number} @y");
        let sent = desk
            .ok("send_message", with(message("a", "x", &text), more))
            .await;
        ids.push(sent["messageId"].as_str().unwrap().to_owned());
    }
    let read = with(member("a", "y"), json!({"messageId": ids[2]}));
    desk.ok("mark_read", read).await;
    let answers = with(
        member("a", "y"),
        json!({"replyTo": ids[4], "limit": 1, "timeout": 1}),
    );
    desk.ok("wait_for_messages", answers).await;
    desk.ok("mark_read", member("a", "left")).await;
    desk.leave("a", "left").await;
    assert_eq!(
        desk.outcome(Some("k"), "enter_room", member("b", "held"))
            .await,
        "ok"
    );
    desk.settle().await;
    // Of another program.
    desk.edit("rooms.json", |rooms| {
        rooms["theirs"] = json!(1);
        rooms["rooms"]["a"]["theirs"] = json!([2]);
    });
    desk.edit("rooms/a/presence.json", |presence| {
        presence["theirs"] = json!("p");
        presence["users"]["x"]["theirs"] = json!("u");
    });
    let before = files(&desk.path);
    let was = seen(&desk.beside()).await;
    let path = desk.path.clone();

    let moved = desk.moved_here().await;
    assert_eq!(seen(&moved).await, was);
    let again = with(
        message("a", "x", "m7 @y"),
        json!({"metadata": {"n": 7}, "clientMessageId": "7"}),
    );
    assert_eq!(moved.ok("send_message", again).await["duplicate"], true);
    let stranger = moved
        .outcome(None, "send_message", message("b", "held", "?"))
        .await;
    assert_eq!(stranger, "AGENT_NAME_TAKEN");
    moved.settle().await;

    let settings = rooms::Settings {
        data_dir: path.with_file_name("back"),
        ..moved.settings.clone()
    };
    let copied = rooms::copy_to_files(moved.store_of_rooms(), &settings).await;
    assert_eq!(copied.unwrap().messages, 8);
    let back = Desk::at(&settings.data_dir.clone(), |changed| *changed = settings);
    assert_eq!(seen(&back).await, was);
    back.settle().await;
    let after = files(&back.path);
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>()
    );
    for (name, value) in &before {
        assert_eq!(value, &after[name], "{name}");
    }
}

#[tokio::test]
async fn rooms_move_to_an_empty_store_only() {
    let desk = Desk::new();
    desk.create("a").await;
    let files = Desk::on_files(|_| {});
    files.create("b").await;
    let there = rooms::copy_to_database(&files.settings, desk.store_of_rooms(), false).await;
    assert_eq!(there.unwrap_err().code, "TARGET_NOT_EMPTY");
    let back = rooms::copy_to_files(desk.store_of_rooms(), &files.settings).await;
    assert_eq!(back.unwrap_err().code, "TARGET_NOT_EMPTY");
    let rooms = desk.rooms(None).await;
    assert_eq!((rooms.len(), &rooms[0]["name"]), (1, &json!("a")));
    assert_eq!(files.rooms(None).await.len(), 1);
    // Unless what is there is known to be older.
    let there = rooms::copy_to_database(&files.settings, desk.store_of_rooms(), true).await;
    assert_eq!(there.unwrap().rooms, 1);
    assert_eq!(desk.rooms(None).await[0]["name"], "b");
}

#[tokio::test]
async fn a_desk_whose_rooms_are_still_in_files_does_not_start() {
    let desk = Desk::new();
    let files = Desk::on_files(|_| {});
    let check = || rooms::refuse_left_files(&files.settings, desk.store_of_rooms());
    check().await.unwrap();
    files.create("b").await;
    let refused = check().await.unwrap_err();
    assert_eq!(refused.code, "ROOMS_NOT_MOVED");
    assert!(
        refused
            .next
            .unwrap()
            .contains("madoguchi move --to URL --only rooms")
    );
    desk.create("a").await;
    check().await.unwrap();
}
