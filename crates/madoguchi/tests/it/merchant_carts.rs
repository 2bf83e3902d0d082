//! What one caller may reserve in the shop, and how it releases carts: over the
//! network, on both engines, at several desks at once.

use futures::future::join_all;
use serde_json::{Value, json};
use store::testing::Postgres;

use crate::harness::{Desk, configured_keys, refused, request, structured};

const FLAG: &str = "--merchant-port";

/// A desk with a key for each of two agents, and more configuration.
async fn desk(config: &str) -> Desk {
    let key = |name| configured_keys(&[(name, name)]) + "counters = [\"merchant\"]\n";
    let config = format!("{}{}{config}", key("alice"), key("bob"));
    Desk::setup().own_port(FLAG).config(&config).start().await
}

/// A call with the key of that name; without a key when it is empty.
async fn call(desk: &Desk, key: &str, tool: &str, arguments: Value) -> Value {
    let key = match key {
        "" => String::new(),
        key => format!("Bearer {key}"),
    };
    let headers = [("authorization", key.as_str())];
    let body = json!({ "name": tool, "arguments": arguments }).to_string();
    let answer = request(desk.own_port, "POST", "/mcp/tools/call", &headers, body).await;
    serde_json::from_str(&answer.text()).unwrap()
}

fn cart(items: &[(i64, i64)]) -> Value {
    let items: Vec<Value> = items
        .iter()
        .map(|(id, quantity)| json!({ "product_id": id, "quantity": quantity }))
        .collect();
    json!({ "cart_plan": { "items": items }, "products": [], "reserve": true })
}

async fn build(desk: &Desk, key: &str, arguments: Value) -> Value {
    call(desk, key, "build_cart_mandates", arguments).await
}

fn id_of(answer: &Value) -> Value {
    structured(answer)["cart_mandate"]["contents"]["id"].clone()
}

async fn stock(desk: &Desk) -> Vec<(i64, i64)> {
    let ids: Vec<i64> = (1..=30).collect();
    let answer = desk
        .call("merchant", "check_inventory", json!({ "product_ids": ids }))
        .await;
    let inventory = &structured(&answer)["inventory"];
    let count = |id: i64| inventory[id.to_string()].as_i64().unwrap();
    ids.iter().map(|id| (*id, count(*id))).collect()
}

#[tokio::test]
async fn one_caller_cannot_reserve_all_stock_of_the_shop() {
    let desk = desk("").await;
    let shelf = stock(&desk).await;
    // All of everything in one cart.
    let everything: Vec<_> = shelf.iter().copied().filter(|(_, n)| *n > 0).collect();
    let answer = build(&desk, "", cart(&everything)).await;
    refused(&answer, "TOO_MUCH_RESERVED");
    // All of everything, product by product.
    let mut codes = Vec::new();
    for product in everything {
        let answer = build(&desk, "", cart(&[product])).await;
        if answer["isError"] == true {
            codes.push(answer["structuredContent"]["error"]["code"].clone());
        }
    }
    assert!(codes.contains(&json!("TOO_MUCH_RESERVED")), "{codes:?}");
    // One of everything, up to the limit.
    let too_many = loop {
        let answer = build(&desk, "", cart(&[(30, 1)])).await;
        if answer["isError"] == true {
            break answer;
        }
    };
    let error = refused(&too_many, "TOO_MANY_CARTS");
    // Callers without a key are one caller, and do not learn each other's carts.
    assert_eq!(error["details"]["carts"], Value::Null, "{error}");
    assert!(error["details"]["free_at"].is_string(), "{error}");
    let left = stock(&desk).await;
    let sold_out = left.iter().filter(|(_, count)| *count == 0).count();
    let before = shelf.iter().filter(|(_, count)| *count == 0).count();
    assert!(sold_out <= before + 10, "{left:?}");
    // Another caller can still reserve goods.
    structured(&build(&desk, "alice", cart(&[(30, 1)])).await);
}

#[tokio::test]
async fn a_caller_cancels_and_replaces_its_own_carts() {
    let desk = desk("").await;
    let last = cart(&[(5, 15)]);
    let old = id_of(&build(&desk, "alice", last.clone()).await);
    let refusal = build(&desk, "alice", last.clone()).await;
    refused(&refusal, "INSUFFICIENT_STOCK");
    // The new cart can have what the old one held.
    let mut replacing = last.clone();
    replacing["replaces"] = old.clone();
    let refusal = build(&desk, "bob", replacing.clone()).await;
    refused(&refusal, "NOT_YOUR_CART");
    replacing["cart_plan"]["items"][0]["quantity"] = json!(16);
    let refusal = build(&desk, "alice", replacing.clone()).await;
    refused(&refusal, "INSUFFICIENT_STOCK");
    let looked_up = json!({ "cart_id": old });
    let kept = call(&desk, "alice", "get_cart_mandate", looked_up.clone()).await;
    assert_eq!(structured(&kept)["reserved"], true);
    replacing["cart_plan"]["items"][0]["quantity"] = json!(14);
    replacing["format"] = json!("ap2-0.1");
    let new = id_of(&build(&desk, "alice", replacing).await);
    assert_eq!(stock(&desk).await[4], (5, 1));
    let gone = call(&desk, "alice", "get_cart_mandate", looked_up).await;
    refused(&gone, "CART_CANCELLED");

    let cancel = json!({ "cart_id": new });
    for other in ["bob", ""] {
        let refusal = call(&desk, other, "cancel_cart", cancel.clone()).await;
        refused(&refusal, "NOT_YOUR_CART");
    }
    let cancelled = call(&desk, "alice", "cancel_cart", cancel.clone()).await;
    assert_eq!(structured(&cancelled)["status"], "cancelled");
    let released = json!([{ "product_id": 5, "quantity": 14 }]);
    assert_eq!(structured(&cancelled)["released"], released);
    let again = call(&desk, "alice", "cancel_cart", cancel).await;
    assert_eq!(structured(&again), structured(&cancelled));
    assert_eq!(stock(&desk).await[4], (5, 15));
}

#[tokio::test]
async fn a_caller_with_a_key_learns_which_carts_it_could_release() {
    let desk = desk("[merchant]\nmax_reserving_carts = 6\n").await;
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(id_of(&build(&desk, "alice", cart(&[(9, 1)])).await));
    }
    let answer = build(&desk, "alice", cart(&[(9, 1)])).await;
    let details = &refused(&answer, "TOO_MANY_CARTS")["details"];
    assert_eq!((&details["open"], &details["most"]), (&json!(6), &json!(6)));
    let named = details["carts"].as_array().unwrap();
    assert_eq!(named.len(), 5);
    assert!(named.iter().all(|cart| ids.contains(&cart["cart_id"])));
    let mut replacing = cart(&[(9, 1)]);
    replacing["replaces"] = named[0]["cart_id"].clone();
    let new = id_of(&build(&desk, "alice", replacing).await);
    structured(&call(&desk, "alice", "cancel_cart", json!({ "cart_id": new })).await);
    structured(&build(&desk, "alice", cart(&[(9, 1)])).await);
}

#[tokio::test]
async fn a_cart_is_changed_and_wishes_are_answered() {
    let desk = desk("").await;
    let mut wish = cart(&[(9, 1)]);
    wish["coupon_code"] = json!("WELCOME10");
    let answer = build(&desk, "alice", wish).await;
    let error = refused(&answer, "NOT_OFFERED");
    assert_eq!(error["details"]["field"], "coupon_code");
    let answer = build(
        &desk,
        "alice",
        json!({ "cart_plan": cart(&[(9, 1)])["cart_plan"] }),
    )
    .await;
    let change = |items: Value| json!({ "cart_id": id_of(&answer), "items": items });
    let three = json!([{ "product_id": 9, "quantity": 3 }]);
    let refusal = call(&desk, "bob", "update_cart", change(three.clone())).await;
    refused(&refusal, "NOT_YOUR_CART");
    let changed = call(&desk, "alice", "update_cart", change(three)).await;
    let metadata = &structured(&changed)["cart_mandate"]["contents"]["metadata"];
    assert_eq!(metadata["subtotal"], 1140.0);
    let misspelt = json!({ "cart_id": id_of(&answer), "item": [] });
    let refusal = call(&desk, "alice", "update_cart", misspelt).await;
    let error = refused(&refusal, "UNKNOWN_ARGUMENT");
    assert_eq!(error["details"]["nearest"], "items");
}

#[tokio::test]
async fn a_retry_with_the_same_key_makes_no_second_cart() {
    let desk = desk("[merchant]\nmax_reserving_carts = 1\n").await;
    let mut keyed = cart(&[(9, 1)]);
    keyed["idempotency_key"] = json!("once");
    let first = id_of(&build(&desk, "", keyed.clone()).await);
    let again = id_of(&build(&desk, "", keyed).await);
    assert_eq!(first, again);
    let other = build(&desk, "", cart(&[(9, 1)])).await;
    refused(&other, "TOO_MANY_CARTS");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn concurrent_calls_at_two_desks_respect_the_limit() {
    let one = Desk::setup().own_port(FLAG).start().await;
    let two = Desk::setup().own_port(FLAG).place(&one.place).start().await;
    race(&[one, two]).await;

    let url = Postgres::shared().create_database();
    let environment = [("MADOGUCHI_DATABASE__URL".to_owned(), url.clone())];
    let one = Desk::setup().own_port(FLAG).database(&url).start().await;
    one.place.load_demo_of("merchant", &environment);
    let two = Desk::setup().own_port(FLAG).database(&url).start().await;
    race(&[one, two]).await;
}

/// Carts are built, cancelled and replaced at the same time.
async fn race(desks: &[Desk]) {
    let reserve = |number: usize| {
        let desk = &desks[number % desks.len()];
        build(desk, "", cart(&[(30, 1)]))
    };
    let answers = join_all((0..60).map(reserve)).await;
    let mut ids = Vec::new();
    for answer in &answers {
        match answer["isError"] == true {
            true => drop(refused(answer, "TOO_MANY_CARTS").clone()),
            false => ids.push(id_of(answer)),
        }
    }
    assert_eq!(ids.len(), 20);
    assert_eq!(stock(&desks[0]).await[29], (30, 980));

    // All replace the same cart: only the first succeeds.
    let replace = |number: usize| {
        let mut arguments = cart(&[(30, 1)]);
        arguments["replaces"] = ids[0].clone();
        build(&desks[number % desks.len()], "", arguments)
    };
    let answers = join_all((0..20).map(replace)).await;
    let replaced = answers.iter().filter(|answer| answer["isError"] != true);
    assert_eq!(replaced.count(), 1);
    assert_eq!(stock(&desks[0]).await[29], (30, 980));

    // Each cart is cancelled by several calls at once.
    let cancel = |number: usize| {
        let cancel = json!({ "cart_id": ids[number % ids.len()] });
        call(&desks[number % desks.len()], "", "cancel_cart", cancel)
    };
    for answer in join_all((0..60).map(cancel)).await {
        assert_eq!(structured(&answer)["status"], "cancelled");
    }
    assert_eq!(stock(&desks[0]).await[29], (30, 999));
}
