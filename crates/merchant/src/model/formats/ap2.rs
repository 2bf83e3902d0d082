//! The cart mandate of the Agent Payments Protocol, version 0.1: refund periods
//! in days, addresses in snake case. Every field that has a value is written, so that
//! a reader's defaults cannot change what was signed; none is `null`.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::model::{
    address::ContactAddress,
    cart::{Cart, Item, PaymentMethod},
    money::Yen,
};

const TOTAL: &str = "合計";

#[derive(Serialize)]
struct CartContents<'a> {
    id: &'a str,
    user_cart_confirmation_required: bool,
    payment_request: PaymentRequest<'a>,
    cart_expiry: String,
    merchant_name: &'a str,
}

#[derive(Serialize)]
struct PaymentRequest<'a> {
    method_data: &'a [PaymentMethod],
    details: PaymentDetails<'a>,
    options: PaymentOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    shipping_address: Option<&'a ContactAddress>,
}

#[derive(Serialize)]
struct PaymentDetails<'a> {
    id: &'a str,
    display_items: Vec<PaymentItem<'a>>,
    total: PaymentItem<'a>,
}

#[derive(Serialize)]
struct PaymentItem<'a> {
    label: Cow<'a, str>,
    amount: Amount,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pending: bool,
    refund_period: u32,
}

#[derive(Serialize)]
struct Amount {
    currency: &'static str,
    value: Yen,
}

#[derive(Serialize)]
struct PaymentOptions {
    request_payer_name: bool,
    request_payer_email: bool,
    request_payer_phone: bool,
    request_shipping: bool,
    shipping_type: &'static str,
}

pub fn contents(cart: &Cart) -> Value {
    json!(CartContents {
        id: &cart.id,
        // The counter has seen no intent signed by the user.
        user_cart_confirmation_required: true,
        payment_request: PaymentRequest {
            method_data: &cart.merchant.payment_methods,
            details: PaymentDetails {
                id: &cart.id,
                display_items: cart.items().into_iter().map(payment_item).collect(),
                total: total(cart),
            },
            options: PaymentOptions {
                request_payer_name: false,
                request_payer_email: false,
                request_payer_phone: false,
                request_shipping: cart.address.is_none(),
                shipping_type: "shipping",
            },
            shipping_address: cart.address.as_ref().map(|address| address.fields()),
        },
        cart_expiry: cart.expires.to_string(),
        merchant_name: &cart.merchant.name,
    })
}

pub fn mandate(contents: Value, authorization: Option<String>) -> Value {
    let mut mandate = Map::new();
    mandate.insert("contents".into(), contents);
    if let Some(authorization) = authorization {
        mandate.insert("merchant_authorization".into(), authorization.into());
    }
    mandate.into()
}

fn payment_item(item: Item<'_>) -> PaymentItem<'_> {
    PaymentItem {
        // There is no field for the quantity, and the user should see it.
        label: match item.quantity {
            1 => item.label.into(),
            quantity => format!("{} × {quantity}", item.label).into(),
        },
        amount: yen(item.amount),
        pending: item.pending,
        refund_period: item.refund_days,
    }
}

/// The whole cart can be returned as long as each of its goods can.
fn total(cart: &Cart) -> PaymentItem<'_> {
    PaymentItem {
        label: TOTAL.into(),
        amount: yen(cart.quote.total),
        pending: false,
        refund_period: cart
            .lines
            .iter()
            .map(|line| line.refund_days)
            .min()
            .unwrap_or(0),
    }
}

fn yen(value: Yen) -> Amount {
    Amount {
        currency: "JPY",
        value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{formats::Format, testing::cart};

    #[test]
    fn the_published_shape() {
        let mandate = cart().mandate(Format::Ap2, None, cart().created).unwrap();
        let item = |label: &str, value: f64, days: u32| {
            json!({
                "label": label,
                "amount": { "currency": "JPY", "value": value },
                "refund_period": days,
            })
        };
        assert_eq!(
            mandate,
            json!({
                "contents": {
                    "id": "cart_abc123",
                    "user_cart_confirmation_required": true,
                    "payment_request": {
                        "method_data": [{ "supported_methods": "CARD", "data": {} }],
                        "details": {
                            "id": "cart_abc123",
                            "display_items": [
                                item("むぎぼーカレンダー2025 × 2", 3960.0, 30),
                                item("むぎぼーマグカップ", 3500.0, 14),
                                item("消費税", 746.0, 0),
                            ],
                            "total": item("合計", 8206.0, 14),
                        },
                        "options": {
                            "request_payer_name": false,
                            "request_payer_email": false,
                            "request_payer_phone": false,
                            "request_shipping": false,
                            "shipping_type": "shipping",
                        },
                        "shipping_address": {
                            "city": "渋谷区",
                            "country": "JP",
                            "postal_code": "150-0001",
                            "recipient": "山田太郎",
                            "address_line": ["東京都渋谷区1-2-3"],
                        },
                    },
                    "cart_expiry": "2025-10-23T12:30:00Z",
                    "merchant_name": "Demo Merchant",
                },
            })
        );
    }

    #[test]
    fn without_an_address_shipping_is_asked_for_and_not_final() {
        let mut cart = cart();
        cart.address = None;
        let mandate = cart.mandate(Format::Ap2, None, cart.created).unwrap();
        let request = &mandate["contents"]["payment_request"];
        assert_eq!(request.get("shipping_address"), None);
        assert_eq!(request["options"]["request_shipping"], true);
        assert_eq!(
            request["details"]["display_items"][2],
            json!({
                "label": "送料",
                "amount": { "currency": "JPY", "value": 0.0 },
                "pending": true,
                "refund_period": 0,
            })
        );
    }
}
