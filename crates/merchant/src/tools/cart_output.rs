//! What the tools for carts answer.

use kit::{Context, Error, Language, Result, Warning};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    model::{cart::Cart, errors, formats::Format, limits::MAX_MANDATE_BYTES},
    state::CounterState,
};

#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// contents.id is the cart_id
    cart_mandate: Map<String, Value>,
    /// The cart and its reservation end then
    expires_at: String,
    reserved: bool,
    message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

impl Output {
    /// An error if the mandate is larger than clients take. `said`: what was done to the
    /// cart, before its amounts.
    pub fn new(
        state: &CounterState,
        context: &Context,
        cart: &Cart,
        (format, is_reserved): (Format, bool),
        said: &str,
        warnings: Vec<Warning>,
    ) -> Result<Self> {
        let now = context.clock.now();
        let Value::Object(cart_mandate) = cart.mandate(format, state.signer.as_ref(), now)? else {
            return Err(Error::internal("a mandate is not an object"));
        };
        let written = serde_json::to_string(&cart_mandate).map_err(Error::internal)?;
        if written.len() > MAX_MANDATE_BYTES {
            return Err(errors::cart_too_large(cart.lines.len(), written.len()));
        }
        Ok(Self {
            cart_mandate,
            expires_at: cart.expires.to_string(),
            reserved: is_reserved,
            message: said.to_owned() + &summary(state, context.language, cart, is_reserved),
            warnings,
        })
    }
}

/// The amounts, when shipping is free, and until when the cart is kept.
fn summary(state: &CounterState, language: Language, cart: &Cart, is_reserved: bool) -> String {
    let (quote, free_from) = (&cart.quote, state.terms.free_shipping_threshold);
    let (total, subtotal, shipping, tax) = (quote.total, quote.subtotal, quote.shipping, quote.tax);
    let expires = cart.expires.to_zoned(state.zone.clone());
    let until = expires.strftime("%Y-%m-%d %H:%M");
    let zone = state.zone.iana_name().unwrap_or("UTC");
    match language {
        Language::English => {
            let held = match is_reserved {
                true => "The goods are kept",
                false => "Nothing is reserved; the cart is valid",
            };
            format!(
                "Total {total} yen: goods {subtotal}, shipping {shipping} (free from {free_from}), \
                 tax {tax}. {held} until {until} ({zone})."
            )
        }
        Language::Japanese => {
            let held = match is_reserved {
                true => "商品は",
                false => "取り置きはしていません。カートは",
            };
            format!(
                "合計{total}円（商品{subtotal}円、送料{shipping}円（{free_from}円以上で無料）、\
                 消費税{tax}円）。{held}{until}（{zone}）まで有効です。"
            )
        }
    }
}
