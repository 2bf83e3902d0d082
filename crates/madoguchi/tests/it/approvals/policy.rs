//! What was allowed once, under the policy and the scope of today.

use serde_json::{Value, json};

use super::{Asking, call_with_key, question, reservation};
use crate::harness::{Desk, configured_keys, refused, structured};

/// A person is not asked for what can't be done anyway.
#[tokio::test]
async fn an_idempotency_key_of_another_call_is_refused_without_asking() {
    let asking = Asking::embedded(0).await;
    let show = asking.show(0).await;
    let call = async |seat: &str| {
        let arguments = json!({
            "schedule_id": show["schedule_id"], "seat_ids": [seat], "idempotency_key": "k1",
        });
        asking.desk.call("cinema", "reserve_seats", arguments).await
    };
    let id = question(&call("A1").await);
    asking.cli(&["approvals", "approve", &id]);
    reservation(&call("A1").await);
    refused(&call("A2").await, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(asking.listed().len(), 1);
    assert!(asking.is_free(&show, "A2").await);
}

/// Neither a standing grant nor a kept answer outlives the policy or the scope
/// under which it was given.
#[tokio::test]
async fn an_old_approval_is_checked_against_the_current_policy_and_scope() {
    let secret = "correct horse battery staple";
    let config = |policy: &str, tools: &str| {
        let key = configured_keys(&[("phone", secret)]);
        format!(
            "[approval]\nhold_seconds = 0\n\
             tools = {{ \"cinema.reserve_seats\" = \"{policy}\" }}\n{key}tools = [{tools}]\n"
        )
    };
    let asking = Asking {
        desk: Desk::with_config(&config("ask", "")).await,
        database: None,
    };
    let show = asking.show(0).await;
    let seat = |seat: &str, key: &str| {
        json!({
            "schedule_id": show["schedule_id"], "seat_ids": [seat], "idempotency_key": key,
        })
    };
    let id = question(&call_with_key(&asking.desk, secret, seat("A1", "k1")).await);
    asking.cli(&["approvals", "approve", &id, "--always"]);
    reservation(&call_with_key(&asking.desk, secret, seat("A1", "k1")).await);
    reservation(&call_with_key(&asking.desk, secret, seat("A2", "k2")).await);
    for (policy, tools, code) in [
        ("deny", "", "DENIED_BY_POLICY"),
        ("ask", "\"get_movie_list\"", "FORBIDDEN"),
        ("allow", "\"get_movie_list\"", "FORBIDDEN"),
    ] {
        let setup = Desk::setup().place(&asking.desk.place);
        let today = setup.config(&config(policy, tools)).start().await;
        // A retry, and a call that the grant was for.
        for arguments in [seat("A1", "k1"), seat("A3", "k3")] {
            refused(&call_with_key(&today, secret, arguments).await, code);
        }
    }
    assert!(asking.is_free(&show, "A3").await);
}

/// Changing a cart builds it anew, replacing one cancels it, and a room can be entered
/// as it is created.
#[tokio::test]
async fn tools_are_held_to_the_policy_of_what_they_imply() {
    let config = "[approval]\nhold_seconds = 0\ntools = { \"merchant.build_cart_mandates\" = \"ask\", \
        \"merchant.cancel_cart\" = \"deny\", \"rooms.enter_room\" = \"deny\" }\n";
    let desk = Desk::with_config(config).await;
    let plan = json!({ "items": [{ "product_id": 1, "quantity": 1 }] });
    let (new, replacing) = (
        json!({ "cart_plan": plan }),
        json!({ "cart_plan": plan, "replaces": "cart_0" }),
    );
    let changed = json!({ "cart_id": "cart_0", "reserve": true });
    let room = |more: Value| {
        let mut room = json!({ "roomName": "r" });
        room.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        room
    };
    for (counter, tool, arguments, code) in [
        ("merchant", "build_cart_mandates", new, "APPROVAL_REQUIRED"),
        ("merchant", "update_cart", changed, "APPROVAL_REQUIRED"),
        (
            "merchant",
            "build_cart_mandates",
            replacing,
            "DENIED_BY_POLICY",
        ),
        (
            "rooms",
            "create_room",
            room(json!({ "agentName": "a" })),
            "DENIED_BY_POLICY",
        ),
    ] {
        refused(&desk.call(counter, tool, arguments).await, code);
    }
    structured(&desk.call("rooms", "create_room", room(json!({}))).await);
}
