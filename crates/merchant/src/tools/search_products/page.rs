//! One page of a search.

use kit::{Result, Warning};
use search::Query;

use super::{
    cursor::{Cursor, DEEPEST},
    empty,
    input::{Input, SortBy},
    lookup::Lookup,
    output::{FacetCounts, Output},
};
use crate::{
    errors,
    finding::{Engine, Unavailable},
    page_contents::PageContents,
    store::{self, Product},
};

/// Sold-out candidates are skipped and more are requested: at most this often,
/// each time twice as many.
const ROUNDS: usize = 20;
const MOST_AT_ONCE: usize = 1_001;

const NOT_MATCHES: &str = "These are products in stock, not matches.";

pub struct Page<'a> {
    pub lookup: &'a Lookup<'a>,
    pub input: &'a Input,
}

impl Page<'_> {
    pub async fn answer(&self, query: &mut Query, cursor: Option<Cursor>) -> Result<Output> {
        // The database lists everything in stock, but it counts no facets. The engine
        // of the first page also gives the next ones: another may order differently.
        let is_list = match &cursor {
            Some(cursor) => cursor.engine.is_none(),
            None => query.text.is_empty() && !self.input.facets,
        };
        if !is_list {
            return self.search_index(query, cursor).await;
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

    /// A page of what a search engine found.
    async fn search_index(&self, query: &mut Query, cursor: Option<Cursor>) -> Result<Output> {
        let mut only = cursor.as_ref().and_then(|cursor| cursor.engine);
        query.offset = cursor.as_ref().map_or(0, |cursor| cursor.offset);
        query.limit = self.input.limit + 1;
        let (mut facets, mut degraded) = (None, None);
        let mut contents = self.contents();
        let mut next = None;
        for _ in 0..ROUNDS {
            let found = match self.lookup.state.finder.find(query, only).await {
                Ok(found) => found,
                Err(Unavailable(_)) if cursor.is_some() => return Err(errors::cursor_lapsed()),
                Err(Unavailable(reason)) if query.text.is_empty() => {
                    return self.without_facets(query, reason).await;
                }
                Err(Unavailable(reason)) => return self.fallback(query, reason, degraded).await,
            };
            // The next round and the next page must ask the same engine.
            only = Some(found.engine);
            degraded = degraded.or(found.degraded);
            let (asked, offset) = (query.limit, query.offset);
            facets = facets.or(found.facets);
            query.facets = false;
            let came = found.ids.len();
            let candidates = self.lookup.products(found.ids).await?;
            let all = self.input.include_sold_out;
            let wanted = candidates.into_iter().filter(|(_, it)| all || it.stock > 0);
            for (at, product) in wanted {
                if !contents.add(product)? {
                    next = Some(offset + at);
                    break;
                }
            }
            query.offset = offset + came;
            if next.is_some() || came < asked {
                break;
            }
            if contents.is_full() {
                next = Some(query.offset);
                break;
            }
            query.limit = (2 * query.limit).min(MOST_AT_ONCE);
        }
        if contents.products.is_empty() && cursor.is_none() && self.input.filter().is_empty() {
            let sold_out = empty::sold_out(self.lookup, query).await?;
            let reason = match sold_out.as_slice() {
                [] => "Nothing in stock matches.".to_owned(),
                some => format!("What matches is sold out: {}.", empty::names(some)),
            };
            return self.fallback(query, &reason, degraded).await;
        }
        let engine = only.unwrap_or(Engine::Embedded);
        // A full page has enough to choose from, so it is not worth a second search.
        let is_short = cursor.is_none() && contents.products.len() < query.limit;
        let better = match contents.products.first() {
            Some(first) if is_short && self.names_sold_out() => {
                empty::better_but_sold_out(self.lookup, query, engine, first.id).await?
            }
            _ => Vec::new(),
        };
        let mut output = output(contents, Some(engine), next, query, degraded);
        output.facets = facets.map(FacetCounts::from);
        output.warnings.extend(sold_out_warning(&better));
        Ok(output)
    }

    /// Whether an answer names sold-out products that match better. Another order than
    /// by relevance has no better matches.
    fn names_sold_out(&self) -> bool {
        let is_by_relevance = self.input.sort == SortBy::Relevance;
        is_by_relevance && !self.input.include_sold_out && !self.input.query().text.is_empty()
    }

    /// A page of everything in stock.
    async fn listed(&self, query: &Query, offset: usize) -> Result<Output> {
        let (contents, has_more) = self
            .fill_from_database(offset, self.input.limit + 1)
            .await?;
        let next = has_more.then_some(offset + contents.products.len());
        Ok(output(contents, None, next, query, None))
    }

    /// A list without the facets that were asked for, because no index is available.
    async fn without_facets(&self, query: &Query, reason: &str) -> Result<Output> {
        let mut output = self.listed(query, 0).await?;
        let message = format!("{reason} Categories and brands were not counted.");
        output.warnings.push(Warning::new("NO_FACETS", message));
        Ok(output)
    }

    /// When nothing is found, the document promises products in stock. They are marked
    /// so that nobody mistakes them for matches.
    async fn fallback(
        &self,
        query: &Query,
        reason: &str,
        degraded: Option<&str>,
    ) -> Result<Output> {
        let (contents, is_cut) = self.fill_from_database(0, self.input.limit).await?;
        let what_these_are = match contents.products.is_empty() {
            true => "Nothing else is in stock either.",
            false => NOT_MATCHES,
        };
        let next = is_cut.then_some(contents.products.len());
        let mut output = output(contents, None, next, query, degraded);
        output.fallback = Some(true);
        output.fallback_reason = Some(format!("{reason} {what_these_are}"));
        if self.input.facets {
            let everything = Query {
                in_stock_only: true,
                facets: true,
                ..Query::default()
            };
            let found = self.lookup.state.finder.find(&everything, None).await.ok();
            output.facets = found.and_then(|found| found.facets).map(FacetCounts::from);
        }
        Ok(output)
    }

    /// As many products in stock as fit on a page, and whether some are left.
    async fn fill_from_database(
        &self,
        offset: usize,
        count: usize,
    ) -> Result<(PageContents<'_>, bool)> {
        let mut contents = self.contents();
        for product in self.list(offset, count).await? {
            if !contents.add(product)? {
                return Ok((contents, true));
            }
        }
        Ok((contents, false))
    }

    async fn list(&self, offset: usize, limit: usize) -> Result<Vec<Product>> {
        let (filter, order, now) = (self.input.filter(), self.input.order(), self.lookup.now);
        let store = &self.lookup.state.store;
        store
            .query(self.lookup.budget.clone(), move |sql| {
                store::list(sql, &filter, order, (offset, limit), now)
            })
            .await
    }

    fn contents(&self) -> PageContents<'_> {
        PageContents::new(
            &self.lookup.state.terms,
            &self.input.fields,
            self.input.limit,
        )
    }
}

/// `engine`: who found the products; `None` for the database.
fn output(
    contents: PageContents<'_>,
    engine: Option<Engine>,
    next: Option<usize>,
    query: &Query,
    degraded: Option<&str>,
) -> Output {
    let mut warnings = warnings(degraded, &contents);
    Output {
        next_cursor: next_cursor(engine, next, query, &mut warnings),
        products: contents.products,
        fallback: None,
        fallback_reason: None,
        message: None,
        details: None,
        facets: None,
        warnings,
    }
}

/// Where the next page begins, with a warning if pages cannot reach it.
fn next_cursor(
    engine: Option<Engine>,
    next: Option<usize>,
    query: &Query,
    warnings: &mut Vec<Warning>,
) -> Option<String> {
    let cursor = Cursor::write(engine, next?, query);
    if cursor.is_none() {
        let message = format!(
            "There are more, but pages end after {DEEPEST} products. Narrow the search with \
             keywords or filters."
        );
        warnings.push(Warning::new("TOO_MANY_PAGES", message));
    }
    cursor
}

fn sold_out_warning(products: &[(i64, String)]) -> Option<Warning> {
    let ids: Vec<i64> = products.iter().map(|(id, _)| *id).collect();
    let message = format!(
        "These match better but are sold out: {}.",
        empty::names(products)
    );
    (!ids.is_empty()).then(|| Warning::new("SOLD_OUT", message).detail("product_ids", ids))
}

fn warnings(degraded: Option<&str>, contents: &PageContents<'_>) -> Vec<Warning> {
    let degraded = degraded.map(|reason| {
        let message = format!("{reason} The embedded index answered instead.");
        Warning::new("SEARCH_DEGRADED", message)
    });
    let cut = contents.is_cut.then(|| {
        let message = format!(
            "The page ends after {} products because it would be too large. Continue with \
             next_cursor, or ask for fewer fields.",
            contents.products.len()
        );
        Warning::new("PAGE_CUT", message)
    });
    degraded.into_iter().chain(cut).collect()
}
