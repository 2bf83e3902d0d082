//! Clients and files of the original server.

use std::time::Duration;

use serde_json::{Value, json};

use super::{NAMES, NewPlace, meet, member, on_both_stores, room, say, set_ups};
use crate::harness::{Place, refused};

on_both_stores! { clients_of_the_original_server_are_understood }

/// What clients of the original server send, and what they do with the answer.
async fn clients_of_the_original_server_are_understood(place: NewPlace) {
    for (way, place, agents) in set_ups(place).await {
        meet(&agents, "dev-team").await;
        let agent = &agents[0];
        let newcomer = member("newcomer", "dev-team");
        for (tool, more) in [
            ("send_message", json!({ "message": "hi" })),
            ("wait_for_messages", json!({ "timeout": 1_000 })),
            ("leave_room", json!({})),
        ] {
            let mut arguments = newcomer.clone();
            let object = arguments.as_object_mut().unwrap();
            object.extend(more.as_object().unwrap().clone());
            refused(&agent.call(tool, arguments).await, "AGENT_NOT_IN_ROOM");
        }
        agent.ok("enter_room", newcomer.clone()).await;
        let first = say(agent, "newcomer", "dev-team", "first").await;
        let second = say(agent, "newcomer", "dev-team", "second").await;
        let older = json!({ "roomName": "dev-team", "before": second["messageId"], "limit": null });
        let older = agent.ok("get_messages", older).await;
        assert_eq!(older["count"], 1, "{way}");
        assert_eq!(older["messages"][0]["id"], first["messageId"], "{way}");
        for timeout in [json!(1.5), json!(1_500)] {
            let wait =
                json!({ "agentName": "newcomer", "roomName": "dev-team", "timeout": timeout });
            let waited = agent.ok("wait_for_messages", wait).await;
            assert_eq!(waited["timedOut"], true, "{way} {timeout}");
        }
        agent.ok("create_room", room("second")).await;
        let again = member("newcomer", "second");
        agent.ok("enter_room", again).await;
        let status = agent.ok("get_status", json!({})).await;
        assert_eq!(
            status["totalOnlineUsers"], 5,
            "{way}: agents, not memberships"
        );
        let rooms = agent.ok("list_rooms", json!({})).await;
        for room in rooms["rooms"].as_array().unwrap() {
            assert!(room["createdAt"].is_string(), "{way}: {room}");
        }
        drop(place);
    }
}

/// The original empties a file before it writes it, and may be killed in between.
#[tokio::test]
async fn files_that_were_left_empty_hide_nothing() {
    for (way, place, agents) in set_ups(Place::new).await {
        meet(&agents, "dev-team").await;
        say(&agents[0], NAMES[0], "dev-team", "kept").await;
        let talk = place.path().join("talk");
        let presence = talk.join("rooms/dev-team/presence.json");
        // The counts are written a moment after the message; a write of ours at the same
        // moment would replace the empty file.
        let counted = || std::fs::read_to_string(talk.join("rooms.json")).unwrap();
        while !counted().contains("\"messageCount\": 1") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        std::fs::write(talk.join("rooms.json"), "").unwrap();
        std::fs::write(&presence, "").unwrap();
        for agent in &agents {
            let got = agent.ok("get_messages", room("dev-team")).await;
            assert_eq!(got["messages"][0]["message"], "kept", "{way}");
            let warnings = agent.ok("get_status", json!({})).await["warnings"].to_string();
            for file in ["rooms.json", "presence.json"] {
                assert!(warnings.contains(file), "{way}: {warnings}");
            }
        }
        let create = room("dev-team");
        refused(
            &agents[1].call("create_room", create).await,
            "ROOM_ALREADY_EXISTS",
        );
        let enter = member("newcomer", "dev-team");
        agents[2].ok("enter_room", enter).await;
        agents[3].ok("create_room", room("second")).await;
        let members: Value = serde_json::from_slice(&std::fs::read(&presence).unwrap()).unwrap();
        assert_eq!(members["users"].as_object().unwrap().len(), 5, "{way}");
        let rooms = std::fs::read(talk.join("rooms.json")).unwrap();
        let rooms: Value = serde_json::from_slice(&rooms).unwrap();
        assert_eq!(rooms["rooms"].as_object().unwrap().len(), 2, "{way}");
    }
}
