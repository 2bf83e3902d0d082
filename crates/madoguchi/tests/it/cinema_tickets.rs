//! Tickets as a customer and a gate meet them: the image in the answer, another library
//! that verifies the signature offline, and who may admit.

use serde_json::{Value, json};

use crate::harness::{
    Desk, clients, configured_keys, free_seats, refused, result, seats_of, show_to_book, structured,
};

async fn booked(desk: &Desk) -> String {
    let show = show_to_book(desk, "M003", 0).await;
    let schedule_id = show["schedule_id"].as_str().unwrap();
    let free = free_seats(&seats_of(desk, schedule_id).await);
    let seat = free.first().unwrap();
    let arguments = json!({"schedule_id": schedule_id, "seat_ids": [seat]});
    let booked = desk.call("cinema", "reserve_seats", arguments).await;
    let id = &structured(&booked)["reservation"]["reservation_id"];
    id.as_str().unwrap().to_owned()
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn another_library_verifies_a_ticket_with_the_published_key() {
    let desk = Desk::start().await;
    let id = booked(&desk).await;
    let answer = desk
        .call("cinema", "get_ticket", json!({"reservation_id": id}))
        .await;
    let ticket = structured(&answer)["ticket"].as_str().unwrap();
    assert_eq!(answer["content"][0]["type"], "text");
    assert_eq!(answer["content"][1]["type"], "image");
    assert_eq!(answer["content"][1]["mimeType"], "image/png");
    let read = async |uri: &str| {
        let read = desk
            .rpc("cinema", "resources/read", json!({"uri": uri}))
            .await;
        result(&read)["contents"][0].clone()
    };
    let image = read(&format!("cinema://tickets/{id}")).await;
    assert_eq!(image["blob"], answer["content"][1]["data"]);
    assert_eq!(image["mimeType"], "image/png");
    let key = read("cinema://ticket-key").await;
    let key: Value = key["text"].as_str().unwrap().parse().unwrap();

    let verify = async |ticket: &str| {
        let input = json!({"ticket": ticket, "key": key}).to_string();
        clients::python_reading(&desk.place, "ticket.py", input).await
    };
    let claims = verify(ticket).await.ok().json();
    let schedule = &structured(&answer)["schedule_info"]["schedule_id"];
    assert_eq!(claims["show"], *schedule);
    assert_eq!(claims["seats"], structured(&answer)["seat_ids"][0]);
    assert!(!claims.to_string().contains(id.trim_start_matches("rsv_")));
    let (start, end) = ticket.split_at(ticket.len() / 2);
    let changed = match end.strip_prefix('A') {
        Some(rest) => format!("{start}B{rest}"),
        None => format!("{start}A{}", &end[1..]),
    };
    verify(&changed).await.fails_with("InvalidSignature");
}

#[tokio::test]
async fn only_staff_keys_admit() {
    let key = |name, secret| configured_keys(&[(name, secret)]) + "counters = [\"cinema\"]\n";
    let gate = key("gate", "gate-secret") + "tools = [\"check_ticket\"]\n";
    let desk = Desk::with_config(&(gate + &key("agent", "agent-secret"))).await;
    let id = booked(&desk).await;
    let ticket = desk
        .call("cinema", "get_ticket", json!({"reservation_id": id}))
        .await;
    let arguments = json!({"ticket": structured(&ticket)["ticket"]});
    refused(
        &desk.call("cinema", "check_ticket", arguments.clone()).await,
        "FORBIDDEN",
    );
    for (key, code) in [
        ("agent-secret", "FORBIDDEN"),
        ("gate-secret", "TICKET_OTHER_DAY"),
    ] {
        let answer = desk
            .call_as(key, "cinema", "check_ticket", arguments.clone())
            .await;
        refused(result(&answer.message()), code);
    }
}
