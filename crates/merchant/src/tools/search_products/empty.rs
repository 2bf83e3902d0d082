//! Why a search found nothing, and what it would find otherwise.

use kit::{Result, context::Language};
use search::{Facets, Query, Sort};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::lookup::Lookup;
use crate::{
    empty_shop,
    finding::Engine,
    model::{money::Yen, terms::Terms},
    store,
};

/// How many products, categories and brands an explanation names.
const MOST_NAMED: usize = 5;

pub struct Explanation {
    pub message: String,
    pub details: Map<String, Value>,
}

/// The arguments that can exclude products, and the query without each.
type Excluding = (&'static str, fn(&mut Query));

const EXCLUDING: &[Excluding] = &[
    ("keywords", |query| query.text.clear()),
    ("category", |query| query.category.clear()),
    ("brand", |query| query.brand.clear()),
    ("min_price", |query| query.min_price = None),
    ("max_price", |query| query.max_price = None),
];

/// What would be found without one of the arguments.
struct Excluded {
    by: &'static str,
    facets: Facets,
}

pub async fn explain(
    lookup: &Lookup<'_>,
    query: &Query,
    language: Language,
) -> Result<Explanation> {
    let store = &lookup.state.store;
    if store.query(lookup.budget.clone(), store::is_empty).await? {
        return Ok(Explanation {
            message: empty_shop::message(language).to_owned(),
            details: Map::new(),
        });
    }
    let sold_out = sold_out(lookup, query).await?;
    let mut excluded = Vec::new();
    for (by, without) in EXCLUDING {
        let mut wider = query.clone();
        without(&mut wider);
        if wider == *query {
            continue;
        }
        if let Some(facets) = matches(lookup, wider).await? {
            excluded.push(Excluded { by, facets });
        }
    }
    let mut details = Map::new();
    if !sold_out.is_empty() {
        let named = sold_out
            .iter()
            .map(|(id, name)| json!({ "id": id, "name": name }));
        details.insert("sold_out".into(), named.collect());
    }
    if !excluded.is_empty() {
        let by = excluded.iter().map(|excluded| excluded.by);
        details.insert("excluded_by".into(), by.collect());
    }
    for Excluded { by, facets } in &excluded {
        match *by {
            "category" => details.insert("categories".into(), json!(labels(&facets.category))),
            "brand" => details.insert("brands".into(), json!(labels(&facets.brand))),
            "min_price" | "max_price" => {
                let (without, with) = prices(&lookup.state.terms, facets);
                details.insert("prices_without_tax".into(), json!(without));
                details.insert("prices_with_tax".into(), json!(with))
            }
            _ => None,
        };
    }
    Ok(Explanation {
        message: sentence(&lookup.state.terms, language, &sold_out, &excluded),
        details,
    })
}

/// The id and name of products that match and are sold out.
pub async fn sold_out(lookup: &Lookup<'_>, query: &Query) -> Result<Vec<(i64, String)>> {
    let query = Query {
        in_stock_only: false,
        facets: false,
        offset: 0,
        limit: 50,
        ..query.clone()
    };
    let Ok(found) = lookup.state.finder.find(&query, None).await else {
        return Ok(Vec::new());
    };
    let matching = lookup.products(found.ids).await?;
    let sold_out = matching
        .into_iter()
        .filter(|(_, product)| product.stock <= 0);
    let named = sold_out.map(|(_, product)| (product.id, product.name));
    Ok(named.take(MOST_NAMED).collect())
}

/// The id and name of sold-out products that match better than `first`, the first one
/// in stock.
pub async fn better_but_sold_out(
    lookup: &Lookup<'_>,
    query: &Query,
    engine: Engine,
    first: i64,
) -> Result<Vec<(i64, String)>> {
    let query = Query {
        in_stock_only: false,
        facets: false,
        sort: Sort::Relevance,
        offset: 0,
        limit: MOST_NAMED,
        ..query.clone()
    };
    let Ok(found) = lookup.state.finder.find(&query, Some(engine)).await else {
        return Ok(Vec::new());
    };
    let better: Vec<i64> = found
        .ids
        .into_iter()
        .take_while(|id| *id != first)
        .collect();
    if better.is_empty() {
        return Ok(Vec::new());
    }
    let products = lookup.products(better).await?.into_iter();
    let sold_out = products.filter(|(_, product)| product.stock <= 0);
    Ok(sold_out
        .map(|(_, product)| (product.id, product.name))
        .collect())
}

/// The categories, brands and prices of what a query finds in stock; `None` if it
/// finds nothing.
async fn matches(lookup: &Lookup<'_>, query: Query) -> Result<Option<Facets>> {
    let query = Query {
        facets: true,
        offset: 0,
        limit: 50,
        ..query
    };
    let Ok(found) = lookup.state.finder.find(&query, None).await else {
        return Ok(None);
    };
    let in_stock = lookup.products(found.ids).await?;
    let is_any = in_stock.iter().any(|(_, product)| product.stock > 0);
    Ok(found.facets.filter(|_| is_any))
}

#[derive(Serialize)]
struct PriceRange {
    lowest: Option<i64>,
    highest: Option<i64>,
}

/// The prices of what was found, without and with tax: answers quote both.
fn prices(terms: &Terms, facets: &Facets) -> (PriceRange, PriceRange) {
    let with_tax = |price: Option<i64>| {
        let price = Yen::new(price?).ok()?;
        terms.with_tax(price).map(Yen::get)
    };
    let without = PriceRange {
        lowest: facets.price_min,
        highest: facets.price_max,
    };
    let with = PriceRange {
        lowest: with_tax(without.lowest),
        highest: with_tax(without.highest),
    };
    (without, with)
}

fn labels(counts: &[(String, u64)]) -> Vec<&str> {
    let labels = counts.iter().map(|(label, _)| label.as_str());
    labels.take(MOST_NAMED).collect()
}

/// `Mug (id 3), Cup (id 4)`.
pub fn names(products: &[(i64, String)]) -> String {
    let names = products
        .iter()
        .map(|(id, name)| format!("{name} (id {id})"));
    names.collect::<Vec<_>>().join(", ")
}

fn sentence(
    terms: &Terms,
    language: Language,
    sold_out: &[(i64, String)],
    excluded: &[Excluded],
) -> String {
    let mut text = match language {
        Language::English => "Nothing in stock matches.".to_owned(),
        Language::Japanese => "在庫のある該当商品がありません。".to_owned(),
    };
    if !sold_out.is_empty() {
        let names = names(sold_out);
        text += &match language {
            Language::English => format!(" Sold out: {names}."),
            Language::Japanese => format!("品切れ: {names}。"),
        };
    }
    for Excluded { by, facets } in excluded {
        let there_is = match *by {
            "category" => labels(&facets.category).join(", "),
            "brand" => labels(&facets.brand).join(", "),
            "min_price" | "max_price" => price_words(terms, language, facets).unwrap_or_default(),
            _ => String::new(),
        };
        let there_is = match there_is.as_str() {
            "" => String::new(),
            there_is => format!(" ({there_is})"),
        };
        text += &match language {
            Language::English => format!(" There are matches without {by}{there_is}."),
            Language::Japanese => format!("{by}を外すと該当があります{there_is}。"),
        };
    }
    if sold_out.is_empty() && excluded.is_empty() {
        text += match language {
            Language::English => " keywords [] without filters lists everything in stock.",
            Language::Japanese => {
                "keywordsを[]にして絞り込みを外すと、在庫のある全商品を表示します。"
            }
        };
    }
    text
}

fn price_words(terms: &Terms, language: Language, facets: &Facets) -> Option<String> {
    let (without, with) = prices(terms, facets);
    let (low, high) = (without.lowest?, without.highest?);
    let (taxed_low, taxed_high) = (with.lowest?, with.highest?);
    Some(match language {
        Language::English => {
            format!("{low} to {high} yen without tax, {taxed_low} to {taxed_high} with tax")
        }
        Language::Japanese => {
            format!("税抜{low}円から{high}円、税込{taxed_low}円から{taxed_high}円")
        }
    })
}
