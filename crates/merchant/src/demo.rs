//! Sample data: a small shop of goods in which the document's own examples hold.

mod data;

use std::sync::Arc;

use kit::{BoxFuture, Context, Result, counter::Demo, sql::Budget};

use crate::{
    shop::Shop,
    store::{self, Save},
};

pub struct DemoData {
    shop: Arc<Shop>,
}

impl DemoData {
    pub fn new(shop: &Arc<Shop>) -> Self {
        Self {
            shop: Arc::clone(shop),
        }
    }
}

impl Demo for DemoData {
    fn load<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let written = self
                .shop
                .store
                .transaction(Budget::default(), |sql| {
                    store::save(sql, &data::products(), Save::Demo)
                })
                .await?;
            self.shop.finder.wake();
            Ok(format!("Loaded {written} products."))
        })
    }

    fn remove<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let count = self
                .shop
                .store
                .transaction(Budget::default(), store::remove_demo)
                .await?;
            self.shop.finder.wake();
            Ok(format!("Removed {count} demo products."))
        })
    }

    fn is_empty<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<bool>> {
        Box::pin(self.shop.store.query(Budget::default(), store::is_empty))
    }

    fn refresh<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
