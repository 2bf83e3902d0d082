//! The arguments of `search_products`.

use schemars::JsonSchema;
use search::{Query, Sort};
use serde::{Deserialize, Serialize};

use crate::{
    answers::ProductField,
    model::terms::Terms,
    store::{Filter, Order},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Words that one product has all of; [] lists everything in stock. 検索キーワードリスト
    #[schemars(length(max = 100), inner(length(max = 1000)))]
    pub keywords: Vec<String>,
    /// 最大検索結果数
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: usize,
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub category: Vec<String>,
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub brand: Vec<String>,
    /// Yen, without tax, inclusive
    #[schemars(range(min = 0))]
    pub min_price: Option<i64>,
    /// Yen, without tax, inclusive
    #[schemars(range(min = 0))]
    pub max_price: Option<i64>,
    /// min_price and max_price are with tax (税込)
    #[serde(default)]
    pub price_includes_tax: bool,
    /// Also what is sold out
    #[serde(default)]
    pub include_sold_out: bool,
    #[serde(default)]
    pub sort: SortBy,
    /// Count matches by category and brand
    #[serde(default)]
    pub facets: bool,
    /// Only these
    #[serde(default)]
    pub fields: Vec<ProductField>,
    /// next_cursor, with otherwise the same arguments
    pub cursor: Option<String>,
}

fn default_limit() -> usize {
    20
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortBy {
    #[default]
    Relevance,
    PriceAsc,
    PriceDesc,
    Newest,
    Name,
}

impl Input {
    /// With the bounds of the price turned into prices without tax.
    pub fn without_tax(mut self, terms: &Terms) -> Self {
        if std::mem::take(&mut self.price_includes_tax) {
            self.min_price = self.min_price.map(|price| terms.lowest_price_from(price));
            self.max_price = self
                .max_price
                .map(|price| terms.highest_price_within(price));
        }
        self
    }

    /// The search for an index.
    pub fn query(&self) -> Query {
        Query {
            text: self.keywords.join(" ").trim().to_owned(),
            category: self.category.clone(),
            brand: self.brand.clone(),
            min_price: self.min_price,
            max_price: self.max_price,
            in_stock_only: !self.include_sold_out,
            sort: match self.sort {
                SortBy::Relevance => Sort::Relevance,
                SortBy::PriceAsc => Sort::PriceAsc,
                SortBy::PriceDesc => Sort::PriceDesc,
                SortBy::Newest => Sort::Newest,
                SortBy::Name => Sort::Name,
            },
            facets: self.facets,
            ..Query::default()
        }
    }

    /// The same filters for the database.
    pub fn filter(&self) -> Filter {
        Filter {
            categories: self.category.clone(),
            brands: self.brand.clone(),
            min_price: self.min_price,
            max_price: self.max_price,
            include_sold_out: self.include_sold_out,
        }
    }

    /// The same order for the database, which knows no relevance.
    pub fn order(&self) -> Order {
        match self.sort {
            SortBy::Relevance => Order::Oldest,
            SortBy::PriceAsc => Order::Cheapest,
            SortBy::PriceDesc => Order::Dearest,
            SortBy::Newest => Order::Newest,
            SortBy::Name => Order::Name,
        }
    }
}
