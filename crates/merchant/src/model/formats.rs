//! The formats of a mandate. Each module builds the `contents`, which are what is
//! signed, and the mandate around them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub mod ap2;
pub mod flat;

/// `flat` is the shape of `build_cart_mandates` since the beginning, its items
/// right in the contents; `ap2-0.1` is the one the Agent Payments Protocol
/// published, with a W3C payment request in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Format {
    #[default]
    #[serde(rename = "flat")]
    Flat,
    #[serde(rename = "ap2-0.1")]
    Ap2,
}

impl Format {
    pub const ALL: [Self; 2] = [Self::Flat, Self::Ap2];

    /// As arguments and rows write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Ap2 => "ap2-0.1",
        }
    }
}
