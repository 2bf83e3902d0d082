//! `search_products`: the products that somebody means.

mod cursor;
mod empty;
mod input;
mod lookup;
mod output;
mod page;

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Result, Tool};

use super::arguments;
use crate::{errors, state::CounterState};
use cursor::Cursor;
use input::Input;
use lookup::Lookup;
use output::Output;
use page::Page;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "search_products",
            title: "商品検索 / Search products",
            description: "Search the products in stock, in the languages of the catalogue. \
                データベースから商品を検索",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::waiting(state, handle),
    )
    .in_japanese("商品検索")
    .normalise(|_, arguments| {
        for name in ["keywords", "category", "brand", "fields"] {
            arguments::texts(arguments, name);
        }
        for name in ["limit", "min_price", "max_price"] {
            arguments::integer(arguments, name);
        }
        for name in ["facets", "price_includes_tax", "include_sold_out"] {
            arguments::truth(arguments, name);
        }
    })
    .personal(&["keywords"])
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    if let (Some(min), Some(max)) = (input.min_price, input.max_price)
        && min > max
    {
        return Err(errors::swapped_prices(min, max));
    }
    let input = input.without_tax(&state.terms);
    let mut query = input.query();
    let cursor = Cursor::read(input.cursor.as_deref(), &query)?;
    let lookup = Lookup {
        state: &state,
        now: state.now(&context),
        budget: context.budget(),
    };
    let page = Page {
        lookup: &lookup,
        input: &input,
    };
    let mut output = page.answer(&mut query, cursor).await?;
    if output.products.is_empty() {
        let why = empty::explain(&lookup, &input.query(), context.language).await?;
        output.message = Some(why.message);
        output.details = Some(why.details).filter(|details| !details.is_empty());
    }
    Ok(output)
}
