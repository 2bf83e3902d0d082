//! Beginning the work uses the approval up: whatever becomes of its client, it is
//! done once, and the identical call gets its answer.

use std::{sync::atomic::Ordering, time::Duration};

use desk::settings::Policy;
use serde_json::{Value, json};
use store::testing::Postgres;
use tokio_util::sync::CancellationToken;

use super::{Asking, own_desk::OwnDesk, question};
use crate::harness::{Desk, Place, Socket, modern, plain, structured};

async fn on_both() -> [OwnDesk; 2] {
    let url = Postgres::shared().create_database();
    let ask = [("act", Policy::Ask), ("fails", Policy::Ask)];
    [
        OwnDesk::open(None, &ask, |_| {}).await,
        OwnDesk::open(Some(&url), &ask, |_| {}).await,
    ]
}

/// Waits until the tool has been begun this often.
async fn begun(own: &OwnDesk, times: usize) {
    while own.begun() < times {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[derive(Clone, Copy, Debug)]
enum Leaves {
    ByCancelling,
    ByHangingUp,
}

/// Makes a call whose client leaves as soon as `moment` has come.
async fn abandoned(
    own: &OwnDesk,
    (tool, arguments): (&str, &Value),
    how: Leaves,
    moment: impl Future<Output = ()>,
) {
    let cancel = CancellationToken::new();
    let call = own.call(tool, arguments.clone(), &cancel);
    let mut call = std::pin::pin!(call);
    tokio::select! {
        biased;
        () = moment => {}
        _ = &mut call => return,
    }
    if let Leaves::ByCancelling = how {
        cancel.cancel();
        // Its answer goes nowhere.
        let _ = tokio::time::timeout(Duration::from_millis(20), call).await;
    }
}

async fn asked_and_approved(own: &OwnDesk, (tool, arguments): (&str, &Value)) {
    let code = own.refused(tool, arguments.clone()).await;
    assert_eq!(code, "APPROVAL_REQUIRED");
    own.approve().await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn work_that_started_finishes_and_its_answer_goes_to_the_identical_call() {
    for own in on_both().await {
        let mut times = 0;
        for tool in ["act", "fails"] {
            for how in [Leaves::ByCancelling, Leaves::ByHangingUp] {
                times += 1;
                let arguments = json!({ "n": times });
                asked_and_approved(&own, (tool, &arguments)).await;
                abandoned(&own, (tool, &arguments), how, begun(&own, times)).await;
                // The same call again, while the first is at work.
                let again = own.result(tool, arguments.clone());
                let go_on = async {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    own.acts.may_end.add_permits(1);
                };
                let (again, ()) = tokio::join!(again, go_on);
                match again {
                    Ok(reply) => assert_eq!(reply["act"], times, "{tool} {how:?}"),
                    Err(error) => {
                        assert_eq!(error.code, "NOT_TODAY", "{tool} {how:?}");
                        assert_eq!(error.next.as_deref(), Some("Try tomorrow."));
                        assert_eq!(error.details, Some(json!({ "act": times })));
                    }
                }
                assert_eq!(own.begun(), times, "{tool} {how:?}");
                let ended = own.acts.ended.load(Ordering::SeqCst);
                assert_eq!(ended, times, "{tool} {how:?}");
                // It has its answer now; the next one is new.
                let next = own.refused(tool, arguments).await;
                assert_eq!(next, "APPROVAL_REQUIRED", "{tool} {how:?}");
                own.deny().await;
            }
        }
        own.close().await;
    }
}

/// A client that leaves after any number of steps of the call.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn work_is_done_once_at_whatever_step_the_client_leaves() {
    for own in on_both().await {
        own.acts.may_end.add_permits(10_000);
        let mut done = 0;
        for how in [Leaves::ByCancelling, Leaves::ByHangingUp] {
            for steps in (0..60).chain((60..600).step_by(20)) {
                let arguments = json!({ "n": done });
                let call = ("act", &arguments);
                asked_and_approved(&own, call).await;
                for steps in [0, 3, steps] {
                    let moment = async {
                        for _ in 0..steps {
                            tokio::task::yield_now().await;
                        }
                    };
                    abandoned(&own, call, how, moment).await;
                }
                // Whatever came of those: this one does it, or has the answer,
                // or is new because the last of those had it in time.
                match own.result("act", arguments.clone()).await {
                    Ok(reply) => assert_eq!(reply["arguments"]["n"], done, "{how:?} {steps}"),
                    Err(error) => {
                        assert_eq!(error.code, "APPROVAL_REQUIRED", "{how:?} {steps}");
                        own.deny().await;
                    }
                }
                done += 1;
                assert_eq!(own.begun(), done, "{how:?} after {steps} steps");
            }
        }
        own.close().await;
    }
}

#[tokio::test]
async fn an_approved_read_is_read_once() {
    let own = OwnDesk::open(None, &[("look", Policy::Ask)], |_| {}).await;
    let arguments = json!({ "n": 1 });
    assert_eq!(
        own.refused("look", arguments.clone()).await,
        "APPROVAL_REQUIRED"
    );
    own.approve().await;
    let calls = (0..8).map(|_| own.result("look", arguments.clone()));
    let done = futures::future::join_all(calls).await;
    assert_eq!(done.iter().filter(|answer| answer.is_ok()).count(), 1);
    own.close().await;
}

/// The message of a room, sent and cancelled a little later, again and again.
#[tokio::test]
async fn a_message_is_sent_once_however_often_its_call_is_cancelled() {
    let config = "[approval]\nhold_seconds = 0\ntools = { \"rooms.send_message\" = \"ask\" }\n";
    let place = Place::new();
    let asking = Asking {
        desk: Desk::setup().place(&place).config(config).start().await,
        database: None,
    };
    let room = json!({ "agentName": "a", "roomName": "r" });
    structured(
        &asking
            .desk
            .call("rooms", "create_room", json!({ "roomName": "r" }))
            .await,
    );
    asking.desk.ok("rooms", "enter_room", room).await;
    let mut socket = Socket::open(&asking.desk, "rooms").await;
    let mut id = 0;
    for round in 0..6 {
        let text = format!("message {round}");
        let arguments = json!({ "agentName": "a", "roomName": "r", "message": text });
        let params = json!({ "name": "send_message", "arguments": arguments });
        let approval = question(
            &asking
                .desk
                .call("rooms", "send_message", arguments.clone())
                .await,
        );
        asking.cli(&["approvals", "approve", &approval]);
        for attempt in 0..10 {
            id += 1;
            socket.send(&modern(id, "tools/call", params.clone())).await;
            tokio::time::sleep(Duration::from_micros(500 + 300 * attempt)).await;
            let cancelled = json!({ "requestId": id, "reason": "a test" });
            let mut note = plain(0, "notifications/cancelled", cancelled);
            note.as_object_mut().unwrap().remove("id");
            socket.send(&note).await;
        }
        // Messages are taken in order, so all calls have begun and are cancelled.
        id += 1;
        socket.request(&modern(id, "tools/list", json!({}))).await;
        // Whoever asks at last gets the answer, unless one of the calls had it.
        let last = asking.desk.call("rooms", "send_message", arguments).await;
        if last["isError"] == true {
            question(&last);
        }
        let read = json!({ "roomName": "r", "agentName": "a", "limit": 1000 });
        let read = asking.desk.call("rooms", "get_messages", read).await;
        let messages = structured(&read)["messages"].as_array().unwrap().clone();
        let sent = messages.iter().filter(|it| it["message"] == text.as_str());
        assert_eq!(sent.count(), 1, "{messages:?}");
    }
}
