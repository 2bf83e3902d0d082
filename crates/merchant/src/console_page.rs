//! The counter's page in the console: the shop with its stock, and the carts.

mod goods;
mod product;
mod receipt;
mod recent_carts;
mod wording;

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result,
    console::{ConsolePage, PageQuery, Section},
};

use crate::state::CounterState;
use goods::GoodsQuery;

pub struct ShopPage {
    state: Arc<CounterState>,
}

impl ShopPage {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
        }
    }
}

impl ConsolePage for ShopPage {
    fn show<'a>(
        &'a self,
        context: &'a Context,
        query: &'a PageQuery,
    ) -> BoxFuture<'a, Result<Vec<Section>>> {
        Box::pin(async move {
            let goods = GoodsQuery::of(query);
            let mut sections = Vec::new();
            if let Some(wanted) = query.get("product") {
                sections.push(product::section(&self.state, context, wanted).await?);
            }
            if let Some(wanted) = query.get("cart") {
                sections.push(receipt::section(&self.state, context, wanted).await?);
            }
            sections.push(goods::section(&self.state, context, &goods).await?);
            sections.push(recent_carts::section(&self.state, context, query).await?);
            Ok(sections)
        })
    }

    /// Nobody announces that a cart has expired.
    fn look_again_seconds(&self) -> Option<u32> {
        Some(60)
    }
}
