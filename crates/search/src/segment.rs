//! One segment of the index, with everything that a search reads from it.

use std::sync::{Arc, OnceLock};

use tantivy::{
    DocId, SegmentReader, Term,
    columnar::{ColumnValues, StrColumn},
    index::InvertedIndexReader,
    postings::SegmentPostings,
    schema::IndexRecordOption,
};

use crate::{
    error::Error,
    schema::Fields,
    vocabulary::{TypoMatcher, Vocabulary},
};

/// The most similar words to look up.
const MOST_SIMILAR_WORDS: usize = 50;

pub(crate) struct Segment {
    reader: SegmentReader,
    known: Terms,
    pub ids: Arc<dyn ColumnValues<i64>>,
    pub prices: Arc<dyn ColumnValues<i64>>,
    pub in_stock: Arc<dyn ColumnValues<bool>>,
    pub lengths: Arc<dyn ColumnValues<u64>>,
    pub sort_names: Option<StrColumn>,
    pub categories: Option<StrColumn>,
    pub brands: Option<StrColumn>,
    pub name: Terms,
    pub head: Terms,
    pub head_grams: Terms,
    pub all: Terms,
    words: Arc<OnceLock<Vocabulary>>,
}

impl Segment {
    /// Reuses the vocabulary of the same segment in `others`.
    pub fn open(
        reader: &SegmentReader,
        fields: &Fields,
        others: &[Segment],
    ) -> tantivy::Result<Segment> {
        let is_same = |other: &&Segment| other.reader.segment_id() == reader.segment_id();
        let same = others.iter().find(is_same);
        let columns = reader.fast_fields();
        let terms = |field| reader.inverted_index(field).map(Terms);
        Ok(Segment {
            ids: columns.column_first_or_default("id")?,
            prices: columns.column_first_or_default("price")?,
            in_stock: columns.column_first_or_default("in_stock")?,
            lengths: columns.column_first_or_default("length")?,
            sort_names: columns.str("sort_name")?,
            categories: columns.str("category")?,
            brands: columns.str("brand")?,
            name: terms(fields.name)?,
            head: terms(fields.head)?,
            head_grams: terms(fields.head_grams)?,
            all: terms(fields.all)?,
            known: terms(fields.id)?,
            words: same.map_or_else(Arc::default, |same| Arc::clone(&same.words)),
            reader: reader.clone(),
        })
    }

    pub fn max_doc(&self) -> DocId {
        self.reader.max_doc()
    }

    /// Whether the id is between those of the segment, which takes no reading.
    pub fn may_know(&self, id: i64) -> bool {
        (self.ids.min_value()..=self.ids.max_value()).contains(&id)
    }

    /// Whether the segment has this product, deleted or not.
    pub fn knows(&self, id: &Term) -> Result<bool, Error> {
        Ok(self.known.0.get_term_info(id)?.is_some())
    }

    pub fn is_alive(&self, doc: DocId) -> bool {
        !self.reader.is_deleted(doc)
    }

    /// The documents with words in the head that `word` may be a
    /// misspelling of. `word` itself is left out.
    pub fn similar(&self, typos: &TypoMatcher, word: &str) -> Result<Vec<Postings>, Error> {
        let words = match self.words.get() {
            Some(words) => words,
            None => {
                let words = Vocabulary::of(self.head.0.terms())?;
                self.words.get_or_init(|| words)
            }
        };
        let others = words.similar(typos).filter(|other| *other != word);
        others
            .take(MOST_SIMILAR_WORDS)
            .filter_map(|other| self.head.documents(other).transpose())
            .collect()
    }
}

/// The documents that have a term. Boxed, since it is large and often moved.
pub(crate) type Postings = Box<SegmentPostings>;

/// The terms of one field and the documents that have them.
pub(crate) struct Terms(Arc<InvertedIndexReader>);

impl Terms {
    pub fn documents(&self, term: &str) -> Result<Option<Postings>, Error> {
        let Some(info) = self.0.terms().get(term)? else {
            return Ok(None);
        };
        let postings = self
            .0
            .read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
        Ok(Some(Box::new(postings)))
    }

    pub fn has(&self, term: &str) -> Result<bool, Error> {
        Ok(self.0.terms().get(term)?.is_some())
    }

    /// The documents of up to `most` terms that begin with `prefix`.
    pub fn beginning_with(&self, prefix: &str, most: usize) -> Result<Vec<Postings>, Error> {
        let mut found = Vec::new();
        let mut stream = self.0.terms().range().ge(prefix).into_stream()?;
        while found.len() < most && stream.advance() {
            if !stream.key().starts_with(prefix.as_bytes()) {
                break;
            }
            let postings = self
                .0
                .read_postings_from_terminfo(stream.value(), IndexRecordOption::Basic)?;
            found.push(Box::new(postings));
        }
        Ok(found)
    }
}
