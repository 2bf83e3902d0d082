//! Carts for tests.

use jiff::{SignedDuration, Timestamp};
use p256::{
    ecdsa::SigningKey,
    pkcs8::{EncodePrivateKey, LineEnding},
};
use serde_json::json;

use super::{
    address::Address,
    cart::{Article, Cart, CartLine, Merchant, PaymentMethod},
    money::Yen,
    signing::{DEFAULT_AUDIENCE, Signer, default_key_id},
    terms::Terms,
};

const MERCHANT_ID: &str = "did:ap2:merchant:mugibo_merchant";

/// With a fixed key.
pub fn signer() -> Signer {
    let key = SigningKey::from_slice(&[7; 32]).unwrap();
    let pem = key.to_pkcs8_pem(LineEnding::LF).unwrap();
    Signer::from_pem(&pem, default_key_id(MERCHANT_ID), DEFAULT_AUDIENCE.into()).unwrap()
}

pub fn article(id: i64, price: i64) -> Article {
    Article {
        id,
        sku: format!("SKU-{id}"),
        name: format!("商品{id}"),
        price: Yen::new(price).unwrap(),
        available: i64::MAX,
        refund_days: 30,
    }
}

pub fn cart_of(terms: &Terms, goods: &[(Article, i64)], with_address: bool) -> Cart {
    let lines: Vec<CartLine> = goods
        .iter()
        .map(|(article, quantity)| CartLine::new(article, *quantity).unwrap())
        .collect();
    let quote = terms.quote(&lines).unwrap();
    let address = json!({
        "recipient": "山田太郎",
        "addressLine": ["東京都渋谷区1-2-3"],
        "city": "渋谷区",
        "country": "JP",
        "postalCode": "150-0001",
    });
    let merchant = Merchant {
        id: MERCHANT_ID.into(),
        name: "Demo Merchant".into(),
        payment_methods: vec![PaymentMethod::card()],
    };
    let address = Address::parse(&address).unwrap().filter(|_| with_address);
    let now: Timestamp = "2025-10-23T12:00:00Z".parse().unwrap();
    let lifetime = SignedDuration::from_mins(30);
    Cart::new(merchant, lines, quote, address, now, lifetime)
}

/// Two calendars and a mug: enough for free shipping.
pub fn cart() -> Cart {
    let calendar = Article {
        sku: "MUGIBO-CAL-2025".into(),
        name: "むぎぼーカレンダー2025".into(),
        ..article(1, 1980)
    };
    let mug = Article {
        sku: "MUGIBO-MUG".into(),
        name: "むぎぼーマグカップ".into(),
        refund_days: 14,
        ..article(5, 3500)
    };
    let mut cart = cart_of(&Terms::default(), &[(calendar, 2), (mug, 1)], true);
    cart.id = "cart_abc123".into();
    cart
}
