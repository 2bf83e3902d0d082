//! The products of one page, up to its limit and to a size that every client accepts.

use kit::{Error, Result};

use crate::{
    answers::{ProductField, ProductView},
    model::terms::Terms,
    store::Product,
};

/// A page ends before its products grow larger than this, with a cursor for the rest.
/// An answer contains them twice, as text and as structured content; clients want
/// answers below 256 kB.
const PAGE_BYTES: usize = 75_000;

pub struct PageContents<'a> {
    terms: &'a Terms,
    /// The fields of each; empty for all.
    fields: &'a [ProductField],
    limit: usize,
    bytes: usize,
    pub products: Vec<ProductView>,
    /// Whether the size ended the page before the limit did.
    pub is_cut: bool,
}

impl<'a> PageContents<'a> {
    pub fn new(terms: &'a Terms, fields: &'a [ProductField], limit: usize) -> Self {
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

    /// Adds the product if it fits, and returns whether it did. The first one always
    /// fits.
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
