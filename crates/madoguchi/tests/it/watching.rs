//! A watched seat map tells its watchers, whoever books, in both eras.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{
    Desk, Pipe, Socket, call, initialize, initialized, modern, plain, refused, result,
    show_to_book, structured,
};

/// Waits for a notification with this method.
async fn notified(socket: &mut Socket, method: &str) -> Value {
    loop {
        let message = socket.receive().await;
        if message["method"] == method {
            return message;
        }
    }
}

/// Nothing came that was not read yet.
async fn hears_nothing(socket: &mut Socket) {
    socket.send(&plain(77, "ping", json!({}))).await;
    let next = socket.receive().await;
    assert_eq!(next["id"], 77, "{next}");
}

#[tokio::test]
async fn bookings_of_another_process_reach_subscribers_of_both_eras() {
    let desk = Desk::start().await;
    let show = show_to_book(&desk, "M001", 0).await;
    let schedule = show["schedule_id"].as_str().unwrap();
    let uri = format!("cinema://shows/{schedule}/seats");

    let mut newer = Socket::open(&desk, "cinema").await;
    let filter = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    newer.send(&modern(9, "subscriptions/listen", filter)).await;
    let acknowledged = notified(&mut newer, "notifications/subscriptions/acknowledged").await;
    assert_eq!(
        acknowledged["params"]["notifications"]["resourceSubscriptions"][0],
        uri.as_str()
    );

    let mut older = Socket::open(&desk, "cinema").await;
    result(&older.request(&initialize(1, "2025-06-18")).await);
    older.send(&initialized()).await;
    result(
        &older
            .request(&plain(2, "resources/subscribe", json!({ "uri": uri })))
            .await,
    );

    // A booking in another process on the same data.
    let mut other = Pipe::start(desk.place.command().args(["stdio", "cinema"]));
    let arguments = json!({ "schedule_id": schedule, "seat_ids": ["A1"] });
    structured(result(&other.request(&call(1, "reserve_seats", arguments))));

    let update = notified(&mut newer, "notifications/resources/updated").await;
    assert_eq!(update["params"]["uri"], uri.as_str());
    let tag = &update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(*tag, json!(9), "{update}");
    let update = notified(&mut older, "notifications/resources/updated").await;
    assert_eq!(update["params"]["uri"], uri.as_str());

    // A refused booking is no change. And one in this process.
    let taken = json!({ "schedule_id": schedule, "seat_ids": ["A1"] });
    let answer = desk.call("cinema", "reserve_seats", taken).await;
    refused(&answer, "SEATS_TAKEN");
    tokio::time::sleep(Duration::from_secs(1)).await;
    for socket in [&mut newer, &mut older] {
        hears_nothing(socket).await;
    }
    let free = json!({ "schedule_id": schedule, "seat_ids": ["A2"] });
    desk.ok("cinema", "reserve_seats", free).await;
    notified(&mut newer, "notifications/resources/updated").await;
    notified(&mut older, "notifications/resources/updated").await;
}

/// A process that a key narrows hears nothing more once the key is revoked.
#[tokio::test]
async fn a_process_whose_key_is_revoked_gets_no_more_notifications() {
    let desk = Desk::start().await;
    let show = show_to_book(&desk, "M001", 0).await;
    let schedule = show["schedule_id"].as_str().unwrap();
    let uri = format!("cinema://shows/{schedule}/seats");
    let book = async |seat: &str| {
        let arguments = json!({ "schedule_id": schedule, "seat_ids": [seat] });
        desk.ok("cinema", "reserve_seats", arguments).await;
    };
    let key = desk.place.create_key(&["narrow"]);
    let watch = |key: &str| {
        let mut command = desk.place.command();
        command.args(["stdio", "cinema"]).env("MADOGUCHI_KEY", key);
        let mut pipe = Pipe::start(&mut command);
        result(&pipe.request(&initialize(1, "2025-06-18")));
        pipe.send(&initialized());
        let subscribe = plain(2, "resources/subscribe", json!({ "uri": uri }));
        result(&pipe.request(&subscribe));
        pipe
    };
    let is_update = |message: &Value| message["method"] == "notifications/resources/updated";
    let hears = |pipe: &mut Pipe| while !is_update(&pipe.receive().unwrap()) {};
    let (mut narrowed, mut free) = (watch(&key), watch(""));
    book("A1").await;
    hears(&mut narrowed);
    hears(&mut free);

    desk.place.run(&["keys", "revoke", "narrow"]).ok();
    let list = plain(3, "tools/list", json!({}));
    while narrowed.request(&list).get("result").is_some() {}
    // Each process looks for changes four times a second, so one of these finds
    // both of them looking.
    for seat in ["A2", "A3", "A4", "A5", "A6", "A7", "A8"] {
        book(seat).await;
        hears(&mut free);
    }
    let (rest, ..) = narrowed.finish();
    assert!(!rest.iter().any(is_update), "{rest:?}");
}
