//! A cart with its price, ready to be written down as a mandate.

use jiff::{SignedDuration, Timestamp};
use kit::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    address::Address,
    cart::Line,
    formats::{Format, ap2, flat},
    money::Yen,
    signing::Signer,
    terms::Quote,
};

const SHIPPING: &str = "送料";
const TAX: &str = "消費税";

/// Who sells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Merchant {
    /// A DID, such as `did:ap2:merchant:mugibo_merchant`.
    pub id: String,
    pub name: String,
    /// How one can pay; only `ap2-0.1` says so.
    pub payment_methods: Vec<PaymentMethod>,
}

/// A payment method in the words of the W3C's Payment Request.
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

/// Can be kept as JSON and written down in any format later; every format says
/// the same about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cart {
    /// `cart_` and 130 random bits: whoever knows it may see the cart.
    pub id: String,
    pub merchant: Merchant,
    pub lines: Vec<Line>,
    pub quote: Quote,
    pub address: Option<Address>,
    pub created: Timestamp,
    pub expires: Timestamp,
}

impl Cart {
    /// `lines` and `quote` belong together: see [`Quote`].
    pub fn new(
        merchant: Merchant,
        lines: Vec<Line>,
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

    /// The cart in `format`. With a signer the mandate has a
    /// `merchant_authorization` over its `contents`, fresh every time: it is
    /// valid for a quarter of an hour from `now`, and never longer than the cart.
    pub fn mandate(
        &self,
        format: Format,
        signer: Option<&Signer>,
        now: Timestamp,
    ) -> Result<Value> {
        let contents = match format {
            Format::Flat => flat::contents(self),
            Format::Ap2 => ap2::contents(self),
        };
        let authorization = signer
            .map(|signer| signer.authorize(self, &contents, now))
            .transpose()?;
        Ok(match format {
            Format::Flat => flat::mandate(self, contents, authorization),
            Format::Ap2 => ap2::mandate(contents, authorization),
        })
    }

    /// What the customer is charged for, one by one; the amounts sum to the
    /// total. Shipping is there when it is charged, and also when nobody knows
    /// yet where to: then it is not final.
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

/// Mandates name no fractions of a second.
fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing::cart;

    #[test]
    fn a_kept_cart_reads_the_same() {
        let cart = cart();
        let kept = serde_json::to_string(&cart).unwrap();
        let again: Cart = serde_json::from_str(&kept).unwrap();
        assert_eq!(again, cart);
        for format in Format::ALL {
            assert_eq!(
                again.mandate(format, None, cart.created).unwrap(),
                cart.mandate(format, None, cart.created).unwrap()
            );
        }
    }

    #[test]
    fn ids_differ_and_times_are_whole_seconds() {
        let now: Timestamp = "2025-10-23T12:00:00.987Z".parse().unwrap();
        let make = || {
            let cart = cart();
            let lifetime = SignedDuration::from_mins(30);
            Cart::new(cart.merchant, cart.lines, cart.quote, None, now, lifetime)
        };
        let (one, other) = (make(), make());
        assert_ne!(one.id, other.id);
        assert_eq!(one.id.len(), "cart_".len() + 26);
        assert_eq!(one.created.to_string(), "2025-10-23T12:00:00Z");
        assert_eq!(one.expires.to_string(), "2025-10-23T12:30:00Z");
    }

    #[test]
    fn formats_have_names() {
        for (format, name) in Format::ALL.into_iter().zip(["flat", "ap2-0.1"]) {
            assert_eq!(serde_json::to_value(format).unwrap(), name);
        }
        assert_eq!(Format::default(), Format::Flat);
    }
}
