//! Filters and sorts matches.

use std::{cmp::Reverse, collections::BinaryHeap};

use tantivy::{BitSet, DocId, columnar::StrColumn};

use crate::{
    error::Error,
    parts::folded,
    query::{Query, Sort},
    segment::Segment,
};

/// The filters of a query, prepared for one segment.
pub(crate) struct Filter<'a> {
    segment: &'a Segment,
    category: Label<'a>,
    brand: Label<'a>,
    price: Option<(i64, i64)>,
    in_stock_only: bool,
}

impl<'a> Filter<'a> {
    pub fn new(segment: &'a Segment, query: &Query) -> Result<Filter<'a>, Error> {
        let price = (query.min_price.is_some() || query.max_price.is_some()).then(|| {
            (
                query.min_price.unwrap_or(i64::MIN),
                query.max_price.unwrap_or(i64::MAX),
            )
        });
        Ok(Filter {
            segment,
            category: Label::new(segment.categories.as_ref(), &query.category)?,
            brand: Label::new(segment.brands.as_ref(), &query.brand)?,
            price,
            in_stock_only: query.in_stock_only,
        })
    }

    pub fn accepts(&self, doc: DocId) -> bool {
        self.segment.is_alive(doc)
            && (!self.in_stock_only || self.segment.in_stock.get_val(doc))
            && self.price.is_none_or(|(least, most)| {
                let price = self.segment.prices.get_val(doc);
                least <= price && price <= most
            })
            && self.category.accepts(doc)
            && self.brand.accepts(doc)
    }
}

enum Label<'a> {
    Any,
    /// No product of this segment has the wanted label.
    None,
    OneOf(&'a StrColumn, Vec<u64>),
}

impl<'a> Label<'a> {
    fn new(column: Option<&'a StrColumn>, wanted: &[String]) -> Result<Label<'a>, Error> {
        if wanted.is_empty() {
            return Ok(Label::Any);
        }
        let Some(column) = column else {
            return Ok(Label::None);
        };
        let mut ordinals = Vec::new();
        let mut unknown = Vec::new();
        for label in wanted {
            match column.dictionary().term_ord(label.as_bytes())? {
                Some(ordinal) => ordinals.push(ordinal),
                None => unknown.push(folded(label)),
            }
        }
        if !unknown.is_empty() {
            let mut stream = column.dictionary().stream()?;
            while stream.advance() {
                let label = std::str::from_utf8(stream.key()).unwrap_or_default();
                if unknown.contains(&folded(label)) {
                    ordinals.push(stream.term_ord());
                }
            }
        }
        Ok(if ordinals.is_empty() {
            Label::None
        } else {
            Label::OneOf(column, ordinals)
        })
    }

    fn accepts(&self, doc: DocId) -> bool {
        match self {
            Label::Any => true,
            Label::None => false,
            Label::OneOf(column, ordinals) => column
                .ords()
                .first(doc)
                .is_some_and(|ordinal| ordinals.contains(&ordinal)),
        }
    }
}

/// Keeps the `most` smallest of the offered keys.
pub(crate) struct Smallest<K: Ord> {
    most: usize,
    heap: BinaryHeap<K>,
}

impl<K: Ord> Smallest<K> {
    pub fn new(most: usize) -> Smallest<K> {
        Smallest {
            most,
            heap: BinaryHeap::new(),
        }
    }

    pub fn would_keep(&self, key: &K) -> bool {
        self.heap.len() < self.most || self.heap.peek().is_some_and(|largest| key < largest)
    }

    pub fn offer(&mut self, key: K) {
        if self.heap.len() < self.most {
            self.heap.push(key);
        } else if let Some(mut largest) = self.heap.peek_mut()
            && key < *largest
        {
            *largest = key;
        }
    }

    pub fn into_sorted(self) -> Vec<K> {
        self.heap.into_sorted_vec()
    }
}

impl Smallest<(u64, i64)> {
    /// Like `offer`, but computes the second half only if it is needed.
    pub fn offer_with(&mut self, first: u64, second: impl FnOnce() -> i64) {
        let full = self.heap.len() >= self.most;
        if full && self.heap.peek().is_none_or(|(largest, _)| first > *largest) {
            return;
        }
        self.offer((first, second()));
    }
}

/// The first `most` ids of `found`, which has one set for each segment.
pub(crate) fn sorted(
    segments: &[Segment],
    found: &[BitSet],
    sort: Sort,
    most: usize,
) -> Result<Vec<i64>, Error> {
    let each = segments.iter().zip(found);
    Ok(match sort {
        Sort::Relevance => smallest(each, most, |segment, doc| segment.ids.get_val(doc))
            .into_iter()
            .collect(),
        Sort::PriceAsc => ids(smallest(each, most, |segment, doc| {
            (segment.prices.get_val(doc), segment.ids.get_val(doc))
        })),
        Sort::PriceDesc => ids(smallest(each, most, |segment, doc| {
            (
                Reverse(segment.prices.get_val(doc)),
                segment.ids.get_val(doc),
            )
        })),
        Sort::Newest => smallest(each, most, |segment, doc| Reverse(segment.ids.get_val(doc)))
            .into_iter()
            .map(|Reverse(id)| id)
            .collect(),
        Sort::Name => by_name(each, most)?,
    })
}

fn ids<K>(keys: Vec<(K, i64)>) -> Vec<i64> {
    keys.into_iter().map(|(_, id)| id).collect()
}

fn smallest<'a, K: Ord>(
    each: impl Iterator<Item = (&'a Segment, &'a BitSet)>,
    most: usize,
    key: impl Fn(&Segment, DocId) -> K,
) -> Vec<K> {
    let mut keys = Smallest::new(most);
    for (segment, found) in each {
        for doc in documents(found) {
            keys.offer(key(segment, doc));
        }
    }
    keys.into_sorted()
}

/// Within a segment names are compared by their position in its dictionary.
/// Only the best of each segment are read as text.
fn by_name<'a>(
    each: impl Iterator<Item = (&'a Segment, &'a BitSet)>,
    most: usize,
) -> Result<Vec<i64>, Error> {
    let mut all = Smallest::new(most);
    for (segment, found) in each {
        let Some(names) = &segment.sort_names else {
            continue;
        };
        let mut best = Smallest::new(most);
        for doc in documents(found) {
            let place = names.ords().first(doc).unwrap_or(0);
            best.offer((place, segment.ids.get_val(doc)));
        }
        for (place, id) in best.into_sorted() {
            let mut name = String::new();
            names.ord_to_str(place, &mut name)?;
            all.offer((name, id));
        }
    }
    Ok(ids(all.into_sorted()))
}

pub(crate) fn documents(set: &BitSet) -> impl Iterator<Item = DocId> + '_ {
    let buckets = set.max_value().div_ceil(64);
    (0..buckets).flat_map(move |bucket| {
        set.tinyset(bucket)
            .into_iter()
            .map(move |bit| bucket * 64 + bit)
    })
}
