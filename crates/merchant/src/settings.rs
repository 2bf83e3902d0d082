//! What an operator can set for this counter.

use std::{num::NonZeroU32, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    money::{Rounding, TaxRate, Yen},
    signing::DEFAULT_AUDIENCE,
    terms::Terms,
};

/// The environment variables of the counter's document, and the keys they set.
pub const SEED_VARIABLES: &[(&str, &str)] = &[
    ("DATABASE_URL", "database_url"),
    ("MEILISEARCH_URL", "meilisearch_url"),
    ("MEILISEARCH_MASTER_KEY", "meilisearch_master_key"),
    ("MERCHANT_ID", "merchant_id"),
    ("MERCHANT_NAME", "merchant_name"),
    ("SHIPPING_FEE", "shipping_fee"),
    ("FREE_SHIPPING_THRESHOLD", "free_shipping_threshold"),
    ("TAX_RATE", "tax_rate"),
    ("TAX_ROUNDING", "tax_rounding"),
];

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Moves this counter alone to a database of its own, such as
    /// `postgresql://user:password@host/name` or `sqlite:////srv/shop.db`. Empty: the desk's.
    pub database_url: String,
    /// The Meilisearch server that searches are sent to. Empty: the embedded index answers.
    pub meilisearch_url: String,
    /// The key for that server.
    pub meilisearch_master_key: String,
    /// The merchant's DID, as mandates name it.
    pub merchant_id: String,
    /// The merchant's name, as mandates name it.
    pub merchant_name: String,
    /// What shipping costs, in yen.
    pub shipping_fee: Yen,
    /// From this subtotal on, in yen, shipping is free.
    pub free_shipping_threshold: Yen,
    /// The consumption tax, as a decimal fraction.
    pub tax_rate: TaxRate,
    /// What becomes of a fraction of a yen in the tax: `floor`, `half_up` or `ceil`.
    pub tax_rounding: Rounding,
    /// How many minutes a cart, and the stock reserved with it, is kept.
    pub cart_minutes: NonZeroU32,
    /// How many open carts with reserved stock one caller may have. All callers without a key count as one.
    pub max_reserving_carts: NonZeroU32,
    /// Of how many products one caller may have more than half of the stock reserved at the same time.
    pub max_mostly_reserved_products: u32,
    /// How many carts of one caller are kept: while they are open, and for a day after. Beyond it, no new one is made.
    pub max_kept_carts: NonZeroU32,
    /// A file with the P-256 key (PKCS#8, PEM) that mandates are signed with. Empty: they stay unsigned.
    pub signing_key_file: PathBuf,
    /// The id of that key in the merchant's DID document. Empty: `<merchant_id>#key-1`.
    pub signing_key_id: String,
    /// Whom signed mandates are for.
    pub signing_audience: String,
    /// Where the embedded search index is kept. It can be deleted at any time.
    pub index_dir: PathBuf,
}

impl Default for Settings {
    fn default() -> Self {
        let terms = Terms::default();
        Self {
            database_url: String::new(),
            meilisearch_url: String::new(),
            meilisearch_master_key: "masterKey123".into(),
            merchant_id: "did:ap2:merchant:mugibo_merchant".into(),
            merchant_name: "Demo Merchant".into(),
            shipping_fee: terms.shipping_fee,
            free_shipping_threshold: terms.free_shipping_threshold,
            tax_rate: terms.tax_rate,
            tax_rounding: terms.rounding,
            cart_minutes: NonZeroU32::MIN.saturating_add(29),
            max_reserving_carts: NonZeroU32::MIN.saturating_add(19),
            max_mostly_reserved_products: 10,
            max_kept_carts: NonZeroU32::MIN.saturating_add(99_999),
            signing_key_file: PathBuf::new(),
            signing_key_id: String::new(),
            signing_audience: DEFAULT_AUDIENCE.into(),
            index_dir: PathBuf::new(),
        }
    }
}

/// Shows neither the key nor a password in an address.
impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("merchant_id", &self.merchant_id)
            .field("merchant_name", &self.merchant_name)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_document() {
        let read: Settings = serde_json::from_str("{}").unwrap();
        assert_eq!(read.meilisearch_master_key, "masterKey123");
        assert_eq!(read.merchant_id, "did:ap2:merchant:mugibo_merchant");
        assert_eq!(read.merchant_name, "Demo Merchant");
        assert_eq!(read.shipping_fee.get(), 500);
        assert_eq!(read.free_shipping_threshold.get(), 5_000);
        assert_eq!(read.tax_rate.to_string(), "0.1");
        assert!(serde_json::from_str::<Settings>(r#"{"tax": "0.1"}"#).is_err());
    }

    #[test]
    fn every_seed_variable_sets_a_key_that_exists() {
        let keys = serde_json::to_value(Settings::default()).unwrap();
        for (_, key) in SEED_VARIABLES {
            assert!(keys.get(key).is_some(), "{key}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let settings = Settings {
            database_url: "postgresql://me:hunter2@db/shop".into(),
            ..Settings::default()
        };
        let printed = format!("{settings:?}");
        assert!(!printed.contains("hunter2"), "{printed}");
        assert!(!printed.contains("masterKey123"), "{printed}");
    }
}
