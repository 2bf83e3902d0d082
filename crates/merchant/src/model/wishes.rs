//! What agents write into a cart plan beside products and quantities. A wish that the
//! shop can't fulfil is refused, and other fields that it does not know are named in
//! a warning, so that nobody takes them for granted.

use kit::{Error, Result, Warning};
use serde_json::Value;

use super::{address::snake_case, errors};

/// Parts of field names, and what they ask for.
#[rustfmt::skip]
const UNSUPPORTED: &[(&[&str], &str)] = &[
    (&["coupon", "promo", "voucher", "discount", "クーポン", "割引"], "coupons or discounts"),
    (&["wrap", "wrapping", "gift_message", "ラッピング", "のし"], "gift wrapping or gift messages"),
    (
        &[
            "delivery_date", "delivery_time", "deliver_on", "arrive", "配達日", "配達時間",
            "配達希望", "お届け日", "お届け時間", "お届け希望",
        ],
        "a choice of the delivery date or time",
    ),
    (&["shipping_method", "delivery_method", "express"], "a choice of the delivery service"),
    (&["points", "ポイント"], "points"),
    (&["payment", "card_number", "credit_card", "支払"], "payment; the customer pays elsewhere"),
    (
        &["variant", "サイズ", "カラー"],
        VARIANTS,
    ),
];

const VARIANTS: &str = "variants; each size or colour is a product with an id of its own";

/// Names that ask for a variant, alone or after a word for the goods: `size`, `shoe_size`.
/// A `party_size` or `background_color` is something else.
const VARIANT_WORDS: &[&str] = &["size", "color", "colour"];
#[rustfmt::skip]
const GOODS_WORDS: &[&str] = &[
    "item", "product", "shoe", "shoes", "shirt", "clothing", "clothes", "ring", "selected",
    "chosen", "preferred", "wanted",
];

/// Words in the names of fields that only describe a plan or an item, as planners write
/// them.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "items", "product", "quantity", "id", "sku", "name", "title", "label", "description", "reason",
    "rationale", "explanation", "summary", "comment", "price", "total", "subtotal", "amount", "tax",
    "fee", "currency", "jpy", "category", "brand", "image", "inventory", "stock", "refund", "score",
    "rank", "tags", "theme", "type", "budget", "created",
];

/// How many unknown fields the warnings name.
const MOST_WARNINGS: usize = 5;

/// Refuses wishes in a plan and its items, and warns of other unknown fields.
pub fn check(plan: &Value) -> Result<Vec<Warning>> {
    let mut unknown = fields_of(plan, "cart_plan")?;
    let items = plan.get("items").and_then(Value::as_array);
    for item in items.into_iter().flatten() {
        unknown.extend(fields_of(item, "cart_plan.items[]")?);
    }
    Ok(warnings(unknown))
}

/// The same for a list of items.
pub fn check_items(items: &[Value]) -> Result<Vec<Warning>> {
    let mut unknown = Vec::new();
    for item in items {
        unknown.extend(fields_of(item, "items[]")?);
    }
    Ok(warnings(unknown))
}

/// Refuses wishes in an address. It warns of unknown fields itself.
pub fn check_address(address: &Value) -> Result<()> {
    fields_of(address, "shipping_address").map(drop)
}

/// The refusal of an argument whose name asks for something that the shop does not
/// offer.
pub fn refusal(argument: &str) -> Option<Error> {
    let wish = wish(argument)?;
    Some(errors::not_offered(kit::text::cut(argument, 60).0, wish))
}

/// Whether an argument names a wish but leaves it open, such as `"discount": 0`.
pub fn is_open_wish(argument: &str, value: &Value) -> bool {
    asks_for_nothing(value) && wish(argument).is_some()
}

fn wish(name: &str) -> Option<&'static str> {
    // Latin words count whole: `discounted_price` and `expression` are no wishes.
    let spellings = [name.to_lowercase(), snake_case(name)].map(|name| format!("_{name}_"));
    let is_asked = |part: &&str| match part.is_ascii() {
        true => [format!("_{part}_"), format!("_{part}s_")]
            .iter()
            .any(|word| spellings.iter().any(|name| name.contains(word))),
        false => name.contains(part),
    };
    let mut wishes = UNSUPPORTED.iter();
    wishes
        .find(|(parts, _)| parts.iter().any(is_asked))
        .map(|(_, wish)| *wish)
        .or_else(|| is_variant(&snake_case(name)).then_some(VARIANTS))
}

fn is_variant(name: &str) -> bool {
    let mut words = name.split('_').filter(|word| !word.is_empty());
    let is_asked = |last: &str| VARIANT_WORDS.contains(&last.strip_suffix('s').unwrap_or(last));
    words.next_back().is_some_and(is_asked) && words.all(|word| GOODS_WORDS.contains(&word))
}

/// The unknown fields of an object; an error if one is a wish.
fn fields_of(object: &Value, place: &str) -> Result<Vec<String>> {
    let mut unknown = Vec::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        if asks_for_nothing(value) {
            continue;
        }
        let field = format!("{place}.{}", kit::text::cut(name, 60).0);
        if let Some(wish) = wish(name) {
            return Err(errors::not_offered(&field, wish));
        }
        let name = snake_case(name);
        if !name.split('_').any(|word| HARMLESS.contains(&word)) {
            unknown.push(field);
        }
    }
    Ok(unknown)
}

/// A planner may write `"discount": 0` for no discount.
fn asks_for_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) => false,
    }
}

fn warnings(mut unknown: Vec<String>) -> Vec<Warning> {
    unknown.sort_unstable();
    unknown.dedup();
    let warning = |field: String| {
        let message = format!("`{field}` is unknown and was ignored.");
        Warning::new("UNKNOWN_ARGUMENT", message).detail("field", field)
    };
    unknown
        .into_iter()
        .take(MOST_WARNINGS)
        .map(warning)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wishes_are_refused_and_notes_are_not() {
        for wish in [
            json!({ "coupon_code": "SALE10" }),
            json!({ "discountCode": "SALE10" }),
            json!({ "クーポン": "SALE10" }),
            json!({ "items": [{ "product_id": 1, "gift_wrap": true }] }),
            json!({ "items": [{ "product_id": 1, "size": "L" }] }),
            json!({ "deliveryDate": "2026-12-24" }),
            json!({ "COUPON": "SALE10" }),
            json!({ "use_points": 100 }),
            json!({ "items": [{ "product_id": 1, "shoeSize": 26 }] }),
            json!({ "お届け希望日": "12/24" }),
        ] {
            assert_eq!(check(&wish).unwrap_err().code, "NOT_OFFERED", "{wish}");
        }
        for note in [
            json!({ "name": "おすすめ", "total_price": 1, "discount": 0, "gift_wrap": false, "planId": 1 }),
            json!({ "items": [{ "product_id": 1, "quantity": 1, "unit_price_jpy": 1, "reason": "x" }] }),
            json!({ "discounted_price": 1 }),
        ] {
            assert_eq!(check(&note).unwrap(), [], "{note}");
        }
        for other in [
            "party_size",
            "background_color",
            "お届け先",
            "sizes_of_families",
        ] {
            assert_eq!(check(&json!({ other: 4 })).unwrap().len(), 1, "{other}");
            assert!(refusal(other).is_none(), "{other}");
        }
        let odd = json!({ "items": [{ "engraving": "A" }, { "engraving": "B" }], "mood": "calm" });
        let warned = check(&odd).unwrap();
        assert_eq!(warned.len(), 2);
        assert_eq!(
            json!(warned)[0],
            json!({
                "code": "UNKNOWN_ARGUMENT",
                "message": "`cart_plan.items[].engraving` is unknown and was ignored.",
                "field": "cart_plan.items[].engraving",
            })
        );
    }
}
