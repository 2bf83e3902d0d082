//! A cart written down as a mandate.

use jiff::Timestamp;
use kit::Result;
use serde_json::Value;

use super::{
    cart::Cart,
    formats::{Format, ap2, flat},
    signing::Signer,
};

impl Cart {
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
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

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
            assert_eq!(format.name(), name);
        }
        assert_eq!(Format::default(), Format::Flat);
    }
}
