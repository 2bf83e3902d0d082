//! Sample data: a small shop in Japanese and English, in which the examples of the
//! counter's document are true.

use std::sync::Arc;

use kit::{BoxFuture, Context, Result, counter::Demo, sql::Budget};

use crate::{
    import,
    state::CounterState,
    store::{self, Owner},
};

/// The first five are those the document speaks of.
const PRODUCTS: &str = include_str!("demo/products.csv");

pub struct DemoData {
    state: Arc<CounterState>,
}

impl DemoData {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
        }
    }
}

impl Demo for DemoData {
    fn load<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let products = import::products(PRODUCTS)?;
            let written = self
                .state
                .store
                .transaction(Budget::default(), move |sql| {
                    store::save(sql, &products, Owner::Demo)
                })
                .await?;
            self.state.finder.wake();
            Ok(format!("Loaded {written} products."))
        })
    }

    fn remove<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let count = self
                .state
                .store
                .transaction(Budget::default(), store::remove_demo)
                .await?;
            self.state.finder.wake();
            Ok(format!("Removed {count} demo products."))
        })
    }

    fn is_empty<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<bool>> {
        Box::pin(self.state.store.query(Budget::default(), store::is_empty))
    }

    fn refresh<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
