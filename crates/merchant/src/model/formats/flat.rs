//! The format of the counter's document: items and total in the contents, the goods in
//! detail beside them, refund periods in seconds.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::model::{
    cart::{Cart, Item},
    money::Yen,
};

const SECONDS_A_DAY: u64 = 24 * 60 * 60;

#[derive(Serialize)]
struct Contents<'a> {
    id: &'a str,
    merchant_id: &'a str,
    display_items: Vec<DisplayItem<'a>>,
    total: Amount,
    metadata: Metadata<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shipping_address: Option<&'a Map<String, Value>>,
}

#[derive(Serialize)]
struct DisplayItem<'a> {
    label: &'a str,
    amount: Amount,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pending: bool,
    refund_period: u64,
}

#[derive(Serialize)]
struct Amount {
    value: Yen,
    currency: &'static str,
}

#[derive(Serialize)]
struct Metadata<'a> {
    raw_items: Vec<RawItem<'a>>,
    shipping_fee: Yen,
    tax: Yen,
    subtotal: Yen,
}

#[derive(Serialize)]
struct RawItem<'a> {
    product_id: i64,
    sku: &'a str,
    name: &'a str,
    quantity: i64,
    unit_price_jpy: Yen,
    total_price_jpy: Yen,
}

pub fn contents(cart: &Cart) -> Value {
    json!(Contents {
        id: &cart.id,
        merchant_id: &cart.merchant.id,
        display_items: cart.items().into_iter().map(display_item).collect(),
        total: yen(cart.quote.total),
        metadata: Metadata {
            raw_items: raw_items(cart),
            shipping_fee: cart.quote.shipping,
            tax: cart.quote.tax,
            subtotal: cart.quote.subtotal,
        },
        shipping_address: cart.address.as_ref().map(|address| address.given()),
    })
}

pub fn mandate(cart: &Cart, contents: Value, authorization: Option<String>) -> Value {
    let mut mandate = Map::new();
    mandate.insert("type".into(), "CartMandate".into());
    mandate.insert("contents".into(), contents);
    // Shop agents older than `contents.metadata` read the goods from here.
    let goods = json!({ "raw_items": raw_items(cart) });
    mandate.insert("_metadata".into(), goods);
    if let Some(authorization) = authorization {
        mandate.insert("merchant_authorization".into(), authorization.into());
    }
    mandate.insert("created_at".into(), cart.created.to_string().into());
    mandate.into()
}

fn display_item(item: Item<'_>) -> DisplayItem<'_> {
    DisplayItem {
        label: item.label,
        amount: yen(item.amount),
        pending: item.pending,
        refund_period: u64::from(item.refund_days) * SECONDS_A_DAY,
    }
}

fn raw_items(cart: &Cart) -> Vec<RawItem<'_>> {
    cart.lines
        .iter()
        .map(|line| RawItem {
            product_id: line.product_id,
            sku: &line.sku,
            name: &line.name,
            quantity: line.quantity,
            unit_price_jpy: line.unit_price,
            total_price_jpy: line.total,
        })
        .collect()
}

fn yen(value: Yen) -> Amount {
    Amount {
        value,
        currency: "JPY",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        formats::Format,
        terms::Terms,
        testing::{article, cart, cart_of},
    };

    fn rendered(cart: &Cart) -> Value {
        cart.mandate(Format::Flat, None, cart.created).unwrap()
    }

    /// As text: a whole amount must still look like `3960.0`.
    #[test]
    fn the_shape_to_the_letter() {
        assert_eq!(
            serde_json::to_string_pretty(&rendered(&cart())).unwrap(),
            r#"{
  "type": "CartMandate",
  "contents": {
    "id": "cart_abc123",
    "merchant_id": "did:ap2:merchant:mugibo_merchant",
    "display_items": [
      {
        "label": "むぎぼーカレンダー2025",
        "amount": {
          "value": 3960.0,
          "currency": "JPY"
        },
        "refund_period": 2592000
      },
      {
        "label": "むぎぼーマグカップ",
        "amount": {
          "value": 3500.0,
          "currency": "JPY"
        },
        "refund_period": 1209600
      },
      {
        "label": "消費税",
        "amount": {
          "value": 746.0,
          "currency": "JPY"
        },
        "refund_period": 0
      }
    ],
    "total": {
      "value": 8206.0,
      "currency": "JPY"
    },
    "metadata": {
      "raw_items": [
        {
          "product_id": 1,
          "sku": "MUGIBO-CAL-2025",
          "name": "むぎぼーカレンダー2025",
          "quantity": 2,
          "unit_price_jpy": 1980.0,
          "total_price_jpy": 3960.0
        },
        {
          "product_id": 5,
          "sku": "MUGIBO-MUG",
          "name": "むぎぼーマグカップ",
          "quantity": 1,
          "unit_price_jpy": 3500.0,
          "total_price_jpy": 3500.0
        }
      ],
      "shipping_fee": 0.0,
      "tax": 746.0,
      "subtotal": 7460.0
    },
    "shipping_address": {
      "recipient": "山田太郎",
      "addressLine": [
        "東京都渋谷区1-2-3"
      ],
      "city": "渋谷区",
      "country": "JP",
      "postalCode": "150-0001"
    }
  },
  "_metadata": {
    "raw_items": [
      {
        "product_id": 1,
        "sku": "MUGIBO-CAL-2025",
        "name": "むぎぼーカレンダー2025",
        "quantity": 2,
        "unit_price_jpy": 1980.0,
        "total_price_jpy": 3960.0
      },
      {
        "product_id": 5,
        "sku": "MUGIBO-MUG",
        "name": "むぎぼーマグカップ",
        "quantity": 1,
        "unit_price_jpy": 3500.0,
        "total_price_jpy": 3500.0
      }
    ]
  },
  "created_at": "2025-10-23T12:00:00Z"
}"#
        );
    }

    #[test]
    fn shipping_is_an_item_when_it_is_charged() {
        let small = cart_of(&Terms::default(), &[(article(1, 1980), 1)], true);
        let contents = &rendered(&small)["contents"];
        assert_eq!(
            contents["display_items"][1],
            json!({
                "label": "送料",
                "amount": { "value": 500.0, "currency": "JPY" },
                "refund_period": 0,
            })
        );
        assert_eq!(contents["display_items"][2]["amount"]["value"], 248.0);
        assert_eq!(contents["total"]["value"], 2728.0);
        assert_eq!(contents["metadata"]["shipping_fee"], 500.0);
    }

    #[test]
    fn without_an_address_shipping_is_not_final() {
        for (price, fee) in [(1980, 500.0), (5000, 0.0)] {
            let open = cart_of(&Terms::default(), &[(article(1, price), 1)], false);
            let contents = &rendered(&open)["contents"];
            let shipping = &contents["display_items"][1];
            assert_eq!(shipping["pending"], true);
            assert_eq!(shipping["amount"]["value"], fee);
            assert_eq!(contents.get("shipping_address"), None);
        }
    }
}
