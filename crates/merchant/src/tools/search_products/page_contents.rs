//! The products of one page, up to its limit and to a size that every client takes.

use kit::{Error, Result};

use crate::{answers::ProductView, model::terms::Terms, store::Product};

/// A page ends before its products grow larger than this, with a cursor to go on.
/// An answer repeats them as text, and once more without the protocol; clients
/// want answers below 256 kB.
const PAGE_BYTES: usize = 75_000;

pub struct Views<'a> {
    terms: &'a Terms,
    /// The fields of each; empty for all.
    fields: &'a [String],
    limit: usize,
    bytes: usize,
    pub products: Vec<ProductView>,
    /// Ended by size before the limit.
    pub is_cut: bool,
}

impl<'a> Views<'a> {
    pub fn new(terms: &'a Terms, fields: &'a [String], limit: usize) -> Self {
        Self {
            terms,
            fields,
            limit,
            bytes: 0,
            products: Vec::new(),
            is_cut: false,
        }
    }

    pub fn is_full(&self) -> bool {
        self.is_cut || self.products.len() >= self.limit
    }

    /// Whether there was room for it. One product is always shown.
    pub fn add(&mut self, product: Product) -> Result<bool> {
        if self.is_full() {
            return Ok(false);
        }
        let view = ProductView::new(product, self.terms, self.fields);
        let size = serde_json::to_string(&view).map_err(Error::internal)?.len();
        if self.bytes + size > PAGE_BYTES && !self.products.is_empty() {
            self.is_cut = true;
            return Ok(false);
        }
        self.bytes += size;
        self.products.push(view);
        Ok(true)
    }
}
