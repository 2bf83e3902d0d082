//! Warnings where an agent's prices differ from the shop's.

use std::collections::HashMap;

use kit::Warning;
use serde_json::{Value, json};

use super::{
    cart::CartLine,
    decimal::{Decimal, InvalidNumber},
    money::Yen,
    plan::{echo, product_id},
};

/// The price in `passed` is not the price in the cart.
fn price_changed(product_id: i64, passed: Value, current: Yen) -> Warning {
    let message = match &passed {
        Value::Null => format!("Product {product_id} costs {current} yen."),
        passed => format!("Product {product_id} costs {current} yen, not {passed}."),
    };
    Warning::new("PRICE_CHANGED", message)
        .detail("product_id", product_id)
        .detail("passed", passed)
        .detail("current", json!(current))
}

/// Warns where a product in both carts has another price in the new one.
pub fn price_changes(old: &[CartLine], new: &[CartLine]) -> Vec<Warning> {
    let price = |line: &CartLine| {
        let same = |other: &&CartLine| other.product_id == line.product_id;
        let before = old.iter().find(same)?.unit_price;
        (before != line.unit_price)
            .then(|| price_changed(line.product_id, json!(before), line.unit_price))
    };
    new.iter().filter_map(price).collect()
}

/// Compares the `products` that an agent passed with the lines of its cart. Their
/// prices (`price_jpy` and `price_cents`) are never used, but the customer should
/// know that they differ.
pub fn price_warnings(products: &[Value], lines: &[CartLine]) -> Vec<Warning> {
    let mut lines: HashMap<i64, &CartLine> =
        lines.iter().map(|line| (line.product_id, line)).collect();
    let mut warnings = Vec::new();
    for product in products {
        let id = product_id(&product["id"]).or_else(|| product_id(&product["product_id"]));
        let Some(id) = id else {
            continue;
        };
        let Some(current) = lines.get(&id).map(|line| line.unit_price) else {
            continue;
        };
        if let Some(passed) = other_price(product, current) {
            warnings.push(price_changed(id, passed, current));
            lines.remove(&id);
        }
    }
    warnings
}

/// The price in `product`, in yen, if there is one and it differs from `current`.
/// Text that is not a number does not count as a price.
fn other_price(product: &Value, current: Yen) -> Option<Value> {
    let is_other = |passed: &Value, current: i64| match Decimal::from_json(passed) {
        Ok(passed) => passed != Decimal::from(current),
        Err(invalid) => invalid != InvalidNumber::NotANumber,
    };
    let (yen, cents) = (&product["price_jpy"], &product["price_cents"]);
    if is_other(yen, current.get()) {
        return Some(echo(yen));
    }
    is_other(cents, current.cents()).then(|| match Yen::from_json_cents(cents) {
        Ok(yen) => json!(yen),
        Err(_) => Value::Null,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing::article;

    #[test]
    fn passed_prices_only_warn() {
        let lines = [CartLine::new(&article(1, 1980), 1).unwrap()];
        let warned = |product: Value| {
            let mut warnings = json!(price_warnings(&[product], &lines));
            for warning in warnings.as_array_mut().unwrap() {
                let message = warning["message"].take();
                assert!(
                    message
                        .as_str()
                        .unwrap()
                        .starts_with("Product 1 costs 1980 yen")
                );
                warning.as_object_mut().unwrap().remove("message");
            }
            warnings
        };
        for same in [
            json!({ "id": 1, "price_jpy": 1980.0, "price_cents": 198_000 }),
            json!({ "id": "1", "price_jpy": "1980" }),
            json!({ "id": 1, "price_cents": 198_000 }),
            json!({ "id": 1, "name": "other" }),
            json!({ "id": 1, "price_jpy": "cheap" }),
            json!({ "id": 2, "price_jpy": 1 }),
            json!("1"),
        ] {
            assert_eq!(warned(same.clone()), json!([]), "{same}");
        }
        let warning = |passed: Value| json!([{ "code": "PRICE_CHANGED", "product_id": 1, "passed": passed, "current": 1980.0 }]);
        let yen = |price: Value| warned(json!({ "id": 1, "price_jpy": price }));
        assert_eq!(yen(json!(1800.0)), warning(json!(1800.0)));
        assert_eq!(yen(json!(1980.5)), warning(json!(1980.5)));
        assert_eq!(yen(json!("1")), warning(json!("1")));
        assert_eq!(yen(json!(-1e300)), warning(json!(-1e300)));
        let cents = |price: Value| warned(json!({ "id": 1, "price_cents": price }));
        assert_eq!(cents(json!(180_000)), warning(json!(1800.0)));
        assert_eq!(cents(json!(1)), warning(json!(null)));
        let torn = json!({ "id": 1, "price_jpy": 1980.0, "price_cents": 180_000 });
        assert_eq!(warned(torn), warning(json!(1800.0)));
        let named = json!({ "product_id": 1, "price_jpy": 1800 });
        assert_eq!(warned(named), warning(json!(1800)));
        let twice = json!({ "id": 1, "price_jpy": 1 });
        assert_eq!(price_warnings(&[twice.clone(), twice], &lines).len(), 1);
    }
}
