//! Keys: made, scoped, expiring, rotated and revoked, tried on every transport.

use std::time::Duration;

use serde_json::{Value, json};
use store::testing::Postgres;

use crate::harness::{Answer, Desk, Place, Socket, call, modern, refused, result, structured};

const REQUIRED: &str = "[http]\nrequire_key = true\n";

/// Makes a key on the data of `place`, as an operator would.
fn create(place: &Place, arguments: &[&str]) -> Value {
    place
        .run(&[&["keys", "create", "--json"], arguments].concat())
        .ok()
        .json()
}

fn secret(key: &Value) -> &str {
    key["key"].as_str().unwrap()
}

/// What each transport answers to the same call with this key.
async fn everywhere(desk: &Desk, key: &str, tool: &str, arguments: Value) -> Vec<Value> {
    let call = call(7, tool, arguments.clone());
    let http = desk.post("fixture", Some(key), &call).await.message();
    let mut by_header = Socket::with_bearer(desk, "fixture", key).await;
    let protocols = format!("mcp, mcp.auth.{key}");
    let mut by_protocol = Socket::with_protocols(desk, "fixture", &protocols).await;
    let stdio = desk.stdio("fixture", Some(key)).request(&call);
    vec![
        http,
        by_header.request(&call).await,
        by_protocol.request(&call).await,
        stdio,
    ]
}

const SUM: (&str, fn() -> Value) = ("fixture_sum", || json!({ "a": 1, "b": 2 }));

async fn sum(desk: &Desk, key: &str) -> Answer {
    desk.call_as(key, "fixture", SUM.0, SUM.1()).await
}

async fn opens(desk: &Desk, key: &str) {
    for message in everywhere(desk, key, SUM.0, SUM.1()).await {
        structured(result(&message));
    }
}

async fn opens_nothing(desk: &Desk, key: &str) {
    for message in everywhere(desk, key, SUM.0, SUM.1()).await {
        assert_eq!(message["error"]["message"], "Invalid API key", "{message}");
    }
}

#[tokio::test]
async fn a_key_works_the_moment_it_is_made_and_not_after_it_is_revoked() {
    let desk = Desk::with_config(REQUIRED).await;
    let key = create(&desk.place, &["phone"]);
    assert!(secret(&key).contains(key["id"].as_str().unwrap()));
    assert_eq!(sum(&desk, secret(&key)).await.status, 200);
    opens(&desk, secret(&key)).await;

    // One letter off, at every place of the secret and of the id.
    let right = secret(&key);
    for at in [5, 16, 20, right.len() - 1] {
        let mut wrong = right.as_bytes().to_vec();
        wrong[at] = if wrong[at] == b'x' { b'y' } else { b'x' };
        let wrong = String::from_utf8(wrong).unwrap();
        let answer = sum(&desk, &wrong).await;
        assert_eq!(answer.status, 401, "{wrong}");
    }
    opens_nothing(&desk, &right[..right.len() - 1]).await;

    // Another key beside it goes on.
    let other = create(&desk.place, &["laptop"]);
    let mut socket = Socket::with_bearer(&desk, "fixture", right).await;
    let mut spared = Socket::with_bearer(&desk, "fixture", secret(&other)).await;
    let ping = modern(1, "tools/list", json!({}));
    result(&socket.request(&ping).await);
    result(&spared.request(&ping).await);
    // By another process than the one that holds the socket.
    desk.place.run(&["keys", "revoke", "phone"]).ok();
    let closed = socket.closed().await.unwrap();
    assert_eq!(u16::from(closed.code), 1008);
    result(&spared.request(&ping).await);
    opens_nothing(&desk, right).await;
    opens(&desk, secret(&other)).await;

    let listed = desk.place.run(&["keys", "list", "--all", "--json"]).ok();
    assert!(
        !listed.stdout.contains(&right[17..]),
        "a secret is shown once"
    );
    let status = |name: &str| {
        let listed = listed.json();
        let keys = listed.as_array().unwrap().clone();
        let key = keys.into_iter().find(|key| key["name"] == name);
        key.unwrap()["status"].clone()
    };
    assert_eq!(
        (status("phone"), status("laptop")),
        (json!("revoked"), json!("valid"))
    );
}

#[tokio::test]
async fn a_running_call_ends_when_its_key_is_revoked() {
    let desk = Desk::with_config(REQUIRED).await;
    let key = create(&desk.place, &["phone"]);
    let long = json!({ "milliseconds": 25_000 });
    let waiting = desk.call_as(secret(&key), "fixture", "fixture_sleep", long);
    let id = key["id"].as_str().unwrap();
    let (answer, ()) = tokio::join!(waiting, revoke_soon(&desk.place, id));
    refused(result(&answer.message()), "CANCELLED");
}

/// Revokes a key while something is going on with it.
async fn revoke_soon(place: &Place, key: &str) {
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (place, key) = (place.clone(), key.to_owned());
    let revoke = move || drop(place.run(&["keys", "revoke", &key]).ok());
    tokio::task::spawn_blocking(revoke).await.unwrap();
}

#[tokio::test]
async fn a_key_expires_by_itself() {
    let desk = Desk::with_config(REQUIRED).await;
    let key = create(&desk.place, &["phone", "--expires", "10s"]);
    let mut socket = Socket::with_bearer(&desk, "fixture", secret(&key)).await;
    result(&socket.request(&modern(1, "tools/list", json!({}))).await);
    let closed = socket.closed().await.unwrap();
    assert_eq!(u16::from(closed.code), 1008);
    opens_nothing(&desk, secret(&key)).await;
    let no = desk
        .place
        .run(&["keys", "create", "late", "--expires", "2001-01-01"]);
    no.fails_with("ALREADY_EXPIRED");
    // Its name is free again.
    create(&desk.place, &["phone"]);
}

#[tokio::test]
async fn a_key_opens_what_it_was_made_for() {
    let desk = Desk::with_config(REQUIRED).await;
    let rooms = create(&desk.place, &["rooms", "--counters", "rooms"]);
    for message in everywhere(&desk, secret(&rooms), SUM.0, SUM.1()).await {
        assert_eq!(message["error"]["code"], 403, "{message}");
    }

    // By the document's name and by every other spelling.
    let lists = create(
        &desk.place,
        &["lists", "--counters", "rooms", "--tools", "list_rooms"],
    );
    for name in [
        "agent_communication/list_rooms",
        "agent_communication_list_rooms",
        "list_rooms",
    ] {
        let answer = desk.call_as(secret(&lists), "rooms", name, json!({})).await;
        structured(result(&answer.message()));
    }
    let new = json!({ "roomName": "x" });
    for name in [
        "agent_communication/create_room",
        "agent_communication_create_room",
        "create_room",
    ] {
        let answer = desk
            .call_as(secret(&lists), "rooms", name, new.clone())
            .await;
        refused(result(&answer.message()), "FORBIDDEN");
    }

    let reads = create(&desk.place, &["reads", "--read-only"]);
    opens(&desk, secret(&reads)).await;
    let answer = desk
        .call_as(secret(&reads), "rooms", "create_room", new)
        .await;
    refused(result(&answer.message()), "FORBIDDEN");
    for message in everywhere(&desk, secret(&reads), "fixture_write", json!({})).await {
        refused(result(&message), "FORBIDDEN");
    }
}

#[tokio::test]
async fn a_rotated_key_has_a_new_secret_and_the_old_one_for_as_long_as_said() {
    let desk = Desk::with_config(REQUIRED).await;
    let key = create(&desk.place, &["phone", "--read-only"]);
    opens(&desk, secret(&key)).await;
    let rotate = |more: &[&str]| {
        let mut all = vec!["keys", "rotate", "phone", "--json"];
        all.extend(more);
        desk.place.run(&all).ok().json()
    };
    let second = rotate(&["--grace", "1h"]);
    assert_eq!(
        (&second["id"], &second["read_only"]),
        (&key["id"], &json!(true))
    );
    opens(&desk, secret(&second)).await;
    opens(&desk, secret(&key)).await;
    let mut socket = Socket::with_bearer(&desk, "fixture", secret(&second)).await;
    result(&socket.request(&modern(1, "tools/list", json!({}))).await);
    let third = rotate(&[]);
    assert_eq!(u16::from(socket.closed().await.unwrap().code), 1008);
    opens_nothing(&desk, secret(&second)).await;
    opens_nothing(&desk, secret(&key)).await;
    opens(&desk, secret(&third)).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn two_desks_on_one_database_know_the_same_keys() {
    let url = Postgres::shared().create_database();
    let one = Desk::setup().config(REQUIRED).database(&url).start().await;
    let two = Desk::setup().config(REQUIRED).database(&url).start().await;
    let there = [("MADOGUCHI_DATABASE__URL", url.as_str())];
    let create = ["keys", "create", "phone", "--json"];
    let key = one.place.run_with(&create, &there).ok().json();
    for desk in [&one, &two] {
        let answer = sum(desk, secret(&key)).await;
        structured(result(&answer.message()));
    }
    let mut socket = Socket::with_bearer(&two, "fixture", secret(&key)).await;
    result(&socket.request(&modern(1, "tools/list", json!({}))).await);
    one.place
        .run_with(&["keys", "revoke", "phone"], &there)
        .ok();
    assert_eq!(u16::from(socket.closed().await.unwrap().code), 1008);
}

#[tokio::test]
async fn keys_are_made_with_care() {
    let place = Place::new();
    create(&place, &["phone"]);
    for (arguments, code) in [
        (vec!["phone"], "KEY_NAME_TAKEN"),
        (vec![" "], "INVALID_KEY_NAME"),
        (vec!["x", "--counters", "cinama"], "UNKNOWN_COUNTER"),
        (vec!["x", "--tools", "reserve_seat"], "UNKNOWN_TOOL"),
        (
            vec!["x", "--counters", "todo", "--tools", "reserve_seats"],
            "UNKNOWN_TOOL",
        ),
        (vec!["x", "--expires", "soon"], "INVALID_TIME"),
    ] {
        let mut all = vec!["keys", "create"];
        all.extend(&arguments);
        place.run(&all).fails_with(code);
    }
    place
        .run(&["keys", "revoke", "nobody"])
        .fails_with("KEY_NOT_FOUND");
    // What is on disk opens nothing, and only its owner reads the secret.
    let secret = place.data().join("desk.secret");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&secret).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }
    std::fs::write(&secret, "not a secret").unwrap();
    place.run(&["keys", "list"]).fails_with("SECRET_UNUSABLE");
}

#[tokio::test]
async fn a_stream_ends_with_its_key() {
    let desk = Desk::with_config(REQUIRED).await;
    let key = create(&desk.place, &["phone"]);
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let listen = modern(1, "subscriptions/listen", params);
    // Answered only once the stream has ended.
    let listening = desk.post("fixture", Some(secret(&key)), &listen);
    let (answer, ()) = tokio::join!(listening, revoke_soon(&desk.place, "phone"));
    assert_eq!(answer.status, 200);
    assert!(answer.text().contains("acknowledged"), "{}", answer.text());
}
