//! What an agent learns from answers and errors alone.

use serde_json::{Value, json};

use super::desk::{Desk, confirmed, hourly_messages, member, message, room, texts, with};

#[tokio::test]
async fn entering_shows_what_is_in_the_room() {
    let desk = Desk::new();
    let described = with(room("a"), json!({"description": "All about 1.0"}));
    desk.ok("create_room", described).await;
    desk.enter("a", "x").await;
    desk.send("a", "x", "hello").await;
    let inside = json!({"description": "All about 1.0", "userCount": 2,
        "onlineUsers": ["x", "y"], "unreadCount": 1});
    let entered = desk.enter("a", "y").await;
    for (field, value) in inside.as_object().unwrap() {
        assert_eq!(&entered[field], value, "{field}");
    }
    let again = desk.refuses("enter_room", member("a", "y"), "AGENT_ALREADY_IN_ROOM");
    assert_eq!(again.await.details.unwrap(), inside);
}

#[tokio::test]
async fn creating_a_room_can_enter_it() {
    let desk = Desk::new();
    let created = desk.ok("create_room", member("a", "x")).await;
    assert_eq!(created["message"], "Room 'a' was created. x entered it.");
    desk.send("a", "x", "hello").await;
    // A name that cannot enter creates nothing.
    for name in ["system", "@bob"] {
        let arguments = member("b", name);
        desk.refuses("create_room", arguments, "INVALID_AGENT_NAME")
            .await;
    }
    let taken = desk
        .outcome(Some("key"), "enter_room", member("a", "eve"))
        .await;
    assert_eq!(taken, "ok");
    let taken = desk
        .outcome(Some("other"), "create_room", member("b", "Eve"))
        .await;
    assert_eq!(taken, "AGENT_NAME_TAKEN");
    assert_eq!(desk.rooms(None).await.len(), 1);
}

#[tokio::test]
async fn names_that_are_not_there_are_named() {
    let desk = Desk::new();
    desk.room("a", &["x", "bob"]).await;
    let send = async |text: &str| desk.ok("send_message", message("a", "x", text)).await;
    assert_eq!(send("@bob and @x").await.get("warnings"), None);
    let sent = send("@bop, @bob, @carol!").await;
    assert_eq!(sent["mentions"], json!(["bop", "bob", "carol"]));
    let warning = &sent["warnings"][0];
    assert_eq!(warning["code"], "UNKNOWN_MENTION");
    assert_eq!(warning["names"], json!(["bop", "carol"]));
    assert_eq!(warning["nearest"], json!(["bob"]));
    let many: String = (0..100).map(|n| format!("@nobody{n} ")).collect();
    let length = send(&many).await["warnings"].to_string().len();
    assert!(length < 600, "{length}");
}

#[tokio::test]
async fn a_name_that_differs_only_in_case_is_reported() {
    let desk = Desk::new();
    desk.room("a", &["Bob"]).await;
    for (name, similar) in [("bob", true), ("ＢＯＢ", true), ("bobby", false)] {
        let entered = desk.enter("a", name).await;
        let warning = &entered["warnings"][0];
        assert_eq!(warning["code"] == "SIMILAR_NAME", similar, "{name}");
        desk.leave("a", name).await;
    }
}

/// 300 messages of 85 characters cost 60,000 characters in full.
#[tokio::test]
async fn a_compact_answer_costs_less() {
    let desk = Desk::at_time("2026-11-15T09:00:00.123Z", |_| {});
    desk.room("a", &["reviewer", "y"]).await;
    let metadata = json!({"metadata": {"k": 1}});
    for _ in 0..30 {
        let send = message("a", "reviewer", &format!("@y {}", "x".repeat(82)));
        desk.ok("send_message", with(send, metadata.clone())).await;
    }
    let compact = |full: &Value| with(full.clone(), json!({"compact": true}));
    let get = room("a");
    let wait = with(member("a", "y"), json!({"timeout": 1}));
    let calls = [
        ("get_messages", get),
        ("search_messages", json!({})),
        ("wait_for_messages", wait),
    ];
    for (tool, full) in calls {
        let short = desk.ok(tool, compact(&full)).await;
        let first = short["messages"][0].as_object().unwrap();
        assert!(first.contains_key("timestamp"), "{tool}");
        let second = short["messages"][1].as_object().unwrap();
        for field in ["timestamp", "mentions", "metadata"] {
            assert!(!second.contains_key(field), "{tool} {field}");
        }
        let length = short.to_string().len();
        assert!(length < 30 * 180 + 300, "{tool}: {length}");
    }
    desk.set_clock("2026-11-15T09:01:00Z");
    desk.send("a", "y", "a minute later").await;
    let short = desk.ok("get_messages", compact(&room("a"))).await;
    let times = short["messages"].as_array().unwrap().iter();
    let times = times.filter(|message| message.get("timestamp").is_some());
    assert_eq!(times.count(), 2);
}

#[tokio::test]
async fn newer_messages_are_found_by_a_message_or_a_time() {
    let (desk, ids) = hourly_messages().await;
    for (arguments, expected) in [
        (json!({"after": ids[3]}), ["late", "m5", "m4 @y"].as_slice()),
        (json!({"after": "late"}), &[]),
        (json!({"since": "2026-11-15T14:00:00Z"}), &["m5", "m4 @y"]),
        (json!({"after": "2026-11-15T14:00:00Z"}), &["m5", "m4 @y"]),
        (
            json!({"since": "2026-11-15T14:00:00Z", "after": ids[4]}),
            &["m5"],
        ),
        (json!({"after": ids[1], "before": ids[4]}), &["m3", "m2 @y"]),
        (json!({"after": ids[1], "limit": 2}), &["late", "m5"]),
        (
            json!({"after": ids[1], "agentName": "y", "mentionsOnly": true}),
            &["m4 @y", "m2 @y"],
        ),
    ] {
        assert_eq!(
            desk.texts("a", arguments.clone()).await,
            expected,
            "{arguments}"
        );
    }
    let page = with(room("a"), json!({"after": ids[1], "limit": 3}));
    let page = desk.ok("get_messages", page).await;
    let rest = json!({"after": ids[1], "cursor": page["nextCursor"]});
    assert_eq!(desk.texts("a", rest).await, ["m3", "m2 @y"]);
    let unknown = with(room("a"), json!({"after": "no"}));
    desk.refuses("get_messages", unknown, "MESSAGE_NOT_FOUND")
        .await;
    let unknown = with(room("a"), json!({"since": "soon"}));
    let error = desk
        .refuses("get_messages", unknown, "INVALID_ARGUMENT")
        .await;
    assert_eq!(error.details.unwrap()["now"], "2026-11-15T15:00:00Z");
}

#[tokio::test]
async fn every_empty_answer_says_why() {
    let desk = Desk::new();
    let why = async |tool: &str, arguments: Value| {
        let answer = desk.ok(tool, arguments).await;
        answer["message"].as_str().unwrap().to_owned()
    };
    for (tool, expected) in [
        ("list_rooms", "no rooms yet"),
        ("get_status", "no rooms yet"),
    ] {
        let why = why(tool, json!({})).await;
        assert!(why.contains(expected), "{tool}: {why}");
    }
    desk.room("a", &[]).await;
    desk.room("b", &["x"]).await;
    desk.send("b", "x", "the release plan").await;
    let in_b = |more: Value| with(room("b"), more);
    for (tool, arguments, expected) in [
        ("list_room_users", room("a"), "Nobody is in this room"),
        ("list_rooms", json!({"agentName": "z"}), "z is in no room"),
        ("get_messages", room("a"), "no messages in this room yet"),
        ("get_messages", in_b(json!({"offset": 5})), "the room has 1"),
        (
            "get_messages",
            in_b(json!({"agentName": "z", "mentionsOnly": true})),
            "mentions z",
        ),
        (
            "get_messages",
            in_b(json!({"since": "2999-01-01"})),
            "that new",
        ),
        (
            "get_messages",
            in_b(json!({"before": "1999-01-01"})),
            "that old",
        ),
        (
            "search_messages",
            json!({"query": "cake"}),
            "contains `cake`",
        ),
        (
            "search_messages",
            json!({"query": "release cake"}),
            "Found by themselves: `release`",
        ),
        (
            "search_messages",
            json!({"query": "plan", "roomName": "a"}),
            "one of x in `b`",
        ),
        (
            "search_messages",
            json!({"until": "1999-01-01"}),
            "No message matches",
        ),
    ] {
        let why = why(tool, arguments.clone()).await;
        assert!(why.contains(expected), "{tool} {arguments}: {why}");
    }
    let found = desk
        .ok("search_messages", json!({"query": "release cake"}))
        .await;
    assert_eq!(found["lookedFor"], json!(["release", "cake"]));
    let details = json!({"lookedFor": ["release", "cake"], "foundAlone": ["release"]});
    assert_eq!(found["details"], details);
}

#[tokio::test]
async fn a_change_that_changes_nothing_says_so() {
    let desk = Desk::new();
    desk.room("a", &["x", "y"]).await;
    desk.send("a", "x", "hi").await;
    let calls = [
        ("mark_read", member("a", "y")),
        ("clear_room_messages", confirmed("a")),
    ];
    for (tool, arguments) in calls {
        assert_eq!(desk.ok(tool, arguments.clone()).await.get("message"), None);
        let again = desk.ok(tool, arguments).await;
        let message = again["message"].as_str().unwrap();
        assert!(message.starts_with("Nothing changed"), "{tool}: {message}");
    }
}

#[tokio::test]
async fn refusals_say_what_is_missing_or_too_long() {
    let desk = Desk::new();
    desk.room("a", &["x"]).await;
    let long = message("a", "x", &"x".repeat(10_001));
    for (tool, arguments, code, expected) in [
        (
            "get_messages",
            json!({}),
            "INVALID_ROOM_NAME",
            "`roomName` is missing",
        ),
        (
            "enter_room",
            room("a"),
            "INVALID_AGENT_NAME",
            "`agentName` is missing",
        ),
        (
            "send_message",
            member("a", "x"),
            "INVALID_MESSAGE_FORMAT",
            "`message` is missing",
        ),
        (
            "send_message",
            long,
            "INVALID_MESSAGE_FORMAT",
            "send each part",
        ),
        (
            "get_messages",
            room("a/b"),
            "INVALID_ROOM_NAME",
            "A room's name is",
        ),
    ] {
        let error = desk.refuses(tool, arguments, code).await;
        assert!(error.message.contains(expected), "{tool}: {error}");
    }
    assert!(texts(&desk.ok("get_messages", room("a")).await).is_empty());
}
