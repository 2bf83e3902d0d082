//! Products as answers show them.

use kit::schema::Nullable;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    model::{money::Yen, terms::Terms},
    store::Product,
};

/// All but the id can be left out by `fields`.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ProductView {
    pub id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sku: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_cents: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_jpy: Option<Yen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_with_tax_jpy: Option<Yen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inventory_count: Option<i64>,
    // Clients read these without asking whether they are there, as their
    // document has it; only their value may be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Nullable<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<Nullable<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url: Option<Nullable<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refund_period_days: Option<i64>,
}

/// The names `fields` may hold.
pub const FIELDS: [&str; 12] = [
    "id",
    "sku",
    "name",
    "description",
    "price_cents",
    "price_jpy",
    "price_with_tax_jpy",
    "inventory_count",
    "category",
    "brand",
    "image_url",
    "refund_period_days",
];

impl ProductView {
    /// With all fields, or only those that are named.
    pub fn new(product: Product, terms: &Terms, fields: &[String]) -> Self {
        let wants = |name: &str| fields.is_empty() || fields.iter().any(|field| field == name);
        let price = Yen::new(product.price_yen).ok();
        Self {
            id: product.id,
            sku: wants("sku").then_some(product.sku),
            name: wants("name").then_some(product.name),
            description: wants("description").then_some(product.description),
            price_cents: price.filter(|_| wants("price_cents")).map(Yen::cents),
            price_jpy: price.filter(|_| wants("price_jpy")),
            price_with_tax_jpy: price
                .filter(|_| wants("price_with_tax_jpy"))
                .and_then(|price| terms.with_tax(price)),
            inventory_count: wants("inventory_count").then_some(product.stock),
            category: wants("category").then_some(product.category.into()),
            brand: wants("brand").then_some(product.brand.into()),
            image_url: wants("image_url").then_some(product.image_url.into()),
            refund_period_days: wants("refund_period_days").then_some(product.refund_period_days),
        }
    }
}
