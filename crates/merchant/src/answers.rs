//! Products as answers show them.

use std::collections::BTreeMap;

use kit::schema::Nullable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    model::{money::Yen, terms::Terms},
    store::Product,
};

// Without a doc comment: it would be published.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ProductView {
    pub id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sku: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// In other languages
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_cents: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Without tax
    pub price_jpy: Option<Yen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_with_tax_jpy: Option<Yen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// What can be sold now
    pub inventory_count: Option<i64>,
    // Clients of the document expect these fields to be present; their value may
    // be null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Nullable<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<Nullable<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url: Option<Nullable<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refund_period_days: Option<i64>,
}

// What `fields` may name. No doc comment: it would be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProductField {
    Id,
    Sku,
    Name,
    Names,
    Description,
    PriceCents,
    PriceJpy,
    PriceWithTaxJpy,
    InventoryCount,
    Category,
    Brand,
    ImageUrl,
    RefundPeriodDays,
}

impl ProductView {
    /// With all fields, or only those that are named.
    pub fn new(product: Product, terms: &Terms, fields: &[ProductField]) -> Self {
        let wants = |field| fields.is_empty() || fields.contains(&field);
        let price = Yen::new(product.price_yen).ok();
        Self {
            id: product.id,
            sku: wants(ProductField::Sku).then_some(product.sku),
            name: wants(ProductField::Name).then_some(product.name),
            names: Some(product.names)
                .filter(|names| wants(ProductField::Names) && !names.is_empty()),
            description: wants(ProductField::Description).then_some(product.description),
            price_cents: price
                .filter(|_| wants(ProductField::PriceCents))
                .map(Yen::cents),
            price_jpy: price.filter(|_| wants(ProductField::PriceJpy)),
            price_with_tax_jpy: price
                .filter(|_| wants(ProductField::PriceWithTaxJpy))
                .and_then(|price| terms.with_tax(price)),
            inventory_count: wants(ProductField::InventoryCount).then_some(product.stock),
            category: wants(ProductField::Category).then_some(product.category.into()),
            brand: wants(ProductField::Brand).then_some(product.brand.into()),
            image_url: wants(ProductField::ImageUrl).then_some(product.image_url.into()),
            refund_period_days: wants(ProductField::RefundPeriodDays)
                .then_some(product.refund_period_days),
        }
    }
}
