//! Which documents of one segment have a term, as it is or with typos, and how many typos
//! a term may have.

use tantivy::{BitSet, DocId, DocSet, TERMINATED, query::BitSetDocSet};

use crate::{
    analysis,
    error::Error,
    letters,
    parts::{Part, parts},
    segment::{Postings, Segment, Terms},
    vocabulary::TypoMatcher,
};

/// The most characters of a query to read.
const LONGEST_QUERY: usize = 300;
/// The most terms of a query to look up.
const MOST_TERMS: usize = 12;
/// Shorter prefixes would match half the catalogue.
const SHORTEST_PREFIX: usize = 3;
/// The most words with the same prefix to look up.
const MOST_WORDS_OF_A_PREFIX: usize = 500;

/// Minimum length of a word that is found by most of its letter pairs.
const SHORTEST_NEARLY: usize = 8;

/// A term that a document should contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    /// As in the dictionary.
    whole: String,
    /// Without long-vowel marks, however short.
    pub folded: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Japanese { grams: Vec<String> },
    Word { atoms: Vec<String> },
}

/// Where a term has to be, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    /// A word of the name.
    Name,
    /// A word of the name, brand, category, keywords or SKU.
    Head,
    /// Part of a word there.
    HeadPart,
    /// Part of a word there or in the description.
    Anywhere,
}

impl Term {
    pub fn all_of(text: &str) -> Vec<Term> {
        let text: String = text.chars().take(LONGEST_QUERY).collect();
        let mut terms = Vec::new();
        for part in parts(&text) {
            let term = match part {
                Part::Japanese(stretch) => Term::japanese(&stretch),
                Part::Word(atoms) => Term {
                    whole: analysis::joined(&atoms),
                    folded: analysis::joined(&atoms),
                    kind: Kind::Word { atoms },
                },
                Part::Gap => continue,
            };
            if !term.folded.is_empty() && !terms.contains(&term) {
                terms.push(term);
            }
        }
        terms.truncate(MOST_TERMS);
        terms
    }

    pub fn japanese(stretch: &str) -> Term {
        Term {
            whole: analysis::dictionary_form(stretch),
            folded: letters::fold(stretch),
            kind: Kind::Japanese {
                grams: analysis::grams_to_look_up(stretch),
            },
        }
    }

    /// A piece of this term.
    pub fn piece(&self, piece: &str) -> Term {
        match self.kind {
            Kind::Japanese { .. } => Term::japanese(piece),
            Kind::Word { .. } => self.clone(),
        }
    }

    pub fn is_japanese(&self) -> bool {
        matches!(self.kind, Kind::Japanese { .. })
    }

    /// How many typos are allowed in a word of this length. None in
    /// numbers, since another number is another product.
    pub fn typos(&self) -> u8 {
        if self.whole.chars().any(char::is_numeric) {
            return 0;
        }
        let length = self.folded.chars().count();
        let (one, two) = if self.is_japanese() { (4, 8) } else { (5, 9) };
        u8::from(length >= one) + u8::from(length >= two)
    }

    pub fn is_word_of(&self, segment: &Segment) -> Result<bool, Error> {
        segment.head.has(&self.whole)
    }

    /// Calls `found` with each document that has the term anywhere.
    pub fn find(&self, segment: &Segment, found: impl FnMut(DocId)) -> Result<(), Error> {
        let mut lists = Vec::new();
        if self.lists(segment, Tier::Anywhere, &mut lists)? {
            intersect(lists, found);
        }
        Ok(())
    }

    /// Adds the lists whose intersection has the term. `false` if no
    /// document has it.
    pub fn lists(
        &self,
        segment: &Segment,
        tier: Tier,
        lists: &mut Vec<DocList>,
    ) -> Result<bool, Error> {
        let (words, grams) = match tier {
            Tier::Name => (&segment.name, None),
            Tier::Head => (&segment.head, None),
            Tier::HeadPart => (&segment.head, Some(&segment.head_grams)),
            Tier::Anywhere => (&segment.all, Some(&segment.all)),
        };
        let Some(grams) = grams else {
            let Some(list) = words.documents(&self.whole)? else {
                return Ok(false);
            };
            lists.push(DocList::from(list));
            return Ok(true);
        };
        match &self.kind {
            Kind::Japanese { grams: wanted } if self.is_more_than_a_kana() => {
                for gram in wanted {
                    let Some(list) = grams.documents(gram)? else {
                        return Ok(false);
                    };
                    lists.push(DocList::from(list));
                }
                Ok(true)
            }
            Kind::Japanese { .. } => {
                let list = words.documents(&self.whole)?;
                let found = list.is_some();
                lists.extend(list.map(DocList::from));
                Ok(found)
            }
            Kind::Word { atoms } => {
                let list = self.word(atoms, words, segment.max_doc())?;
                let found = list.is_some();
                lists.extend(list);
                Ok(found)
            }
        }
    }

    fn is_more_than_a_kana(&self) -> bool {
        let mut characters = self.whole.chars();
        let first = characters.next();
        characters.next().is_some() || !first.is_some_and(letters::is_kana)
    }

    /// Finds a word, its prefix, or its separate atoms: `500ml` in `500
    /// ml`.
    fn word(
        &self,
        atoms: &[String],
        words: &Terms,
        max_doc: DocId,
    ) -> Result<Option<DocList>, Error> {
        let length = self.whole.chars().count();
        let is_number = self.whole.chars().all(char::is_numeric);
        let mut found = if length >= SHORTEST_PREFIX && !is_number {
            words.beginning_with(&self.whole, MOST_WORDS_OF_A_PREFIX)?
        } else {
            words.documents(&self.whole)?.into_iter().collect()
        };
        if atoms.len() < 2 && found.len() < 2 {
            return Ok(found.pop().map(DocList::from));
        }
        let mut union = Union::new(max_doc);
        for list in found {
            union.add(list);
        }
        if atoms.len() > 1 {
            let mut lists = Vec::new();
            for atom in atoms {
                match words.documents(atom)? {
                    Some(list) => lists.push(DocList::from(list)),
                    None => {
                        lists.clear();
                        break;
                    }
                }
            }
            intersect(lists, |doc| union.insert(doc));
        }
        Ok(union.into_list())
    }
}

/// A list of documents, in order.
pub(crate) enum DocList {
    Term(Postings),
    Bits(BitSetDocSet, u32),
}

impl From<Postings> for DocList {
    fn from(list: Postings) -> DocList {
        DocList::Term(list)
    }
}

impl DocList {
    fn doc(&self) -> DocId {
        match self {
            DocList::Term(list) => list.doc(),
            DocList::Bits(list, _) => list.doc(),
        }
    }

    fn advance(&mut self) -> DocId {
        match self {
            DocList::Term(list) => list.advance(),
            DocList::Bits(list, _) => list.advance(),
        }
    }

    /// Moves to the first document from `target` on. Never moves back.
    fn seek(&mut self, target: DocId) -> DocId {
        match self {
            DocList::Term(list) => seek(list.as_mut(), target),
            DocList::Bits(list, _) => seek(list, target),
        }
    }

    fn length(&self) -> u32 {
        match self {
            DocList::Term(list) => list.size_hint(),
            DocList::Bits(_, length) => *length,
        }
    }
}

fn seek(list: &mut impl DocSet, target: DocId) -> DocId {
    if list.doc() < target {
        list.seek(target)
    } else {
        list.doc()
    }
}

/// Calls `found` with each document that is in all of `lists`.
pub(crate) fn intersect(mut lists: Vec<DocList>, mut found: impl FnMut(DocId)) {
    lists.sort_by_key(DocList::length);
    let Some((first, others)) = lists.split_first_mut() else {
        return;
    };
    let mut candidate = first.doc();
    'candidates: while candidate != TERMINATED {
        for other in others.iter_mut() {
            let next = other.seek(candidate);
            if next != candidate {
                candidate = first.seek(next);
                continue 'candidates;
            }
        }
        found(candidate);
        candidate = first.advance();
    }
}

/// Documents that are in any of several lists.
pub(crate) struct Union {
    bits: BitSet,
    max_doc: DocId,
}

impl Union {
    pub fn new(max_doc: DocId) -> Union {
        Union {
            bits: BitSet::with_max_value(max_doc),
            max_doc,
        }
    }

    pub fn insert(&mut self, doc: DocId) {
        self.bits.insert(doc);
    }

    pub fn add(&mut self, mut list: Postings) {
        let mut doc = list.doc();
        while doc != TERMINATED {
            self.bits.insert(doc);
            doc = list.advance();
        }
    }

    pub fn into_list(self) -> Option<DocList> {
        let length = self.bits.len() as u32;
        debug_assert!(self.bits.max_value() == self.max_doc);
        (length > 0).then(|| DocList::Bits(BitSetDocSet::from(self.bits), length))
    }
}

/// Words of the catalogue that a word may be a misspelling of.
pub(crate) struct SimilarWords {
    typos: Option<TypoMatcher>,
    /// The word itself, which is left out.
    word: String,
    /// Finds the word with its long-vowel marks elsewhere, if it is so
    /// short that it keeps them.
    long_vowels_elsewhere: Option<String>,
}

impl SimilarWords {
    pub fn new(term: &Term, typos: u8) -> SimilarWords {
        // In a short word the first letter must be correct. Otherwise
        // too many words are similar.
        let is_short = term.is_japanese() && term.folded.chars().count() < 6;
        SimilarWords {
            typos: TypoMatcher::new(&term.folded, typos, is_short),
            word: term.folded.clone(),
            long_vowels_elsewhere: analysis::without_long_vowels(&term.whole),
        }
    }

    /// The documents that have similar words; `None` if there are none.
    pub fn union(&self, segment: &Segment) -> Result<Option<Union>, Error> {
        let mut union = None;
        let mut add = |list| {
            union
                .get_or_insert_with(|| Union::new(segment.max_doc()))
                .add(list);
        };
        if let Some(word) = &self.long_vowels_elsewhere
            && let Some(list) = segment.head.documents(word)?
        {
            add(list);
        }
        if let Some(typos) = &self.typos {
            for list in segment.similar(typos, &self.word)? {
                add(list);
            }
        }
        Ok(union)
    }
}

/// Finds a long Japanese compound with a typo: documents that have all but two
/// of its letter pairs.
pub(crate) fn with_most_pairs(
    segment: &Segment,
    term: &Term,
    found: impl FnMut(DocId),
) -> Result<(), Error> {
    if !term.is_japanese() || term.folded.chars().count() < SHORTEST_NEARLY {
        return Ok(());
    }
    let pairs = analysis::pairs(&term.folded);
    let mut lists = Vec::new();
    for pair in &pairs {
        lists.extend(segment.head_grams.documents(pair)?);
    }
    at_least(pairs.len().saturating_sub(2), lists, found);
    Ok(())
}

/// Calls `found` with each document that has at least `least` of `lists`.
///
/// Such a document is in at least one of the lists that remain without the
/// `least - 1` longest. Only those are walked; the long ones are only probed.
fn at_least(least: usize, lists: Vec<Postings>, mut found: impl FnMut(DocId)) {
    let mut lists = lists;
    if least == 0 || lists.len() < least {
        return;
    }
    lists.sort_by_key(|list| list.size_hint());
    let walked = lists.len() - least + 1;
    let (short, long) = lists.split_at_mut(walked);
    loop {
        let candidate = short
            .iter()
            .map(|list| list.doc())
            .min()
            .unwrap_or(TERMINATED);
        if candidate == TERMINATED {
            return;
        }
        let mut has = 0;
        for list in short.iter_mut() {
            if list.doc() == candidate {
                has += 1;
                list.advance();
            }
        }
        for (asked, list) in long.iter_mut().enumerate() {
            if has + (least - 1 - asked) < least {
                break;
            }
            has += usize::from(seek(list.as_mut(), candidate) == candidate);
        }
        if has >= least {
            found(candidate);
        }
    }
}
