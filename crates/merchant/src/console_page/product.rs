//! One product: what the shop knows about it, its stock, and a form to change that.

use kit::{
    Context, Result,
    console::{
        Action, Cell, CellRow, CellTable, Input, NumberInput, Part, Section, Tag, TextInput, Tone,
        pick, pick_all,
    },
};
use serde_json::json;

use super::wording::{available, missing, name, price, time, yen};
use crate::{
    model::money::Yen,
    state::CounterState,
    store::{self, LoggedChange, MOST_STOCK, Product},
};

/// How many changes of the stock are listed.
const CHANGES: i64 = 10;

pub async fn section(state: &CounterState, context: &Context, wanted: &str) -> Result<Section> {
    let nothing = || {
        missing(
            pick(context, "Product", "商品"),
            pick(
                context,
                "There is no such product.",
                "その商品はありません。",
            ),
        )
    };
    let Ok(id) = wanted.parse::<i64>() else {
        return Ok(nothing());
    };
    let now = state.now(context);
    let read = state.store.query(context.budget(), move |sql| {
        let product = store::products(sql, &[id], now)?.remove(&id);
        let whole = store::whole_stock(sql, id)?;
        Ok((product.zip(whole), store::stock_changes(sql, id, CHANGES)?))
    });
    let (found, changes) = read.await?;
    let Some((product, whole)) = found else {
        return Ok(nothing());
    };
    let mut parts = vec![
        Part::Facts(facts(state, context, &product, whole)),
        Part::Action(set_stock(context, id, whole)),
    ];
    if !changes.is_empty() {
        parts.push(Part::CellTable(changes_table(state, context, &changes)));
    }
    Ok(Section {
        title: name(context, &product).to_owned(),
        parts,
    })
}

fn facts(
    state: &CounterState,
    context: &Context,
    product: &Product,
    whole: i64,
) -> Vec<(String, Cell)> {
    let with_tax = Yen::new(product.price_yen).ok();
    let with_tax = with_tax.and_then(|price| state.terms.with_tax(price));
    let reserved = (whole - product.stock).max(0);
    let others = product.names.values().chain([&product.name]);
    let mut others: Vec<&str> = others.map(String::as_str).collect();
    others.retain(|other| *other != name(context, product));
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let refund = match product.refund_period_days {
        days if days > 0 => format!("{days} {}", pick(context, "days", "日")),
        _ => pick(context, "none", "なし").to_owned(),
    };
    let text = |english, japanese, text: String| {
        let name: &str = pick(context, english, japanese);
        (name.to_owned(), Cell::Text(text))
    };
    let mut facts = vec![
        text("Also called", "別名", others.join(", ")),
        text("SKU", "SKU", product.sku.clone()),
        text(
            "Price without tax",
            "税抜価格",
            price(context, product.price_yen),
        ),
        text(
            "Price with tax",
            "税込価格",
            with_tax
                .map(|price| yen(context, price))
                .unwrap_or_default(),
        ),
        (
            pick(context, "Available", "販売可能").to_owned(),
            available(context, product.stock),
        ),
        text("In stock", "在庫", whole.to_string()),
        text("Reserved in carts", "カートで確保中", reserved.to_string()),
        text("Category", "カテゴリー", optional(&product.category)),
        text("Brand", "ブランド", optional(&product.brand)),
        text("Can be returned within", "返品可能期間", refund),
        text("Keywords", "キーワード", product.keywords.join(", ")),
    ];
    facts.push((
        pick(context, "Description", "説明").to_owned(),
        Cell::LongText(product.description.clone()),
    ));
    facts.retain(
        |(_, cell)| !matches!(cell, Cell::Text(text) | Cell::LongText(text) if text.is_empty()),
    );
    facts
}

fn set_stock(context: &Context, id: i64, whole: i64) -> Action {
    Action {
        tool: "update_inventory",
        label: pick(context, "Set the stock", "在庫を変更").into(),
        fixed: vec![("product_id", json!(id))],
        inputs: vec![
            Input::Number(NumberInput {
                argument: "inventory_count",
                label: pick(context, "Stock as counted", "数えた在庫").into(),
                value: whole,
                least: 0,
                most: MOST_STOCK,
            }),
            Input::Text(TextInput {
                argument: "reason",
                label: pick(context, "Reason (optional)", "理由（任意）").into(),
                ..TextInput::default()
            }),
        ],
    }
}

fn changes_table(state: &CounterState, context: &Context, changes: &[LoggedChange]) -> CellTable {
    let rows = changes.iter().map(|change| {
        let difference = change.after - change.before;
        let tone = match difference {
            ..0 => Tone::Warning,
            _ => Tone::Good,
        };
        CellRow::new(vec![
            time(state, change.changed_at),
            Cell::text(format!("{} → {}", change.before, change.after)),
            Cell::Tag(Tag::new(tone, format!("{difference:+}"))),
            Cell::Caller(change.caller.clone()),
            Cell::text(change.reason.as_deref().unwrap_or_default()),
        ])
    });
    CellTable {
        columns: pick_all(
            context,
            &[
                ("Changed", "変更日時"),
                ("Stock", "在庫"),
                ("Difference", "増減"),
                ("By", "変更者"),
                ("Reason", "理由"),
            ],
        ),
        rows: rows.collect(),
        tool: None,
    }
}
