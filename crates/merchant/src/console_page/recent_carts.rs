//! The carts that were quoted, newest first.

use kit::{
    Context, Error, Result,
    console::{
        Cell, CellRow, CellTable, PageLink, PageQuery, Part, Section, Tag, Tone, pick, pick_all,
    },
};

use super::wording::{keeping, time, yen};
use crate::{
    model::cart::Cart,
    state::CounterState,
    store::{self, ListedCart},
};

const PAGE: usize = 20;

/// Carts are kept for a day; older pages than this have nothing that anybody looks for.
const DEEPEST: usize = 10_000;

pub async fn section(
    state: &CounterState,
    context: &Context,
    query: &PageQuery,
) -> Result<Section> {
    let from = query.get("carts").and_then(|from| from.parse().ok());
    let from: usize = from.unwrap_or(0).min(DEEPEST);
    let read = state.store.query(context.budget(), move |sql| {
        store::listed_carts(sql, (from, PAGE + 1))
    });
    let mut carts = read.await?;
    let has_more = carts.len() > PAGE;
    carts.truncate(PAGE);
    let rows = carts.iter().map(|cart| row(state, context, cart, query));
    let mut parts = vec![Part::table_or_text(
        CellTable {
            columns: pick_all(
                context,
                &[
                    ("Cart", "カート"),
                    ("Total", "合計"),
                    ("State", "状態"),
                    ("Made by", "作成者"),
                    ("Made", "作成日時"),
                    ("Expires", "有効期限"),
                ],
            ),
            rows: rows.collect::<Result<_>>()?,
            tool: None,
        },
        pick(
            context,
            "There are no carts. Agents make them with build_cart_mandates.",
            "カートはありません。エージェントが build_cart_mandates で作ります。",
        ),
    )];
    parts.extend(pager(context, query, from, has_more));
    Ok(Section {
        title: pick(context, "Cart mandates", "カートマンデート").into(),
        parts,
    })
}

fn row(
    state: &CounterState,
    context: &Context,
    listed: &ListedCart,
    query: &PageQuery,
) -> Result<CellRow> {
    let cart: Cart = serde_json::from_str(&listed.cart).map_err(Error::internal)?;
    let now = state.now(context);
    let is_open = !listed.is_cancelled && listed.expires_at > now;
    Ok(CellRow::new(vec![
        Cell::Link {
            label: goods(context, &cart),
            query: keeping(query, vec![("cart", cart.id.clone())]),
        },
        Cell::text(yen(context, cart.quote.total)),
        Cell::Tag(standing(
            context,
            is_open,
            listed.is_cancelled,
            listed.is_reserved,
        )),
        Cell::Caller(listed.caller.clone()),
        time(state, listed.created_at),
        time(state, listed.expires_at),
    ]))
}

/// The first of the goods, and how many others there are.
fn goods(context: &Context, cart: &Cart) -> String {
    let first = cart.lines.first().map_or("", |line| &line.name);
    match (cart.lines.len(), context.language) {
        (..=1, _) => first.to_owned(),
        (count, kit::Language::English) => format!("{first} and {} more", count - 1),
        (count, kit::Language::Japanese) => format!("{first} ほか{}点", count - 1),
    }
}

/// What became of a cart, in a word.
pub fn standing(context: &Context, is_open: bool, is_cancelled: bool, is_reserved: bool) -> Tag {
    let (tone, english, japanese) = match (is_open, is_cancelled, is_reserved) {
        (_, true, _) => (Tone::Neutral, "Cancelled", "取り消し済み"),
        (false, _, _) => (Tone::Neutral, "Expired", "期限切れ"),
        (true, _, true) => (Tone::Good, "Open, goods reserved", "有効（商品確保中）"),
        (true, _, false) => (Tone::Warning, "Open, nothing reserved", "有効（確保なし）"),
    };
    Tag::new(tone, pick(context, english, japanese))
}

fn pager(context: &Context, query: &PageQuery, from: usize, has_more: bool) -> Option<Part> {
    let to = |label: &str, from: usize| {
        let set = vec![("carts", from.to_string())];
        PageLink::new(label, keeping(query, set))
    };
    let mut links = Vec::new();
    if from > 0 {
        let label = pick(context, "Newer carts", "新しいカート");
        links.push(to(label, from.saturating_sub(PAGE)));
    }
    if has_more && from + PAGE <= DEEPEST {
        links.push(to(
            pick(context, "Older carts", "以前のカート"),
            from + PAGE,
        ));
    }
    let label = pick(context, "Pages of carts", "カートのページ");
    (!links.is_empty()).then(|| Part::Pager(label.into(), links))
}
