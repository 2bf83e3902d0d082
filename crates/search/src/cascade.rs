//! The stages of a search: strict and cheap first, then wider.
//!
//! 1. Exact: every term is a word of the name; then a word of the head (name,
//!    brand, category, keywords, SKU); then part of a word there; then anywhere.
//!    Each tier ranks after the one before, and runs only while the page is not
//!    full. Then the same for texts with the same meaning.
//! 2. Fuzzy, if there are few exact matches: terms may differ from words of the
//!    catalogue by one or two typos.
//! 3. Relaxed, if no product has every term: the products with the most of them,
//!    but at least half. Compounds are split into words of the catalogue.
//!
//! Which stages run depends only on the query, not on the page, so that pages
//! are consistent.

use tantivy::{BitSet, DocId};

use crate::{
    analysis,
    error::Error,
    facets,
    matching::{DocList, SimilarWords, Term, Tier, intersect, with_most_pairs},
    order::{Filter, Smallest, sorted},
    query::{Hits, Query, Sort, Strategy},
    segment::Segment,
};

/// With fewer exact matches than this, typos are considered too.
const FEW: usize = 3;
/// Counting may stop at this many matches.
const PLENTY: usize = 100;
/// A relaxed match has at least this share of the query.
const RELAXED_SHARE: f32 = 0.5;

pub(crate) fn search(segments: &[Segment], query: &Query) -> Result<Hits, Error> {
    let mut search = Search::new(segments, query)?;
    let terms = Term::all_of(&query.text);
    let alternatives = query.alternatives.iter().map(|text| Term::all_of(text));
    let alternatives: Vec<_> = alternatives.filter(|terms| !terms.is_empty()).collect();
    let strategy = if query.text.trim().is_empty() {
        search.everything();
        Strategy::All
    } else if terms.is_empty() {
        Strategy::Exact
    } else {
        search.cascade(&terms, &alternatives)?
    };
    search.hits(strategy)
}

struct Search<'a> {
    segments: &'a [Segment],
    query: &'a Query,
    filters: Vec<Filter<'a>>,
    /// One set for each segment.
    found: Vec<BitSet>,
    count: usize,
    /// The best ids up to the end of the page.
    ranked: Vec<i64>,
    complete: bool,
}

/// Order within a tier: shorter names first, then lower ids.
type Rank = (u64, i64);

impl<'a> Search<'a> {
    fn new(segments: &'a [Segment], query: &'a Query) -> Result<Search<'a>, Error> {
        Ok(Search {
            segments,
            query,
            filters: segments
                .iter()
                .map(|segment| Filter::new(segment, query))
                .collect::<Result<_, _>>()?,
            found: segments
                .iter()
                .map(|segment| BitSet::with_max_value(segment.max_doc()))
                .collect(),
            count: 0,
            ranked: Vec::new(),
            complete: true,
        })
    }

    fn page_end(&self) -> usize {
        self.query.offset.saturating_add(self.query.limit)
    }

    /// Whether the page can be filled without knowing every match.
    fn by_rank(&self) -> bool {
        self.query.sort == Sort::Relevance
    }

    fn everything(&mut self) {
        if self.by_rank() && !self.query.facets {
            return self.first_of_everything();
        }
        for (found, filter) in self.found.iter_mut().zip(&self.filters) {
            for doc in 0..found.max_value() {
                if filter.accepts(doc) {
                    found.insert(doc);
                    self.count += 1;
                }
            }
        }
    }

    /// The lowest ids. Once the page is full, products with a higher id are
    /// skipped.
    fn first_of_everything(&mut self) {
        let enough = self.page_end().max(PLENTY);
        let mut best = Smallest::new(self.page_end());
        let mut ids = [0; 512];
        for (segment, filter) in self.segments.iter().zip(&self.filters) {
            for first in (0..segment.max_doc()).step_by(ids.len()) {
                let left = (segment.max_doc() - first) as usize;
                let ids = ids.split_at_mut(left.min(512)).0;
                segment.ids.get_range(u64::from(first), ids);
                for (doc, id) in (first..).zip(ids) {
                    if self.count >= enough && !best.would_keep(id) {
                        self.complete = false;
                    } else if filter.accepts(doc) {
                        self.count += 1;
                        best.offer(*id);
                    }
                }
            }
        }
        self.ranked = best.into_sorted();
    }

    fn cascade(&mut self, terms: &[Term], alternatives: &[Vec<Term>]) -> Result<Strategy, Error> {
        self.exact(terms)?;
        for terms in alternatives {
            self.exact(terms)?;
        }
        if self.count >= FEW {
            return Ok(Strategy::Exact);
        }
        let exact = self.count;
        self.fuzzy(terms)?;
        if self.count > exact {
            return Ok(Strategy::Fuzzy);
        }
        if self.count == 0 {
            self.relaxed(terms)?;
            return Ok(Strategy::Relaxed);
        }
        Ok(Strategy::Exact)
    }

    fn exact(&mut self, terms: &[Term]) -> Result<(), Error> {
        for tier in [Tier::Name, Tier::Head, Tier::HeadPart, Tier::Anywhere] {
            let full = self.count >= self.page_end().max(PLENTY);
            if full && self.by_rank() && !self.query.facets {
                self.complete = false;
                return Ok(());
            }
            self.tier(|segment, lists| {
                for term in terms {
                    if !term.lists(segment, tier, lists)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            })?;
        }
        Ok(())
    }

    fn fuzzy(&mut self, terms: &[Term]) -> Result<(), Error> {
        let most = terms.iter().map(Term::typos).max().unwrap_or(0);
        let before = self.count;
        for typos in 1..=most.max(1) {
            let similar = terms
                .iter()
                .map(|term| self.similar(term, typos, terms.len() > 1))
                .collect::<Result<Vec<_>, _>>()?;
            self.tier(|segment, lists| {
                let mut any = false;
                for (term, similar) in terms.iter().zip(&similar) {
                    match similar.union(segment)? {
                        Some(mut union) => {
                            any = true;
                            term.find(segment, |doc| union.insert(doc))?;
                            lists.extend(union.into_list());
                        }
                        None if term.lists(segment, Tier::Anywhere, lists)? => {}
                        None => return Ok(false),
                    }
                }
                // Without similar words the exact search has
                // found it already.
                Ok(any)
            })?;
            if self.count > before {
                return Ok(());
            }
        }
        if let [term] = terms {
            self.rank(|segment, found| with_most_pairs(segment, term, found))?;
        }
        Ok(())
    }

    /// Words that `term` may be a misspelling of. If the query has several
    /// words, one that is in the catalogue counts as correct.
    fn similar(&self, term: &Term, typos: u8, beside_others: bool) -> Result<SimilarWords, Error> {
        let typos = if beside_others && self.knows(term)? {
            0
        } else {
            typos.min(term.typos())
        };
        Ok(SimilarWords::new(term, typos))
    }

    fn knows(&self, term: &Term) -> Result<bool, Error> {
        for segment in self.segments {
            if term.is_word_of(segment)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn relaxed(&mut self, terms: &[Term]) -> Result<(), Error> {
        let mut wanted: Vec<(Term, f32)> = Vec::new();
        for term in terms {
            let share = 1.0 / terms.len() as f32;
            let pieces = self.pieces(term)?;
            if pieces.iter().all(|piece| *piece == term.folded) {
                wanted.push((term.clone(), share));
                continue;
            }
            // The last piece says what the thing is: 子供用|自転車.
            let last = pieces.len().saturating_sub(1);
            let weights: Vec<f32> = (0..)
                .zip(&pieces)
                .map(|(at, piece)| {
                    piece.chars().count() as f32 * if at == last { 2.0 } else { 1.0 }
                })
                .collect();
            let sum: f32 = weights.iter().sum();
            for (piece, weight) in pieces.iter().zip(weights) {
                wanted.push((term.piece(piece), share * weight / sum));
            }
        }
        if wanted.len() < 2 && wanted.iter().all(|(term, _)| terms.contains(term)) {
            // The exact search has looked for it already.
            return Ok(());
        }
        let similar = wanted
            .iter()
            .map(|(term, _)| self.similar(term, 1, true))
            .collect::<Result<Vec<_>, _>>()?;
        let mut best = RELAXED_SHARE;
        let mut shares = Vec::new();
        for segment in self.segments {
            let mut share_of = Shares::new(segment.max_doc());
            for ((term, share), similar) in wanted.iter().zip(&similar) {
                match similar.union(segment)? {
                    Some(mut union) => {
                        term.find(segment, |doc| union.insert(doc))?;
                        let lists = union.into_list().into_iter().collect();
                        intersect(lists, |doc| share_of.add(doc, *share));
                    }
                    None => term.find(segment, |doc| share_of.add(doc, *share))?,
                }
            }
            shares.push(share_of.0);
        }
        for (filter, share_of) in self.filters.iter().zip(&shares) {
            for (doc, share) in (0..).zip(share_of) {
                if *share > best && filter.accepts(doc) {
                    best = *share;
                }
            }
        }
        // Allows for rounding, since shares are sums of fractions.
        let least = best - 0.001;
        let mut number = 0;
        self.rank(|_, found| {
            let share_of = shares.get(number).map(Vec::as_slice).unwrap_or_default();
            number += 1;
            for (doc, share) in (0..).zip(share_of) {
                if *share >= least {
                    found(doc);
                }
            }
            Ok(())
        })
    }

    /// Splits a compound into words of the catalogue, the longest first.
    /// Unknown parts stay in one piece.
    fn pieces(&self, term: &Term) -> Result<Vec<String>, Error> {
        if !term.is_japanese() {
            return Ok(vec![term.folded.clone()]);
        }
        let letters: Vec<char> = term.folded.chars().collect();
        let mut pieces = Vec::new();
        let mut unknown = String::new();
        let mut rest = letters.as_slice();
        while let Some((first, after)) = rest.split_first() {
            match self.longest_word(rest, letters.len())? {
                Some(length) => {
                    if !unknown.is_empty() {
                        pieces.push(std::mem::take(&mut unknown));
                    }
                    pieces.push(rest.iter().take(length).collect());
                    rest = rest.get(length..).unwrap_or_default();
                }
                None => {
                    unknown.push(*first);
                    rest = after;
                }
            }
        }
        pieces.push(unknown);
        pieces.retain(|piece| analysis::is_meaningful(piece));
        Ok(pieces)
    }

    fn longest_word(&self, letters: &[char], whole: usize) -> Result<Option<usize>, Error> {
        let longest = letters.len().min(whole.saturating_sub(1)).min(16);
        for length in (2..=longest).rev() {
            let word: String = letters.iter().take(length).collect();
            for segment in self.segments {
                if segment.head.has(&word)? {
                    return Ok(Some(length));
                }
            }
        }
        Ok(None)
    }

    /// Adds the documents that are in all lists of a segment.
    fn tier(
        &mut self,
        mut lists: impl FnMut(&Segment, &mut Vec<DocList>) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        self.rank(|segment, found| {
            let mut all = Vec::new();
            if lists(segment, &mut all)? {
                intersect(all, found);
            }
            Ok(())
        })
    }

    /// Adds the documents that `find` reports and the filters accept, after
    /// the present ones.
    fn rank(
        &mut self,
        mut find: impl FnMut(&Segment, &mut dyn FnMut(DocId)) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let room = self.page_end().saturating_sub(self.ranked.len());
        let mut best: Smallest<Rank> = Smallest::new(if self.by_rank() { room } else { 0 });
        let each = self.segments.iter().zip(&self.filters).zip(&mut self.found);
        for ((segment, filter), found) in each {
            find(segment, &mut |doc| {
                if filter.accepts(doc) && found.insert(doc) {
                    self.count += 1;
                    best.offer_with(segment.lengths.get_val(doc), || segment.ids.get_val(doc));
                }
            })?;
        }
        self.ranked
            .extend(best.into_sorted().into_iter().map(|(_, id)| id));
        Ok(())
    }

    fn hits(self, strategy: Strategy) -> Result<Hits, Error> {
        let Query { offset, limit, .. } = *self.query;
        let end = self.page_end();
        let ids = if self.by_rank() && (strategy != Strategy::All || !self.query.facets) {
            self.ranked
        } else {
            sorted(self.segments, &self.found, self.query.sort, end)?
        };
        let facets = self
            .query
            .facets
            .then(|| facets::facets(self.segments, &self.found))
            .transpose()?;
        Ok(Hits {
            ids: ids.into_iter().skip(offset).take(limit).collect(),
            total: self.count,
            total_is_exact: self.complete,
            facets,
            strategy,
        })
    }
}

/// The share of the query that each document has. Empty until one has any.
struct Shares(Vec<f32>, DocId);

impl Shares {
    fn new(max_doc: DocId) -> Shares {
        Shares(Vec::new(), max_doc)
    }

    fn add(&mut self, doc: DocId, share: f32) {
        if self.0.is_empty() {
            self.0.resize(self.1 as usize, 0.0);
        }
        if let Some(sum) = self.0.get_mut(doc as usize) {
            *sum += share;
        }
    }
}
