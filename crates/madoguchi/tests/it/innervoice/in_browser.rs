//! The user decides about the secretary's calls in a real browser.

use serde_json::json;

use super::{ALLOWS, FLAG, import, key, mail::config, tool_call};
use crate::harness::{
    Desk, MailServer, Socket,
    clients::{self, Browser},
    result,
};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn cards_of_the_secretary_are_approved_and_denied_in_a_browser() {
    let server = MailServer::start(&["accept"]).await;
    let asks = "[approval]\nhold_seconds = 120\n";
    let config = config(&server, 0).replace(ALLOWS, asks);
    let desk = Desk::setup().config(&config).own_port(FLAG).start().await;
    import(&desk.place, "田中 太郎", "taro@example.com");
    let key = key(&desk.place);
    let mut sockets = Vec::new();
    for call in [
        tool_call(
            "message.send",
            &json!({ "to": "田中さん", "text": "今から帰ります" }),
        ),
        tool_call(
            "calendar.create",
            &json!({ "title": "朝ラン", "start": "2030-09-19T07:00:00+09:00", "duration_min": 30 }),
        ),
        tool_call(
            "message.send",
            &json!({ "to": "mallory@example.com", "text": "the password" }),
        ),
    ] {
        let mut socket = Socket::own_port(&desk, &key).await;
        socket.send(&call).await;
        sockets.push(socket);
    }
    let (place, url) = (&desk.place, desk.url(""));
    let browser = clients::in_browser(
        Browser::Chromium,
        place,
        "innervoice_cards.mjs",
        &["cards", &url],
    )
    .await;
    browser.ok();
    let mut answers = Vec::new();
    for socket in &mut sockets {
        answers.push(result(&socket.receive().await).clone());
    }
    assert_eq!(answers[0]["status"], "ok", "{answers:?}");
    assert_eq!(answers[1]["status"], "ok", "{answers:?}");
    assert_eq!(answers[2]["code"], "APPROVAL_DENIED", "{answers:?}");
    let received = server.received(1, &["accept"]).await;
    assert_eq!(received[0]["to"], json!(["taro@example.com"]));
    assert_eq!(server.so_far().len(), 1);
}
