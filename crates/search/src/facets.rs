//! Counts the matches by category and brand, and finds their price range.

use std::{cmp::Reverse, collections::HashMap};

use tantivy::{BitSet, columnar::StrColumn};

use crate::{error::Error, order::documents, query::Facets, segment::Segment};

/// The most values to return for one facet.
const MOST_VALUES: usize = 100;

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
        let mut by_ordinal = vec![0_u64; column.dictionary().num_terms()];
        for doc in documents(found) {
            let ordinal = column.ords().first(doc);
            if let Some(count) = ordinal.and_then(|at| by_ordinal.get_mut(at as usize)) {
                *count += 1;
            }
        }
        let (ordinals, found): (Vec<u64>, Vec<u64>) = (0..)
            .zip(by_ordinal)
            .filter(|(_, count)| *count > 0)
            .unzip();
        let mut found = found.into_iter();
        column
            .dictionary()
            .sorted_ords_to_term_cb(&ordinals, |value| {
                let value = String::from_utf8_lossy(value).into_owned();
                *counts.entry(value).or_default() += found.next().unwrap_or(0);
            })?;
    }
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_unstable_by(|(a, m), (b, n)| (Reverse(m), a).cmp(&(Reverse(n), b)));
    counts.truncate(MOST_VALUES);
    Ok(counts)
}
