//! Names and rooms that belong to keys, over real transports.

use serde_json::{Value, json};

use super::{NewPlace, on_both_stores};
use crate::harness::{
    Desk, Pipe, Place, Socket, modern, modern_headers, refused, request, result, structured,
};

on_both_stores! {
    a_name_belongs_to_the_key_that_used_it_first
    a_key_whose_scope_names_the_tool_deletes_a_room_of_another
}

/// Makes a key on the data of `place`, as an operator would.
fn create(place: &Place, arguments: &[&str]) -> (String, String) {
    let mut all = vec!["keys", "create"];
    all.extend(arguments);
    all.push("--json");
    let made = place.run(&all).ok().json();
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    (text("id"), text("key"))
}

async fn http(desk: &Desk, key: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let bearer = format!("Bearer {key}");
    let headers = modern_headers("tools/call", &params);
    let mut headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
    headers.push(("authorization", &bearer));
    let call = modern(7, "tools/call", params).to_string();
    let answer = request(desk.port, "POST", "/mcp/rooms", &headers, call).await;
    result(&answer.message()).clone()
}

async fn websocket(socket: &mut Socket, tool: &str, arguments: Value) -> Value {
    let call = modern(
        7,
        "tools/call",
        json!({ "name": tool, "arguments": arguments }),
    );
    result(&socket.request(&call).await).clone()
}

fn stdio(place: &Place, key: Option<&str>, tool: &str, arguments: Value) -> Value {
    let mut command = place.command();
    command.args(["stdio", "rooms"]);
    command.envs(key.map(|key| ("MADOGUCHI_KEY", key)));
    let params = json!({ "name": tool, "arguments": arguments });
    let answer = Pipe::start(&mut command).request(&modern(1, "tools/call", params));
    result(&answer).clone()
}

fn act(agent: &str) -> Value {
    json!({ "agentName": agent, "roomName": "dev" })
}

fn say(agent: &str) -> Value {
    json!({ "agentName": agent, "roomName": "dev", "message": "hello" })
}

fn confirmed() -> Value {
    json!({ "roomName": "dev", "confirm": true })
}

async fn a_name_belongs_to_the_key_that_used_it_first(place: NewPlace) {
    let desk = Desk::setup().place(&place()).start().await;
    let (_, a) = create(&desk.place, &["alpha"]);
    let (b_id, b) = create(&desk.place, &["beta"]);
    structured(&http(&desk, &a, "create_room", json!({ "roomName": "dev" })).await);
    structured(&http(&desk, &a, "enter_room", act("alice")).await);
    structured(&http(&desk, &b, "enter_room", act("bob")).await);
    structured(&http(&desk, &b, "send_message", say("bob")).await);

    // Key B, and whoever has no key, over HTTP and WebSocket.
    let mut with_key = Socket::with_bearer(&desk, "rooms", &b).await;
    let mut without = Socket::open(&desk, "rooms").await;
    for (tool, arguments) in [
        ("send_message", say("alice")),
        ("send_message", say("Ａlice")),
        ("wait_for_messages", act("alice")),
        ("mark_read", act("alice")),
        ("leave_room", act("alice")),
        ("get_messages", act("alice")),
        ("list_rooms", json!({ "agentName": "alice" })),
    ] {
        for answer in [
            http(&desk, &b, tool, arguments.clone()).await,
            desk.call("rooms", tool, arguments.clone()).await,
            websocket(&mut with_key, tool, arguments.clone()).await,
            websocket(&mut without, tool, arguments.clone()).await,
            stdio(&desk.place, Some(&b), tool, arguments.clone()),
        ] {
            refused(&answer, "AGENT_NAME_TAKEN");
        }
    }
    for tool in ["delete_room", "clear_room_messages"] {
        refused(&http(&desk, &b, tool, confirmed()).await, "FORBIDDEN");
        refused(&desk.call("rooms", tool, confirmed()).await, "FORBIDDEN");
    }
    // Nothing was taken from her.
    let unread = http(&desk, &a, "wait_for_messages", act("alice")).await;
    assert_eq!(structured(&unread)["count"], 1);

    // The user's own process may do all of it.
    structured(&stdio(&desk.place, None, "send_message", say("alice")));

    // A rotated key is the same key; a revoked one still holds its names.
    let rotated = desk.place.run(&["keys", "rotate", "alpha", "--json"]).ok();
    let a = rotated.json()["key"].as_str().unwrap().to_owned();
    structured(&http(&desk, &a, "send_message", say("alice")).await);
    desk.place.run(&["keys", "revoke", "alpha"]).ok();
    refused(
        &http(&desk, &b, "send_message", say("alice")).await,
        "AGENT_NAME_TAKEN",
    );

    a_person_shares_and_releases_a_name(&desk, (&b_id, &b)).await;
}

/// `alice` is of the revoked key `alpha`, `bob` of the other key.
async fn a_person_shares_and_releases_a_name(desk: &Desk, (b_id, b): (&str, &str)) {
    let names = |more: &[&str]| {
        let mut all = vec!["rooms", "names"];
        all.extend(more);
        desk.place.run(&all)
    };
    let listed = names(&["--json"]).ok().json();
    let of = |name: &str| {
        let names = listed.as_array().unwrap().iter();
        names.clone().find(|held| held["name"] == name).unwrap()
    };
    assert_eq!(of("alice")["key"]["name"], "alpha");
    assert_eq!(of("bob")["key"]["id"], b_id);
    let shown = names(&[]).ok().stdout;
    assert!(
        shown.contains("alice") && shown.contains("alpha"),
        "{shown}"
    );
    names(&["share", "alice", "beta"]).ok();
    structured(&http(desk, b, "send_message", say("alice")).await);
    names(&["unshare", "alice", b_id]).ok();
    refused(
        &http(desk, b, "send_message", say("alice")).await,
        "AGENT_NAME_TAKEN",
    );
    names(&["release", "Alice"]).ok();
    structured(&http(desk, b, "send_message", say("alice")).await);
    let again = names(&["release", "nobody"]).failed();
    assert!(again.contains("NAME_NOT_HELD"), "{again}");
    assert!(
        names(&["share", "alice", "gamma"])
            .failed()
            .contains("KEY_NOT_FOUND")
    );
    assert!(
        names(&["unshare", "alice", "gamma"])
            .failed()
            .contains("NAME_NOT_SHARED")
    );
}

async fn a_key_whose_scope_names_the_tool_deletes_a_room_of_another(place: NewPlace) {
    let desk = Desk::setup().place(&place()).start().await;
    let (_, a) = create(&desk.place, &["alpha"]);
    let tools = "delete_room,agent_communication/clear_room_messages";
    let (_, keeper) = create(
        &desk.place,
        &["keeper", "--counters", "rooms", "--tools", tools],
    );
    structured(&http(&desk, &a, "create_room", json!({ "roomName": "dev" })).await);
    structured(&http(&desk, &keeper, "clear_room_messages", confirmed()).await);
    let tool = "agent_communication/delete_room";
    structured(&http(&desk, &keeper, tool, confirmed()).await);
    let rooms = desk.call("rooms", "list_rooms", json!({})).await;
    assert_eq!(structured(&rooms)["rooms"], json!([]));
}
