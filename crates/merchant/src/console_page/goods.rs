//! The products, a page at a time, with a search.

use kit::{
    Context, Result,
    console::{
        Cell, CellRow, CellTable, PageLink, PageQuery, Part, Query, Search, Section, pick, pick_all,
    },
};

use super::wording::{available, keeping, name, price};
use crate::{
    empty_shop,
    state::CounterState,
    store::{self, Filter, Order, Product},
};

const PAGE: usize = 20;

/// Deeper pages cost more and more, and nobody reads them.
const DEEPEST: usize = 100_000;

/// Characters of a search.
const LONGEST_SEARCH: usize = 200;

/// Which products are wanted.
pub struct GoodsQuery<'a> {
    query: &'a PageQuery,
    text: String,
    from: usize,
}

impl<'a> GoodsQuery<'a> {
    pub fn of(query: &'a PageQuery) -> Self {
        let text = query.get("q").unwrap_or_default().trim();
        let from = query.get("from").and_then(|from| from.parse().ok());
        Self {
            query,
            text: text.chars().take(LONGEST_SEARCH).collect(),
            from: from.unwrap_or(0).min(DEEPEST),
        }
    }

    fn page(&self, from: usize) -> Query {
        let from = match from {
            0 => String::new(),
            from => from.to_string(),
        };
        keeping(self.query, vec![("from", from)])
    }
}

/// The products of a page, and whether there are more.
struct Found {
    products: Vec<Product>,
    has_more: bool,
    /// Whether the search could be made.
    is_searched: bool,
}

pub async fn section(
    state: &CounterState,
    context: &Context,
    wanted: &GoodsQuery<'_>,
) -> Result<Section> {
    let found = find(state, context, wanted).await?;
    let mut parts = vec![Part::Search(Search {
        parameter: "q",
        label: pick(context, "Search the shop", "商品を検索").into(),
        value: wanted.text.clone(),
        button: pick(context, "Search", "検索").into(),
        kept: keeping(
            wanted.query,
            vec![("q", String::new()), ("from", String::new())],
        ),
    })];
    if !found.is_searched {
        let text = pick(
            context,
            "The search is not ready yet. These are all products.",
            "検索の準備ができていないため、すべての商品を表示しています。",
        );
        parts.push(Part::Text(text.into()));
    }
    let nothing = match (wanted.text.is_empty(), wanted.from) {
        (true, 0) => empty_shop::message(context.language),
        (_, 0) => pick(
            context,
            "No product matches.",
            "当てはまる商品はありません。",
        ),
        _ => pick(
            context,
            "There are no more products.",
            "これ以上の商品はありません。",
        ),
    };
    let table = table(context, wanted, &found.products);
    parts.push(Part::table_or_text(table, nothing));
    parts.extend(pager(context, wanted, found.has_more));
    Ok(Section {
        title: pick(context, "Products", "商品").into(),
        parts,
    })
}

async fn find(state: &CounterState, context: &Context, wanted: &GoodsQuery<'_>) -> Result<Found> {
    let now = state.now(context);
    let matching = match wanted.text.is_empty() {
        true => None,
        false => {
            let query = search::Query {
                text: wanted.text.clone(),
                offset: wanted.from,
                limit: PAGE + 1,
                ..search::Query::default()
            };
            state.finder.find(&query, None).await.ok()
        }
    };
    let is_searched = wanted.text.is_empty() || matching.is_some();
    let from = wanted.from;
    let read = state.store.query(context.budget(), move |sql| {
        let Some(matching) = matching else {
            let all = Filter {
                include_sold_out: true,
                ..Filter::default()
            };
            return store::list(sql, &all, Order::Oldest, (from, PAGE + 1), now);
        };
        let mut known = store::products(sql, &matching.ids, now)?;
        let in_order = matching.ids.iter();
        Ok(in_order.filter_map(|id| known.remove(id)).collect())
    });
    let mut products = read.await?;
    let has_more = products.len() > PAGE;
    products.truncate(PAGE);
    Ok(Found {
        products,
        has_more,
        is_searched,
    })
}

fn table(context: &Context, wanted: &GoodsQuery<'_>, products: &[Product]) -> CellTable {
    let rows = products.iter().map(|product| {
        let mut query = wanted.page(wanted.from);
        query.push(("product", product.id.to_string()));
        CellRow::new(vec![
            Cell::Link {
                label: name(context, product).to_owned(),
                query,
            },
            Cell::text(&product.sku),
            Cell::text(price(context, product.price_yen)),
            available(context, product.stock),
        ])
    });
    CellTable {
        columns: pick_all(
            context,
            &[
                ("Product", "商品"),
                ("SKU", "SKU"),
                ("Price without tax", "税抜価格"),
                ("Available", "販売可能"),
            ],
        ),
        rows: rows.collect(),
        tool: None,
    }
}

fn pager(context: &Context, wanted: &GoodsQuery<'_>, has_more: bool) -> Option<Part> {
    let mut links = Vec::new();
    if wanted.from > 0 {
        let label = pick(context, "Previous products", "前の商品");
        links.push(PageLink::new(
            label,
            wanted.page(wanted.from.saturating_sub(PAGE)),
        ));
    }
    if has_more && wanted.from + PAGE <= DEEPEST {
        let label = pick(context, "Next products", "次の商品");
        links.push(PageLink::new(label, wanted.page(wanted.from + PAGE)));
    }
    let label = pick(context, "Pages of products", "商品のページ");
    (!links.is_empty()).then(|| Part::Pager(label.into(), links))
}
