//! The page of rooms: reading, taking part, waking who waits.

use std::fs;

use serde_json::{Value, json};

use super::{
    counter_pages::{assert_harmless, hostile, press},
    visitor::{Visitor, between},
};
use crate::harness::{Desk, Place, refused, structured};

async fn call(desk: &Desk, tool: &str, arguments: Value) -> Value {
    let answer = desk.call("rooms", tool, arguments).await;
    structured(&answer).clone()
}

fn in_dev(agent: &str) -> Value {
    json!({ "roomName": "dev", "agentName": agent })
}

fn message(agent: &str, text: &str) -> Value {
    json!({ "roomName": "dev", "agentName": agent, "message": text })
}

const ROOM: &str = "/console/rooms?room=dev";

#[tokio::test]
async fn a_person_takes_part_in_a_room_and_wakes_who_waits() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let empty = visitor.page("/console/rooms").await.text();
    assert!(empty.contains("There are no rooms yet."), "{empty}");
    let fields = [
        ("argument/roomName", "dev"),
        ("argument/description", "Work"),
    ];
    let made = press(
        &visitor,
        "/console/rooms",
        "create_room",
        json!({}),
        &fields,
    )
    .await;
    assert!(
        made.contains("Done.") && made.contains("?room=dev"),
        "{made}"
    );
    call(&desk, "enter_room", in_dev("bob")).await;
    call(&desk, "send_message", message("bob", "Anybody here?")).await;
    let list = visitor.page("/console/rooms").await.text();
    assert!(list.contains("bob: Anybody here?"), "{list}");
    assert!(list.contains("1 member, 1 message"), "{list}");
    let room = visitor.page(ROOM).await.text();
    assert!(
        room.contains("Anybody here?") && room.contains("Enter the room"),
        "{room}"
    );
    assert!(!room.contains("Message from"), "{room}");

    let fixed = json!({ "roomName": "dev" });
    let name = [("argument/agentName", "Ann")];
    let entered = press(&visitor, ROOM, "enter_room", fixed, &name).await;
    assert!(entered.contains("Message from Ann"), "{entered}");
    assert!(entered.contains("1 unread"), "{entered}");
    let waiting = json!({
        "roomName": "dev", "agentName": "bob", "mentionsOnly": true, "timeout": 60
    });
    let (woken, ()) = tokio::join!(call(&desk, "wait_for_messages", waiting), async {
        visitor.once_shown(ROOM, "waits for messages").await;
        let text = [("lines/message", "@bob wake up\r\nplease")];
        let sent = press(&visitor, ROOM, "send_message", in_dev("Ann"), &text).await;
        assert!(
            sent.contains("Done.") && sent.contains("class=\"own\""),
            "{sent}"
        );
        assert!(sent.contains("@<bdi>bob</bdi>"), "{sent}");
    });
    assert_eq!(woken["messages"][0]["message"], "@bob wake up\nplease");
    assert_eq!(woken["messages"][0]["agentName"], "Ann");
    // The name is the person's from now on.
    let answer = desk.call("rooms", "send_message", message("Ann", "not me"));
    refused(&answer.await, "AGENT_NAME_TAKEN");
    visitor
        .once_shown("/console/agents?caller=console", "Send message")
        .await;
    let read = press(&visitor, ROOM, "mark_read", in_dev("Ann"), &[]).await;
    assert!(!read.contains("1 unread"), "{read}");
    let left = press(&visitor, ROOM, "leave_room", in_dev("Ann"), &[]).await;
    assert!(
        left.contains("Enter the room") && left.contains("value=\"Ann\""),
        "{left}"
    );
}

#[tokio::test]
async fn what_is_denied_to_agents_is_denied_to_people_and_their_text_stays() {
    let denied = "[approval]\ntools = { \"rooms.send_message\" = \"deny\" }\n";
    let desk = Desk::with_config(denied).await;
    let visitor = Visitor::enter(&desk).await;
    call(&desk, "create_room", json!({ "roomName": "dev" })).await;
    let name = [("argument/agentName", "Ann")];
    press(
        &visitor,
        ROOM,
        "enter_room",
        json!({ "roomName": "dev" }),
        &name,
    )
    .await;
    let fields = [("lines/message", "a long thought"), ("place", "1-0")];
    let refused = press(&visitor, ROOM, "send_message", in_dev("Ann"), &fields).await;
    assert!(refused.contains("DENIED_BY_POLICY"), "{refused}");
    let area = between(&refused, "<textarea", "</textarea>");
    assert!(area.contains("a long thought"), "{area}");
    assert!(refused.contains("No messages yet."), "{refused}");
    // A page without the form's token changes nothing either.
    let mut thief = visitor.at(&desk);
    thief.token = "0".repeat(64);
    let sent = thief.send(ROOM, &[("tool", "leave_room")]).await;
    assert_eq!(sent.status, 403);
}

#[tokio::test]
async fn hostile_texts_in_rooms_are_harmless() {
    let place = Place::new();
    let folder = place.data().join("rooms/rooms/dev");
    fs::create_dir_all(&folder).unwrap();
    // What other programs write may have any name.
    let line = json!({
        "id": "\u{202e}<b>1\"", "roomName": "dev", "agentName": hostile(60), "message": hostile(100),
        "mentions": [hostile(60)], "timestamp": "2026-11-15T09:00:00Z", "metadata": {},
        "replyTo": hostile(100)
    });
    fs::write(folder.join("messages.jsonl"), format!("{line}\n")).unwrap();
    let desk = Desk::setup().place(&place).start().await;
    let visitor = Visitor::enter(&desk).await;
    let name = "<svg onload=alert(1)>";
    let mut profile = in_dev(name);
    profile["profile"] = json!({ "role": hostile(1000) });
    call(&desk, "enter_room", profile).await;
    for length in [200, 10_000] {
        call(&desk, "send_message", message(name, &hostile(length))).await;
    }
    let described = json!({ "roomName": "other", "description": hostile(200) });
    call(&desk, "create_room", described).await;
    let paths = [
        "/console/rooms",
        ROOM,
        "/console/rooms?room=dev&to=%3Csvg%20onload=alert(1)%3E",
    ];
    for path in paths {
        assert_harmless(&visitor, path).await;
    }
    let room = visitor.page(ROOM).await.text();
    assert!(room.contains("8000 more characters"), "{room}");
    for odd in [
        "room=..%2F..%2Fetc",
        "room=nothing",
        "room=dev&before=%FF~x",
    ] {
        let page = visitor.page(&format!("/console/rooms?{odd}")).await;
        assert_eq!(page.status, 200, "{odd}");
    }
}

#[tokio::test]
async fn a_room_of_10_000_messages_opens_at_its_end() {
    let place = Place::new();
    let folder = place.data().join("rooms/rooms/dev");
    fs::create_dir_all(&folder).unwrap();
    let lines: String = (0..10_000)
        .map(|at| {
            let time = format!("2026-11-15T{:02}:{:02}:00Z", at / 600, at / 10 % 60);
            let line = json!({
                "id": format!("msg_{at:016}"), "roomName": "dev", "agentName": "bob",
                "message": format!("Message {at}."), "mentions": [], "timestamp": time,
                "metadata": {}
            });
            format!("{line}\n")
        })
        .collect();
    fs::write(folder.join("messages.jsonl"), lines).unwrap();
    let desk = Desk::setup().place(&place).start().await;
    let visitor = Visitor::enter(&desk).await;
    let page = visitor.page(ROOM).await.text();
    let last = page.find("Message 9999.").unwrap();
    assert!(
        page.find("Message 9950.").unwrap() < last,
        "the newest is at the end"
    );
    assert!(!page.contains("Message 9949."));
    let older = between(&page, "before=", "\"").to_owned();
    let page = visitor.page(&format!("{ROOM}&before={older}")).await.text();
    assert!(
        page.contains("Message 9949.") && page.contains("Newest messages"),
        "{page}"
    );
    assert!(!page.contains("Message 9950."));
}
