//! The counter against its document: names, formats, codes, variables, and each
//! defect of the server that the document came from.

mod refusals;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::desk::{Desk, confirmed, member, message, room, with};

const NINE: [&str; 9] = [
    "list_rooms",
    "create_room",
    "enter_room",
    "leave_room",
    "list_room_users",
    "send_message",
    "get_messages",
    "get_status",
    "clear_room_messages",
];

#[test]
fn every_tool_answers_to_its_three_names_and_is_described() {
    let desk = Desk::new();
    for name in NINE {
        for spelling in [
            format!("agent_communication/{name}"),
            format!("agent_communication_{name}"),
            name.to_owned(),
        ] {
            assert!(desk.counter.tool(&spelling).is_some(), "{spelling}");
        }
    }
    assert_eq!(desk.counter.about.server_name, "agent-communication");
    for tool in &desk.counter.tools {
        assert!(tool.name.starts_with("agent_communication/"));
        assert_eq!(tool.aliases.len(), 2, "{}", tool.name);
        assert_eq!(tool.hints.read_only, !tool.writes(), "{}", tool.name);
        assert!(tool.description.matches(['.', '!']).count() <= 2);
        let schemas = format!("{}{}", tool.input, tool.output.as_ref().unwrap());
        for unwanted in ["$ref", "anyOf", "oneOf", "allOf", "\"null\"", "uint"] {
            assert!(!schemas.contains(unwanted), "{}: {unwanted}", tool.name);
        }
    }
    let wait = desk.counter.tool("wait_for_messages").unwrap();
    assert!(wait.time_limit.as_secs() > 300);
}

/// As the desk publishes it.
#[test]
fn the_tool_list_is_small() {
    let desk = Desk::new();
    let shown = |tool: &Arc<kit::Tool>| {
        let mut output = tool.output.clone().unwrap();
        output.as_object_mut().unwrap().remove("required");
        output["properties"]["error"] = json!({"type": "object"});
        json!({
            "name": tool.client_safe_name(), "title": tool.title,
            "description": tool.description, "inputSchema": tool.input, "outputSchema": output,
            "annotations": {"readOnlyHint": true, "destructiveHint": true,
                "idempotentHint": true, "openWorldHint": true}
        })
    };
    let list: Vec<Value> = desk.counter.tools.iter().map(shown).collect();
    let size = json!(list).to_string().chars().count();
    assert!(size <= 14_000, "{size} characters");
}

#[tokio::test]
async fn files_match_the_seed_byte_for_byte() {
    let desk = Desk::at_time("2024-01-20T09:30:00Z", |_| {});
    let description = "Development team discussions";
    let room = json!({"roomName": "dev-team", "description": description});
    desk.ok("create_room", room).await;
    desk.set_clock("2024-01-20T10:00:00Z");
    let profile = json!({
        "role": "coordinator",
        "description": "Task coordination and workflow management",
        "capabilities": ["task_planning", "resource_allocation", "progress_tracking"],
        "metadata": {"team": "automation", "version": "2.0"}
    });
    let enter = json!({"roomName": "dev-team", "agentName": "agent1", "profile": profile});
    desk.ok("enter_room", enter).await;
    desk.set_clock("2024-01-20T10:30:00Z");
    let text = "Hello @coordinator, task completed!";
    let id = desk.send("dev-team", "agent1", text).await;

    assert_eq!(
        desk.read("rooms/dev-team/messages.jsonl"),
        format!(
            "{{\"id\":\"{id}\",\"roomName\":\"dev-team\",\"agentName\":\"agent1\",\"message\":\"Hello @coordinator, task completed!\",\"mentions\":[\"coordinator\"],\"timestamp\":\"2024-01-20T10:30:00Z\",\"metadata\":{{}}}}\n"
        )
    );
    desk.settle().await;
    assert_eq!(
        desk.read("rooms.json"),
        r#"{
  "rooms": {
    "dev-team": {
      "description": "Development team discussions",
      "createdAt": "2024-01-20T09:30:00Z",
      "messageCount": 1,
      "userCount": 1
    }
  }
}"#
    );
    assert_eq!(
        desk.read("rooms/dev-team/presence.json"),
        r#"{
  "roomName": "dev-team",
  "users": {
    "agent1": {
      "status": "offline",
      "messageCount": 1,
      "joinedAt": "2024-01-20T10:00:00Z",
      "profile": {
        "role": "coordinator",
        "description": "Task coordination and workflow management",
        "capabilities": [
          "task_planning",
          "resource_allocation",
          "progress_tracking"
        ],
        "metadata": {
          "team": "automation",
          "version": "2.0"
        }
      }
    }
  }
}"#
    );
}

#[tokio::test]
async fn answers_have_the_fields_of_the_seed() {
    let desk = Desk::new();
    let has = |value: &Value, wanted: &str| {
        for key in wanted.split(' ') {
            assert!(value.get(key).is_some(), "{key} in {value}");
        }
    };
    let created = desk.ok("create_room", room("a")).await;
    has(&created, "success roomName message");
    has(&desk.enter("a", "x").await, "success roomName message");
    let send = with(message("a", "x", "hi @y"), json!({"metadata": {"k": 1}}));
    let sent = desk.ok("send_message", send).await;
    has(&sent, "success messageId roomName timestamp mentions");
    assert_eq!(sent["mentions"], json!(["y"]));
    let got = desk.ok("get_messages", room("a")).await;
    has(&got, "roomName messages count hasMore");
    let message = &got["messages"][0];
    has(message, "id agentName message timestamp mentions metadata");
    assert_eq!(message["id"], sent["messageId"]);
    let users = desk.ok("list_room_users", room("a")).await;
    has(&users, "roomName users onlineCount");
    assert_eq!(users["users"][0]["messageCount"], 1);
    let status = desk.ok("get_status", json!({})).await;
    has(&status, "rooms totalRooms totalOnlineUsers totalMessages");
    let in_room = "name onlineUsers totalMessages storageSize";
    has(&status["rooms"][0], in_room);
    assert!(status["rooms"][0]["storageSize"].as_u64().unwrap() > 100);
    let rooms = desk.rooms(Some("x")).await;
    let registry = desk.json("rooms.json");
    let created = &registry["rooms"]["a"]["createdAt"];
    assert!(created.is_string());
    assert_eq!(
        rooms[0],
        json!({"name": "a", "createdAt": created, "userCount": 1, "messageCount": 1,
            "isJoined": true, "unreadCount": 0})
    );
    let cleared = desk.ok("clear_room_messages", confirmed("a")).await;
    assert_eq!(
        cleared,
        json!({"success": true, "roomName": "a", "clearedCount": 1})
    );
    let left = desk.ok("leave_room", member("a", "x")).await;
    has(&left, "success roomName message");
}

#[tokio::test]
async fn every_error_has_its_code() {
    let desk = Desk::with(|settings| settings.max_rooms = 2.try_into().unwrap());
    desk.room("a", &["x"]).await;
    desk.room("b", &["y"]).await;
    let refusals = [
        refusals::about_rooms(),
        refusals::about_messages(),
        refusals::about_reading(),
    ];
    for (tool, arguments, code) in refusals.into_iter().flatten() {
        desk.refuses(tool, arguments, code).await;
    }
    assert_eq!(desk.count("a").await, 0);
    desk.send("a", "x", &"あ".repeat(10_000)).await;
}

/// The original never read its limits, always counted 0, let people send after
/// they had left, and let them enter twice.
#[tokio::test]
async fn defects_of_the_original_are_fixed() {
    let desk = Desk::with(|settings| {
        settings.max_rooms = 1.try_into().unwrap();
        settings.max_messages = 3.try_into().unwrap();
    });
    desk.room("a", &["x", "田中"]).await;
    desk.refuses("create_room", room("b"), "ROOM_LIMIT_EXCEEDED")
        .await;
    desk.delete("a").await;
    desk.room("b", &["x", "田中"]).await;
    desk.refuses("enter_room", member("b", "x"), "AGENT_ALREADY_IN_ROOM")
        .await;
    for n in 0..5 {
        desk.send("b", "x", &format!("@田中さん、{n}番です")).await;
    }
    assert_eq!(desk.lines("rooms/b/messages.jsonl").len(), 3);
    let rooms = desk.rooms(None).await;
    assert_eq!(rooms[0]["messageCount"], 5);
    let mentions = json!({"roomName": "b", "agentName": "田中", "mentionsOnly": true});
    assert_eq!(desk.ok("get_messages", mentions).await["count"], 5);
    desk.leave("b", "x").await;
    desk.refuses("send_message", message("b", "x", "?"), "AGENT_NOT_IN_ROOM")
        .await;
}
