//! How the matches spread over categories, brands and prices.

use std::{cmp::Reverse, collections::HashMap};

use tantivy::{BitSet, columnar::StrColumn};

use crate::{Error, order::documents, segment::Segment};

/// More values than anybody reads.
const MOST_VALUES: usize = 100;

/// Counts over all matches; the most frequent values first, at most 100 of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    pub category: Vec<(String, u64)>,
    pub brand: Vec<(String, u64)>,
    /// None when nothing matches.
    pub price_min: Option<i64>,
    pub price_max: Option<i64>,
}

pub(crate) fn facets(segments: &[Segment], found: &[BitSet]) -> Result<Facets, Error> {
    let mut facets = Facets::default();
    for (segment, found) in segments.iter().zip(found) {
        for doc in documents(found) {
            let price = segment.prices.get_val(doc);
            facets.price_min = Some(facets.price_min.map_or(price, |least| least.min(price)));
            facets.price_max = Some(facets.price_max.map_or(price, |most| most.max(price)));
        }
    }
    facets.category = counts(segments, found, |segment| segment.categories.as_ref())?;
    facets.brand = counts(segments, found, |segment| segment.brands.as_ref())?;
    Ok(facets)
}

fn counts(
    segments: &[Segment],
    found: &[BitSet],
    column: impl Fn(&Segment) -> Option<&StrColumn>,
) -> Result<Vec<(String, u64)>, Error> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for (segment, found) in segments.iter().zip(found) {
        let Some(column) = column(segment) else {
            continue;
        };
        let mut by_ordinal: HashMap<u64, u64> = HashMap::new();
        for doc in documents(found) {
            if let Some(ordinal) = column.ords().first(doc) {
                *by_ordinal.entry(ordinal).or_default() += 1;
            }
        }
        for (ordinal, count) in by_ordinal {
            let mut value = String::new();
            column.ord_to_str(ordinal, &mut value)?;
            *counts.entry(value).or_default() += count;
        }
    }
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_unstable_by(|(a, m), (b, n)| (Reverse(m), a).cmp(&(Reverse(n), b)));
    counts.truncate(MOST_VALUES);
    Ok(counts)
}
