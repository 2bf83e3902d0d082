//! `search_products`: what the shop has that somebody means.

use std::sync::Arc;

use kit::{Context, Effect, Result, Run, Tool, context::Language, sql::Budget};
use schemars::JsonSchema;
use search::{Query, Sort};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    LOOKS, arguments,
    cursor::{Cursor, DEEPEST},
    views::Views,
};
use crate::{
    answers::{FIELDS, ProductView},
    errors,
    finding::{Engine, NoIndex},
    shop::Shop,
    store::{self, Filter, Order, Product},
};

/// Sold-out candidates are passed over; more of them are asked for, so often and
/// ever more at once.
const ROUNDS: usize = 20;
const MOST_AT_ONCE: usize = 1_001;

const NOT_MATCHES: &str = "These are products in stock, not matches.";

#[derive(Deserialize)]
pub struct Input {
    keywords: Vec<String>,
    #[serde(default = "default_limit")]
    limit: usize,
    #[serde(default)]
    category: Vec<String>,
    #[serde(default)]
    brand: Vec<String>,
    min_price: Option<i64>,
    max_price: Option<i64>,
    #[serde(default)]
    sort: SortBy,
    #[serde(default)]
    facets: bool,
    #[serde(default)]
    fields: Vec<String>,
    cursor: Option<String>,
}

fn default_limit() -> usize {
    20
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SortBy {
    #[default]
    Relevance,
    PriceAsc,
    PriceDesc,
    Newest,
    Name,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "keywords": {
                "type": "array",
                "items": { "type": "string", "maxLength": 1000 },
                "description": "検索キーワードリスト",
                "maxItems": 100
            },
            "limit": {
                "type": "integer",
                "description": "最大検索結果数",
                "default": 20,
                "minimum": 1,
                "maximum": 1000
            },
            "category": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Only these categories",
                "maxItems": 50
            },
            "brand": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Only these brands",
                "maxItems": 50
            },
            "min_price": { "type": "integer", "description": "Yen, without tax", "minimum": 0 },
            "max_price": { "type": "integer", "description": "Yen, without tax", "minimum": 0 },
            "sort": {
                "type": "string",
                "enum": ["relevance", "price_asc", "price_desc", "newest", "name"],
                "default": "relevance"
            },
            "facets": {
                "type": "boolean",
                "description": "Also count the matches by category and brand",
                "default": false
            },
            "fields": {
                "type": "array",
                "items": { "type": "string", "enum": FIELDS },
                "description": "Only these fields of each product"
            },
            "cursor": {
                "type": "string",
                "description": "next_cursor of the page before, with otherwise the same arguments"
            }
        },
        "required": ["keywords"]
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    products: Vec<ProductView>,
    /// True when nothing matched: these are simply products in stock.
    #[serde(skip_serializing_if = "Option::is_none")]
    fallback: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fallback_reason: Option<String>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
    /// Who found them: embedded, meilisearch or database.
    engine: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    facets: Option<FacetsView>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct FacetsView {
    /// How many matches each category has.
    category: Map<String, Value>,
    brand: Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Warning {
    code: &'static str,
    message: String,
}

pub fn tool(shop: &Arc<Shop>) -> Tool {
    Tool {
        name: "search_products",
        aliases: &[],
        title: "商品検索 / Search products",
        description: "データベースから商品を検索",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: LOOKS,
        effect: Effect::Read,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            for name in ["keywords", "category", "brand", "fields"] {
                arguments::texts(arguments, name);
            }
            for name in ["limit", "min_price", "max_price"] {
                arguments::integer(arguments, name);
            }
            arguments::truth(arguments, "facets");
        },
        meta: None,
        personal: &["keywords"],
        card: None,
        inner_calls: None,
        run: Run::shared(shop, handle),
    }
}

async fn handle(shop: Arc<Shop>, context: Context, input: Input) -> Result<Output> {
    let text = input.keywords.join(" ");
    let mut query = Query {
        text: text.trim().to_owned(),
        category: input.category.clone(),
        brand: input.brand.clone(),
        min_price: input.min_price,
        max_price: input.max_price,
        in_stock_only: true,
        sort: match input.sort {
            SortBy::Relevance => Sort::Relevance,
            SortBy::PriceAsc => Sort::PriceAsc,
            SortBy::PriceDesc => Sort::PriceDesc,
            SortBy::Newest => Sort::Newest,
            SortBy::Name => Sort::Name,
        },
        facets: input.facets,
        ..Query::default()
    };
    let cursor = Cursor::read(input.cursor.as_deref(), &query)?;
    let page = Page {
        shop: &shop,
        input: &input,
        now: shop.now(&context),
        budget: context.budget(),
    };
    let mut output = page.answer(&mut query, cursor).await?;
    if output.products.is_empty() {
        output.message = Some(page.why_empty(context.language).await?);
    }
    Ok(output)
}

struct Page<'a> {
    shop: &'a Arc<Shop>,
    input: &'a Input,
    now: i64,
    budget: Budget,
}

impl Page<'_> {
    async fn answer(&self, query: &mut Query, cursor: Option<Cursor>) -> Result<Output> {
        // A list of everything is the database's to give; only it counts nothing.
        // Whoever gave the first page gives the others: the next may order otherwise.
        let is_list = match &cursor {
            Some(cursor) => cursor.engine.is_none(),
            None => query.text.is_empty() && !self.input.facets,
        };
        if !is_list {
            return self.found(query, cursor).await;
        }
        let offset = cursor.map_or(0, |cursor| cursor.offset);
        let mut output = self.listed(query, offset).await?;
        if !query.text.is_empty() {
            // These follow a page of products that did not match either.
            output.fallback = Some(true);
            output.fallback_reason = Some(NOT_MATCHES.into());
        }
        Ok(output)
    }

    /// A page of what the search engine found.
    async fn found(&self, query: &mut Query, cursor: Option<Cursor>) -> Result<Output> {
        let mut only = cursor.as_ref().and_then(|cursor| cursor.engine);
        query.offset = cursor.as_ref().map_or(0, |cursor| cursor.offset);
        query.limit = self.input.limit + 1;
        let (mut facets, mut degraded) = (None, None);
        let mut views = self.views();
        let mut next = None;
        for _ in 0..ROUNDS {
            let found = match self.shop.finder.find(query, only).await {
                Ok(found) => found,
                Err(NoIndex(_)) if cursor.is_some() => return Err(errors::cursor_lapsed()),
                Err(NoIndex(reason)) if query.text.is_empty() => {
                    return self.uncounted(query, reason).await;
                }
                Err(NoIndex(reason)) => return self.fallback(query, reason, degraded).await,
            };
            // The next round, and the next page, must ask the same engine.
            only = Some(found.engine);
            degraded = degraded.or(found.degraded);
            let (asked, offset) = (query.limit, query.offset);
            facets = facets.or(found.facets);
            query.facets = false;
            let came = found.ids.len();
            for (at, product) in self.in_stock(found.ids).await? {
                if !views.add(product)? {
                    next = Some(offset + at);
                    break;
                }
            }
            query.offset = offset + came;
            if next.is_some() || came < asked {
                break;
            }
            if views.is_full() {
                next = Some(query.offset);
                break;
            }
            query.limit = (2 * query.limit).min(MOST_AT_ONCE);
        }
        if views.products.is_empty() && cursor.is_none() && self.filter().is_empty() {
            let reason = "Nothing in stock matches.";
            return self.fallback(query, reason, degraded).await;
        }
        let engine = only.unwrap_or(Engine::Embedded);
        let mut warnings = warnings(degraded, &views);
        let next_cursor = next_cursor(Some(engine), next, query, &mut warnings);
        Ok(Output {
            products: views.products,
            fallback: None,
            fallback_reason: None,
            message: None,
            engine: engine.as_str(),
            next_cursor,
            facets: facets.map(|facets| FacetsView {
                category: counts(facets.category),
                brand: counts(facets.brand),
            }),
            warnings,
        })
    }

    /// Those of the candidates that can be sold, each with its place.
    async fn in_stock(&self, ids: Vec<i64>) -> Result<Vec<(usize, Product)>> {
        let now = self.now;
        self.shop
            .store
            .query(self.budget.clone(), move |sql| {
                let mut found = store::products(sql, &ids, now)?;
                Ok(ids
                    .iter()
                    .enumerate()
                    .filter_map(|(at, id)| Some((at, found.remove(id)?)))
                    .filter(|(_, product)| product.stock > 0)
                    .collect())
            })
            .await
    }

    /// A page of everything in stock.
    async fn listed(&self, query: &Query, offset: usize) -> Result<Output> {
        let (views, has_more) = self.some(offset, self.input.limit + 1).await?;
        let next = has_more.then_some(offset + views.products.len());
        let mut warnings = warnings(None, &views);
        let next_cursor = next_cursor(None, next, query, &mut warnings);
        Ok(Output {
            products: views.products,
            fallback: None,
            fallback_reason: None,
            message: None,
            engine: "database",
            next_cursor,
            facets: None,
            warnings,
        })
    }

    /// A list that should have been counted, too, by an index that can't be asked.
    async fn uncounted(&self, query: &Query, reason: &str) -> Result<Output> {
        let mut output = self.listed(query, 0).await?;
        output.warnings.push(Warning {
            code: "NO_FACETS",
            message: format!("{reason} Categories and brands were not counted."),
        });
        Ok(output)
    }

    /// What the document promises when nothing is found: products in stock,
    /// marked so that nobody takes them for matches.
    async fn fallback(
        &self,
        query: &Query,
        reason: &str,
        degraded: Option<&str>,
    ) -> Result<Output> {
        let (views, is_cut) = self.some(0, self.input.limit).await?;
        let what_these_are = match views.products.is_empty() {
            true => "Nothing else is in stock either.",
            false => NOT_MATCHES,
        };
        let next = is_cut.then_some(views.products.len());
        let mut warnings = warnings(degraded, &views);
        Ok(Output {
            next_cursor: next_cursor(None, next, query, &mut warnings),
            products: views.products,
            fallback: Some(true),
            fallback_reason: Some(format!("{reason} {what_these_are}")),
            message: None,
            engine: "database",
            facets: None,
            warnings,
        })
    }

    /// As many of these products in stock as a page takes, and whether some are left.
    async fn some(&self, offset: usize, count: usize) -> Result<(Views<'_>, bool)> {
        let mut views = self.views();
        for product in self.list(offset, count).await? {
            if !views.add(product)? {
                return Ok((views, true));
            }
        }
        Ok((views, false))
    }

    async fn why_empty(&self, language: Language) -> Result<&'static str> {
        let store = &self.shop.store;
        let is_empty = store.query(self.budget.clone(), store::is_empty).await?;
        Ok(match (is_empty, language) {
            (true, Language::English) => errors::NO_PRODUCTS,
            (true, Language::Japanese) => {
                "商品がまだ登録されていません。`madoguchi demo load merchant`でサンプルを読み込むか、\
                 `madoguchi import merchant FILE`で取り込んでください。"
            }
            (false, Language::English) => {
                "Nothing in stock fits. keywords [] without filters lists everything in stock."
            }
            (false, Language::Japanese) => {
                "在庫のある該当商品がありません。keywordsを[]にして絞り込みを外すと、\
                 在庫のある全商品を表示します。"
            }
        })
    }

    async fn list(&self, offset: usize, limit: usize) -> Result<Vec<Product>> {
        let (filter, now) = (self.filter(), self.now);
        let order = match self.input.sort {
            SortBy::Relevance => Order::Oldest,
            SortBy::PriceAsc => Order::Cheapest,
            SortBy::PriceDesc => Order::Dearest,
            SortBy::Newest => Order::Newest,
            SortBy::Name => Order::Name,
        };
        self.shop
            .store
            .query(self.budget.clone(), move |sql| {
                store::list(sql, &filter, order, (offset, limit), now)
            })
            .await
    }

    fn filter(&self) -> Filter {
        Filter {
            categories: self.input.category.clone(),
            brands: self.input.brand.clone(),
            min_price: self.input.min_price,
            max_price: self.input.max_price,
        }
    }

    fn views(&self) -> Views<'_> {
        Views::new(&self.shop.terms, &self.input.fields, self.input.limit)
    }
}

/// Where the next page begins; a warning when there is more than pages reach.
fn next_cursor(
    engine: Option<Engine>,
    next: Option<usize>,
    query: &Query,
    warnings: &mut Vec<Warning>,
) -> Option<String> {
    let cursor = Cursor::write(engine, next?, query);
    if cursor.is_none() {
        warnings.push(Warning {
            code: "TOO_MANY_PAGES",
            message: format!(
                "There is more, but pages end after {DEEPEST} products. Narrow the search with \
                 keywords or filters."
            ),
        });
    }
    cursor
}

fn counts(counts: Vec<(String, u64)>) -> Map<String, Value> {
    counts
        .into_iter()
        .map(|(value, count)| (value, count.into()))
        .collect()
}

fn warnings(degraded: Option<&str>, views: &Views<'_>) -> Vec<Warning> {
    let degraded = degraded.map(|reason| Warning {
        code: "SEARCH_DEGRADED",
        message: format!("{reason} The embedded index was asked instead."),
    });
    let cut = views.is_cut.then(|| Warning {
        code: "PAGE_CUT",
        message: format!(
            "The page ends after {} products, or it would be too large. Go on with next_cursor, \
             or ask for fewer fields.",
            views.products.len()
        ),
    });
    degraded.into_iter().chain(cut).collect()
}
