//! What all handlers share: the settings, the terms of sale, the search engines and
//! the signing key.

use std::sync::Arc;

use jiff::tz::TimeZone;
use kit::{Context, Error, Result, Store};

use crate::{
    finding::Finder,
    model::{
        signing::{self, Signer},
        terms::Terms,
    },
    settings::Settings,
};

pub struct CounterState {
    pub settings: Settings,
    pub terms: Terms,
    pub finder: Finder,
    pub signer: Option<Signer>,
    pub store: Arc<dyn Store>,
    pub zone: TimeZone,
}

impl CounterState {
    pub fn new(settings: Settings, store: &Arc<dyn Store>) -> Result<Self> {
        Ok(Self {
            terms: Terms {
                shipping_fee: settings.shipping_fee,
                free_shipping_threshold: settings.free_shipping_threshold,
                tax_rate: settings.tax_rate,
                rounding: settings.tax_rounding,
            },
            finder: Finder::new(&settings, store)?,
            signer: signer(&settings)?,
            store: Arc::clone(store),
            zone: kit::time::zone("Asia/Tokyo").unwrap_or(TimeZone::UTC),
            settings,
        })
    }

    pub fn now(&self, context: &Context) -> i64 {
        context.clock.now().as_millisecond()
    }

    /// How long a cart lives, in milliseconds.
    pub fn cart_ms(&self) -> i64 {
        i64::from(self.settings.cart_minutes.get()) * 60_000
    }
}

fn signer(settings: &Settings) -> Result<Option<Signer>> {
    let file = &settings.signing_key_file;
    if file.as_os_str().is_empty() {
        return Ok(None);
    }
    let refused = |why: String| {
        Error::new(
            "INVALID_CONFIG",
            format!("[merchant] signing_key_file: {} {why}.", file.display()),
        )
        .next(
            "Make a key with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out \
             merchant.pem",
        )
    };
    let pem = std::fs::read_to_string(file)
        .map_err(|error| refused(format!("can't be read: {error}")))?;
    let key_id = match settings.signing_key_id.as_str() {
        "" => signing::default_key_id(&settings.merchant_id),
        named => named.to_owned(),
    };
    Signer::from_pem(&pem, key_id, settings.signing_audience.clone())
        .map(Some)
        .map_err(|_| refused("is not a P-256 private key in PKCS#8 PEM".into()))
}
