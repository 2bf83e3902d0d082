//! How much one caller may reserve, and how it releases carts.

use std::{num::NonZeroU32, sync::Arc};

use futures::future::join_all;
use kit::{
    Caller, Error,
    testing::{Harness, details},
};
use merchant::Settings;
use serde_json::{Value, json};

use crate::{
    carts::{BUILD, plan, plan_of, reserving, with},
    shop::{Shop, both, both_with},
};

fn at_most(carts: u32) -> Settings {
    Settings {
        max_reserving_carts: NonZeroU32::new(carts).unwrap(),
        ..Settings::default()
    }
}

/// The id of a new cart.
async fn build(shop: &Harness, arguments: Value) -> Result<Value, Error> {
    let built = shop.call(BUILD, arguments).await?;
    Ok(built["cart_mandate"]["contents"]["id"].clone())
}

fn replacing(cart: &Value, arguments: Value) -> Value {
    with(arguments, "replaces", cart.clone())
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_expired_cart_no_longer_counts() {
    for shop in both_with(at_most(2)).await {
        build(&shop, reserving(9, 1)).await.unwrap();
        shop.set_clock("2025-10-23T12:10:00Z");
        build(&shop, reserving(9, 1)).await.unwrap();
        let refused = shop.refused(BUILD, reserving(9, 1)).await;
        assert_eq!(refused.code, "TOO_MANY_CARTS");
        assert_eq!(details(&refused)["free_at"], "2025-10-23T12:30:00Z");
        assert!(refused.text().ends_with(
            "Release one with cancel_cart, or with replaces of build_cart_mandates, or wait until \
             2025-10-23T12:30:00Z."
        ));
        // A cart without a reservation does not count.
        build(&shop, plan_of(9, 1)).await.unwrap();
        shop.set_clock("2025-10-23T12:30:00Z");
        build(&shop, reserving(9, 1)).await.unwrap();
        assert_eq!(shop.code(BUILD, reserving(9, 1)).await, "TOO_MANY_CARTS");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn each_caller_has_its_own_limit() {
    for shop in both_with(at_most(1)).await {
        let key = shop.for_caller(Caller::new("key_1", "shop agent"));
        let keyless = shop.for_caller(Caller::anonymous());
        for caller in [&*shop, &key, &keyless] {
            build(caller, reserving(9, 1)).await.unwrap();
        }
        let refused = key.refused(BUILD, reserving(9, 1)).await;
        assert_eq!(details(&refused)["carts"].as_array().unwrap().len(), 1);
        let refused = keyless.refused(BUILD, reserving(9, 1)).await;
        assert_eq!(refused.code, "TOO_MANY_CARTS");
        assert_eq!(details(&refused)["carts"], Value::Null);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_failed_replacement_leaves_the_old_cart_as_it_was() {
    for shop in both().await {
        let old = build(&shop, reserving(5, 10)).await.unwrap();
        for (arguments, code) in [
            (reserving(5, 16), "INSUFFICIENT_STOCK"),
            (reserving(404, 1), "PRODUCT_NOT_FOUND"),
        ] {
            assert_eq!(shop.code(BUILD, replacing(&old, arguments)).await, code);
            assert_eq!(shop.inventory(5).await, 5);
            let kept = shop.ok("get_cart_mandate", json!({"cart_id": old})).await;
            assert_eq!(kept["reserved"], true);
        }
        let unknown = replacing(&json!("cart_0"), reserving(5, 1));
        assert_eq!(shop.code(BUILD, unknown).await, "CART_NOT_FOUND");
        // Models send a blank for no cart.
        let blank = replacing(&json!(" "), reserving(5, 1));
        let new = build(&shop, blank).await.unwrap();
        assert_eq!(shop.inventory(5).await, 4);
        let all = build(&shop, replacing(&old, reserving(5, 14))).await;
        assert_eq!(shop.inventory(5).await, 0);
        // A cart that reserves nothing can replace one that did.
        let without = replacing(&all.unwrap(), plan_of(5, 14));
        build(&shop, without).await.unwrap();
        assert_eq!(shop.inventory(5).await, 14);
        shop.ok("cancel_cart", json!({"cart_id": new})).await;
        assert_eq!(shop.inventory(5).await, 15);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn cancelling_twice_gives_the_same_answer() {
    for shop in both().await {
        let cart = build(&shop, reserving(5, 10)).await.unwrap();
        let cancel = json!({"cart_id": cart});
        let first = shop.ok("cancel_cart", cancel.clone()).await;
        assert_eq!(
            first,
            json!({
                "cart_id": cart,
                "status": "cancelled",
                "released": [{"product_id": 5, "quantity": 10}],
                "message": "The cart is cancelled; it holds nothing.",
            })
        );
        assert_eq!(shop.ok("cancel_cart", cancel.clone()).await, first);
        let code = shop.code("get_cart_mandate", cancel.clone()).await;
        assert_eq!(code, "CART_CANCELLED");
        let other = build(&shop, reserving(5, 15)).await.unwrap();
        shop.set_clock("2025-10-23T12:30:00Z");
        let expired = shop.ok("cancel_cart", json!({"cart_id": other})).await;
        assert_eq!(expired["status"], "expired");
        assert_eq!(expired["released"], json!([]));
        assert_eq!(shop.ok("cancel_cart", cancel).await, first);
        let unknown = json!({"cart_id": "cart_0"});
        assert_eq!(shop.code("cancel_cart", unknown).await, "CART_NOT_FOUND");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn one_caller_may_hold_most_of_a_few_products_only() {
    let settings = Settings {
        max_mostly_reserved_products: 2,
        ..Settings::default()
    };
    for shop in both_with(settings).await {
        build(&shop, reserving(2, 30)).await.unwrap();
        build(&shop, reserving(5, 8)).await.unwrap();
        // Half is not more than half.
        build(&shop, reserving(4, 12)).await.unwrap();
        let refused = shop.refused(BUILD, reserving(4, 1)).await;
        assert_eq!(refused.code, "TOO_MUCH_RESERVED");
        assert_eq!(
            details(&refused),
            json!({
                "products": [{"product_id": 4, "held": 13, "stock": 24}],
                "mostly_held": 3,
                "most": 2,
            })
        );
        assert_eq!(shop.inventory(4).await, 12);
        // More of a product that the caller mostly holds is allowed.
        build(&shop, reserving(5, 7)).await.unwrap();
        // A product whose stock has shrunk does not block other carts.
        shop.sql("UPDATE merchant_products SET stock = 12 WHERE id = 4 RETURNING id")
            .await;
        build(&shop, reserving(9, 1)).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn one_cart_cannot_hold_a_few_of_every_product() {
    for shop in both_with(at_most(1)).await {
        let cart = |products: i64| {
            let items = (6..6 + products).map(|id| json!({"product_id": id, "quantity": 1}));
            with(plan(items.collect()), "reserve", json!(true))
        };
        shop.sql("UPDATE merchant_products SET stock = 10 WHERE stock = 0 RETURNING id")
            .await;
        let refused = shop.refused(BUILD, cart(11)).await;
        assert_eq!(refused.code, "TOO_MUCH_RESERVED");
        assert_eq!(details(&refused), json!({"lines": 11, "most": 10}));
        build(&shop, cart(10)).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn kept_carts_are_bounded_in_number_and_size() {
    let settings = Settings {
        max_kept_carts: NonZeroU32::new(4).unwrap(),
        ..Settings::default()
    };
    for shop in both_with(settings).await {
        for _ in 0..4 {
            build(&shop, plan_of(1, 1)).await.unwrap();
        }
        let refused = shop.refused(BUILD, plan_of(1, 1)).await;
        assert_eq!(refused.code, "TOO_MANY_CARTS");
        // Made before 13:00, and kept for half an hour and a day.
        let free_at = "2025-10-24T13:30:00Z";
        assert_eq!(details(&refused), json!({"most": 4, "free_at": free_at}));
        shop.set_clock(free_at);
        // A large cart counts like several.
        let address = json!({"city": "渋谷区", "note": "x".repeat(9_000)});
        let large = with(plan_of(1, 1), "shipping_address", address);
        build(&shop, large.clone()).await.unwrap();
        assert_eq!(shop.code(BUILD, large).await, "TOO_MANY_CARTS");
        let kept = shop.count("merchant_carts").await;
        assert_eq!(kept, 5, "a refused cart is not kept");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn concurrent_calls_from_two_processes_respect_the_limit() {
    for scratch in store::testing::both().await {
        let again = scratch.again().await;
        let one = Shop::with_demo(scratch, at_most(7)).await;
        let shops = [Arc::new(one), Arc::new(Shop::on(again, at_most(7)))];
        let engine = shops[0].store().engine();
        let calls = (0..50).map(|number| {
            let shop = Arc::clone(&shops[number % 2]);
            tokio::spawn(async move { build(&shop, reserving(30, 1)).await })
        });
        let mut carts = Vec::new();
        for outcome in join_all(calls).await {
            match outcome.unwrap() {
                Ok(cart) => carts.push(cart),
                Err(error) => assert_eq!(error.code, "TOO_MANY_CARTS", "{error} {:?}", error.cause),
            }
        }
        assert_eq!(carts.len(), 7, "{engine}");
        assert_eq!(shops[0].inventory(30).await, 993, "{engine}");

        // All carts are replaced at once, each by two calls: their number stays the same.
        let calls = (0..14).map(|number| {
            let shop = Arc::clone(&shops[number % 2]);
            let arguments = replacing(&carts[number / 2], reserving(30, 2));
            tokio::spawn(async move { build(&shop, arguments).await })
        });
        let replaced = join_all(calls).await;
        let made = replaced
            .iter()
            .filter(|outcome| outcome.as_ref().unwrap().is_ok());
        assert_eq!(made.count(), 7, "{engine}");
        assert_eq!(shops[1].inventory(30).await, 986, "{engine}");
    }
}
