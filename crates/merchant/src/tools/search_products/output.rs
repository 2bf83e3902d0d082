//! The answer of `search_products`.

use kit::Warning;
use schemars::JsonSchema;
use search::Facets;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answers::ProductView;

#[derive(Serialize, JsonSchema)]
pub struct Output {
    pub products: Vec<ProductView>,
    /// Nothing matched; these are only in stock
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_reason: Option<String>,
    /// Why there are none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// excluded_by, sold_out, and what there is instead
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<FacetCounts>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FacetCounts {
    pub category: Map<String, Value>,
    pub brand: Map<String, Value>,
}

impl From<Facets> for FacetCounts {
    fn from(facets: Facets) -> Self {
        Self {
            category: counts(facets.category),
            brand: counts(facets.brand),
        }
    }
}

fn counts(counts: Vec<(String, u64)>) -> Map<String, Value> {
    counts
        .into_iter()
        .map(|(value, count)| (value, count.into()))
        .collect()
}
