//! `search_products`: the products that somebody means.

mod cursor;
mod input;
mod output;
mod page;
mod page_contents;

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Result, Tool};

use super::arguments;
use crate::state::CounterState;
use cursor::Cursor;
use input::Input;
use output::Output;
use page::Page;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "search_products",
            title: "商品検索 / Search products",
            description: "データベースから商品を検索",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::waiting(state, handle),
    )
    .normalise(|_, arguments| {
        for name in ["keywords", "category", "brand", "fields"] {
            arguments::texts(arguments, name);
        }
        for name in ["limit", "min_price", "max_price"] {
            arguments::integer(arguments, name);
        }
        arguments::truth(arguments, "facets");
    })
    .personal(&["keywords"])
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let mut query = input.query();
    let cursor = Cursor::read(input.cursor.as_deref(), &query)?;
    let page = Page {
        state: &state,
        input: &input,
        now: state.now(&context),
        budget: context.budget(),
    };
    let mut output = page.answer(&mut query, cursor).await?;
    if output.products.is_empty() {
        output.message = Some(page.why_empty(context.language).await?);
    }
    Ok(output)
}
