//! The three tools: what is asked, and whether the answer is right.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context as _, Result, ensure};
use bench::wire::{self, Verdict, Work};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    catalogue::{Catalogue, Dice},
    queries::Query,
};

/// The default of `limit`.
const PAGE: usize = 20;
const IDS: usize = 100;
const LINES: usize = 3;

/// `search_products`, one question after the other.
pub struct Searches {
    pub catalogue: Arc<Catalogue>,
    pub queries: Vec<Query>,
}

#[derive(Deserialize)]
struct Found {
    products: Vec<FoundProduct>,
    #[serde(default)]
    fallback: bool,
    #[serde(default)]
    fallback_reason: Option<String>,
}

#[derive(Deserialize)]
struct FoundProduct {
    id: u64,
    name: String,
    category: String,
    price_jpy: f64,
    inventory_count: u64,
}

impl Searches {
    fn query(&self, number: u64) -> &Query {
        &self.queries[number as usize % self.queries.len()]
    }
}

impl Work for Searches {
    fn arguments(&self, number: u64) -> String {
        self.query(number).arguments.clone()
    }

    /// Refused when the first product is none that was meant, or when something
    /// was found where there is nothing. A product that is not as the catalogue
    /// has it, sold out or filtered out fails the run.
    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict> {
        let query = self.query(number);
        let found: Found = wire::result(number, body)?;
        if let Some(reason) = &found.fallback_reason {
            ensure!(reason.starts_with("Nothing"), "no index: {reason}");
        }
        ensure!(found.products.len() <= PAGE, "more than asked for");
        let filter = if found.fallback {
            &Default::default()
        } else {
            &query.filter
        };
        for product in &found.products {
            let facts = self.catalogue.facts(product.id).context("no product")?;
            let price = product.price_jpy as u64;
            let is_right = product.inventory_count == facts.stock
                && facts.stock > 0
                && price == facts.price
                && filter
                    .category
                    .is_none_or(|wanted| wanted == product.category)
                && filter
                    .prices
                    .is_none_or(|(least, most)| (least..=most).contains(&price));
            let (id, asked) = (product.id, &query.arguments);
            ensure!(is_right, "product {id} in answer to {asked}");
        }
        let Some(first) = found.products.first() else {
            return Ok(Verdict::Refused);
        };
        let product = self.catalogue.product(first.id);
        ensure!(
            product.name == first.name,
            "{} for {}",
            first.name,
            first.id
        );
        let is_meant = match query.meant.is_empty() {
            true => found.fallback,
            false => !found.fallback && product.holds(&query.meant),
        };
        Ok(match is_meant {
            true => Verdict::Done,
            false => Verdict::Refused,
        })
    }
}

/// `check_inventory` of 100 products, others every time.
pub struct Stocks {
    pub catalogue: Arc<Catalogue>,
}

#[derive(Deserialize)]
struct Inventory {
    inventory: HashMap<u64, u64>,
}

impl Stocks {
    fn ids(&self, number: u64) -> Vec<u64> {
        let mut dice = Dice::new(number + 1);
        (0..IDS).map(|_| self.catalogue.any_id(&mut dice)).collect()
    }
}

impl Work for Stocks {
    fn arguments(&self, number: u64) -> String {
        json!({ "product_ids": self.ids(number) }).to_string()
    }

    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict> {
        let answer: Inventory = wire::result(number, body)?;
        for id in self.ids(number) {
            let right = self.catalogue.facts(id).map(|facts| facts.stock);
            let told = answer.inventory.get(&id).copied();
            ensure!(told == right, "{told:?} of product {id}, not {right:?}");
        }
        Ok(Verdict::Done)
    }
}

/// `build_cart_mandates` of three products, with an address.
pub struct Carts {
    pub catalogue: Arc<Catalogue>,
    /// How many were confirmed.
    pub made: AtomicU64,
}

#[derive(Deserialize)]
struct Built {
    cart_mandate: Mandate,
}

#[derive(Deserialize)]
struct Mandate {
    contents: Contents,
}

#[derive(Deserialize)]
struct Contents {
    display_items: Vec<Item>,
    total: Amount,
}

#[derive(Deserialize)]
struct Item {
    amount: Amount,
}

#[derive(Deserialize)]
struct Amount {
    value: f64,
}

impl Carts {
    pub fn new(catalogue: &Arc<Catalogue>) -> Self {
        Self {
            catalogue: Arc::clone(catalogue),
            made: AtomicU64::new(0),
        }
    }

    /// Products and how many of each.
    fn lines(&self, number: u64) -> Vec<(u64, u64)> {
        let mut dice = Dice::new(number + 1);
        let mut lines: Vec<(u64, u64)> = Vec::with_capacity(LINES);
        while lines.len() < LINES {
            let id = self.catalogue.any_in_stock(&mut dice);
            if lines.iter().all(|(other, _)| *other != id) {
                lines.push((id, 1 + dice.below(2) as u64));
            }
        }
        lines
    }

    fn price(&self, id: u64) -> u64 {
        self.catalogue.facts(id).map_or(0, |facts| facts.price)
    }
}

impl Work for Carts {
    fn arguments(&self, number: u64) -> String {
        let lines = self.lines(number);
        let items: Vec<Value> = lines
            .iter()
            .map(|(id, quantity)| json!({ "product_id": id, "quantity": quantity }))
            .collect();
        let products: Vec<Value> = lines
            .iter()
            .map(|(id, _)| json!({ "id": id, "price_jpy": self.price(*id) as f64 }))
            .collect();
        json!({
            "cart_plan": { "items": items },
            "products": products,
            "shipping_address": {
                "recipient": "山田太郎", "addressLine": ["東京都渋谷区1-2-3"], "city": "渋谷区",
                "country": "JP", "postalCode": "150-0001",
            },
        })
        .to_string()
    }

    fn check(&self, number: u64, body: &[u8]) -> Result<Verdict> {
        let lines = self.lines(number);
        let subtotal: u64 = lines.iter().map(|(id, many)| self.price(*id) * many).sum();
        let shipping = if subtotal >= 5_000 { 0 } else { 500 };
        let total = subtotal + shipping + (subtotal + shipping) / 10;
        let Built { cart_mandate } = wire::result(number, body)?;
        let contents = cart_mandate.contents;
        let items: f64 = contents
            .display_items
            .iter()
            .map(|item| item.amount.value)
            .sum();
        let told = contents.total.value;
        ensure!(told as u64 == total, "{told} for {total}");
        ensure!(items as u64 == total, "items of {items} for {total}");
        self.made.fetch_add(1, Ordering::Relaxed);
        Ok(Verdict::Done)
    }
}
