//! Cart mandates as other programs read them: with the published types of the
//! protocol, and with other libraries for canonical JSON and signatures. The checks
//! are in `clients/mandates.py`.

use jiff::{SignedDuration, Timestamp};
use merchant::model::{
    address::Address,
    cart::{Article, Cart, Merchant, PaymentMethod},
    formats::Format,
    money::Yen,
    plan::CartPlan,
    signing::{DEFAULT_AUDIENCE, Signer, default_key_id},
    terms::Terms,
};
use serde_json::{Value, json};

use crate::harness::{Place, clients};

const SCRIPT: &str = "mandates.py";
const MERCHANT_ID: &str = "did:ap2:merchant:mugibo_merchant";

/// `quantity` calendars and, if more than one, a mug: a single calendar does not ship
/// free.
fn cart(quantity: i64, with_address: bool) -> Cart {
    let article = |id, name: &str, price, refund_days| Article {
        id,
        sku: format!("SKU-{id}"),
        name: name.into(),
        price: Yen::new(price).unwrap(),
        available: 50,
        refund_days,
    };
    let mut items = vec![json!({ "product_id": 1, "quantity": quantity })];
    if quantity > 1 {
        items.push(json!({ "product_id": "5", "quantity": 1 }));
    }
    let lines = CartPlan::parse(&json!({ "items": items }))
        .and_then(|plan| {
            plan.lines(&[
                article(1, "むぎぼー\u{20ac}カレンダー\"2025\" 😀", 1980, 30),
                article(5, "Mug\n2", 3500, 0),
            ])
        })
        .unwrap();
    let address = with_address.then(|| {
        json!({
            "recipient": "山田太郎",
            "addressLine": ["東京都渋谷区1-2-3", "窓口ビル"],
            "city": "渋谷区",
            "country": "JP",
            "postalCode": "150-0001",
            "note": { "floor": 3.5 },
        })
    });
    Cart::new(
        Merchant {
            id: MERCHANT_ID.into(),
            name: "Demo Merchant".into(),
            payment_methods: vec![PaymentMethod::card()],
        },
        lines.clone(),
        Terms::default().quote(&lines).unwrap(),
        Address::parse(&json!(address)).unwrap(),
        Timestamp::now(),
        SignedDuration::from_mins(30),
    )
}

async fn signer(place: &Place) -> Signer {
    let pem = clients::python(place, SCRIPT, &["new-key"]).await.ok();
    Signer::from_pem(
        &pem.stdout,
        default_key_id(MERCHANT_ID),
        DEFAULT_AUDIENCE.into(),
    )
    .unwrap()
}

/// A mandate with everything needed to check it.
fn mandate(cart: &Cart, format: Format, signer: Option<&Signer>) -> Value {
    json!({
        "mandate": cart.mandate(format, signer, Timestamp::now()).unwrap(),
        "format": format,
        "public_key": signer.map(|signer| signer.public_pem().unwrap()),
        "audience": signer.map(|_| DEFAULT_AUDIENCE),
    })
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn other_libraries_accept_every_mandate() {
    let place = Place::new();
    let signer = signer(&place).await;
    let mut mandates = Vec::new();
    for format in Format::ALL {
        for (quantity, with_address) in [(1, true), (1, false), (2, true), (2, false)] {
            let cart = cart(quantity, with_address);
            mandates.push(mandate(&cart, format, None));
            let mut signed = mandate(&cart, format, Some(&signer));
            mandates.push(signed.clone());
            signed["public_key"] = signer.public_jwk();
            mandates.push(signed);
        }
    }
    let checked = clients::python_reading(&place, SCRIPT, json!(mandates).to_string()).await;
    checked.ok();
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_tampered_mandate_is_detected() {
    let place = Place::new();
    let signer = signer(&place).await;
    let cart = cart(2, true);
    let signed = mandate(&cart, Format::Ap2, Some(&signer));
    let details = "/mandate/contents/payment_request/details";
    for (at, value, complaint) in [
        (
            "/mandate/contents/merchant_name".into(),
            json!("Other"),
            "AssertionError",
        ),
        (
            format!("{details}/total/amount/value"),
            json!(1.0),
            "AssertionError",
        ),
        (
            format!("{details}/display_items"),
            json!(7),
            "ValidationError",
        ),
        (
            "/audience".into(),
            json!("did:other"),
            "InvalidAudienceError",
        ),
    ] {
        let mut changed = signed.clone();
        *changed.pointer_mut(&at).unwrap() = value;
        let input = json!([changed]).to_string();
        let output = clients::python_reading(&place, SCRIPT, input).await;
        assert!(output.failed().contains(complaint), "{at}");
    }
}
