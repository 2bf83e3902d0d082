//! Tasks for the merchant counter.

use serde_json::{Value, json};

use super::{Subject, Task};

/// What a customer needs to know of a product.
fn search(keyword: &str) -> Value {
    let fields = json!(["name", "names", "price_with_tax_jpy", "inventory_count"]);
    json!({ "keywords": [keyword], "limit": 3, "fields": fields })
}

fn cart(product_id: Value, quantity: i64) -> Value {
    json!({ "cart_plan": { "items": [{ "product_id": product_id, "quantity": quantity }] } })
}

const CART: &str = "$g1/cart_mandate/contents/id";

pub fn subject() -> Subject {
    let reserved = json!({
        "cart_plan": { "items": [{ "product_id": 1, "quantity": 2 }] }, "reserve": true,
    });
    let with_coupon = json!({
        "cart_plan": { "items": [{ "product_id": 14, "quantity": 1 }] }, "coupon_code": "WELCOME10",
    });
    let sent_to = json!({ "recipient": "山田太郎", "postalCode": "150-0001", "city": "渋谷区" });
    Subject {
        counter: "merchant",
        config: "",
        has_demo: true,
        tasks: vec![
            Task::new("Do you have running shoes, and what do they cost with tax?")
                .call("search_products", search("running shoes"))
                .shows("9790.0"),
            Task::new("マグカップはありますか。")
                .call("search_products", search("マグカップ"))
                .shows("sold out: むぎぼーマグカップ (id 3)"),
            Task::new("What do you have for the kitchen for at most 5,000 yen with tax?")
                .call(
                    "search_products",
                    json!({
                        "keywords": [], "category": ["kitchen"], "max_price": 5000,
                        "price_includes_tax": true, "fields": ["name", "price_with_tax_jpy"],
                    }),
                )
                .shows("4620.0"),
            Task::new("Which electronics are sold out?")
                .call(
                    "search_products",
                    json!({
                        "keywords": [], "category": ["electronics"], "include_sold_out": true,
                        "fields": ["name", "inventory_count"],
                    }),
                )
                .shows("\"inventory_count\":0"),
            Task::new("Compare products 20 and 22 for me.")
                .call("get_product", json!({ "product_ids": [20, 22] }))
                .shows("Yamaoto Rain Jacket M"),
            Task::new("Two calendars, please. What is the total?")
                .call("search_products", search("calendar 2025"))
                .call("build_cart_mandates", cart(json!("$1/products/0/id"), 2))
                .shows("Total 4906 yen"),
            Task::new("ぬいぐるみを16個ください。")
                .call("search_products", search("ぬいぐるみ"))
                .call("build_cart_mandates", cart(json!("$1/products/0/id"), 16))
                .refused("INSUFFICIENT_STOCK")
                .call("build_cart_mandates", cart(json!("$1/products/0/id"), 15))
                .shows("57750.0"),
            Task::new("The desk lamp with my coupon WELCOME10, please.")
                .call("search_products", search("desk lamp"))
                .call("build_cart_mandates", with_coupon)
                .refused("NOT_OFFERED")
                .call("build_cart_mandates", cart(json!(14), 1))
                .shows("6028.0"),
            Task::new("Make it three calendars instead of two.")
                .given("build_cart_mandates", cart(json!(1), 2))
                .call(
                    "update_cart",
                    json!({ "cart_id": CART, "items": [{ "product_id": 1, "quantity": 3 }] }),
                )
                .shows("The cart is changed."),
            Task::new("Keep them for me, and send them to 山田太郎 in 渋谷区.")
                .given("build_cart_mandates", cart(json!(1), 2))
                .call(
                    "update_cart",
                    json!({ "cart_id": CART, "reserve": true, "shipping_address": sent_to }),
                )
                .shows("\"reserved\":true"),
            Task::new("やっぱりやめます。取り消してください。")
                .given("build_cart_mandates", reserved)
                .call("cancel_cart", json!({ "cart_id": CART }))
                .shows("\"status\":\"cancelled\""),
            Task::new("Can I still have ten of product 5 and one of product 3?")
                .call("check_inventory", json!({ "product_ids": [5, 3] }))
                .shows("\"3\":0"),
        ],
    }
}
