//! A cart with its price.

use jiff::{SignedDuration, Timestamp};
use kit::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{address::Address, errors, money::Yen};

const SHIPPING: &str = "送料";
const TAX: &str = "消費税";

/// Who sells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Merchant {
    /// A DID, such as `did:ap2:merchant:mugibo_merchant`.
    pub id: String,
    pub name: String,
    /// Only `ap2-0.1` names them.
    pub payment_methods: Vec<PaymentMethod>,
}

/// A payment method of the W3C's Payment Request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentMethod {
    /// The method's name, such as `CARD`, or its address.
    pub supported_methods: String,
    /// What a payer must know about it.
    #[serde(default)]
    pub data: Map<String, Value>,
}

impl PaymentMethod {
    pub fn card() -> Self {
        Self {
            supported_methods: "CARD".into(),
            data: Map::new(),
        }
    }
}

/// A product as the shop's own records have it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Article {
    pub id: i64,
    pub sku: String,
    pub name: String,
    pub price: Yen,
    /// How many can be sold now: the stock without what is reserved.
    pub available: i64,
    pub refund_days: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CartLine {
    pub product_id: i64,
    pub sku: String,
    pub name: String,
    pub quantity: i64,
    pub unit_price: Yen,
    /// `unit_price × quantity`.
    pub total: Yen,
    pub refund_days: u32,
}

impl CartLine {
    pub fn new(article: &Article, quantity: i64) -> Result<Self> {
        Ok(Self {
            product_id: article.id,
            sku: article.sku.clone(),
            name: article.name.clone(),
            quantity,
            unit_price: article.price,
            total: article
                .price
                .checked_mul(quantity)
                .ok_or_else(errors::amount_too_large)?,
            refund_days: article.refund_days,
        })
    }
}

/// `subtotal + shipping + tax = total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quote {
    pub subtotal: Yen,
    pub shipping: Yen,
    pub tax: Yen,
    pub total: Yen,
}

/// It can be stored as JSON and written in any format later. All formats have the
/// same contents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cart {
    /// `cart_` and 130 random bits: whoever knows it may see the cart.
    pub id: String,
    pub merchant: Merchant,
    pub lines: Vec<CartLine>,
    pub quote: Quote,
    pub address: Option<Address>,
    pub created: Timestamp,
    pub expires: Timestamp,
}

impl Cart {
    /// `lines` and `quote` belong together: see [`Quote`].
    pub fn new(
        merchant: Merchant,
        lines: Vec<CartLine>,
        quote: Quote,
        address: Option<Address>,
        now: Timestamp,
        lifetime: SignedDuration,
    ) -> Self {
        let created = whole_seconds(now);
        Self {
            id: kit::ids::random("cart_", 26),
            merchant,
            lines,
            quote,
            address,
            created,
            expires: created
                .checked_add(lifetime)
                .map_or(Timestamp::MAX, whole_seconds),
        }
    }

    /// What the customer is charged for; the amounts sum to the total. Shipping is an
    /// item when it is charged, and as `pending` when there is no address yet.
    pub(super) fn items(&self) -> Vec<Item<'_>> {
        let goods = self.lines.iter().map(|line| Item {
            label: &line.name,
            quantity: line.quantity,
            amount: line.total,
            pending: false,
            refund_days: line.refund_days,
        });
        let fee = |label, amount, pending| Item {
            label,
            quantity: 1,
            amount,
            pending,
            refund_days: 0,
        };
        let pending = self.address.is_none();
        let shipping = (pending || self.quote.shipping > Yen::ZERO)
            .then(|| fee(SHIPPING, self.quote.shipping, pending));
        let tax = fee(TAX, self.quote.tax, false);
        goods.chain(shipping).chain([tax]).collect()
    }
}

pub(super) struct Item<'a> {
    pub label: &'a str,
    pub quantity: i64,
    pub amount: Yen,
    pub pending: bool,
    pub refund_days: u32,
}

/// Mandates have no fractions of a second.
fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}
