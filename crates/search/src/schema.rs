//! What is kept of a product, and how its text becomes terms.
//!
//! Nothing is stored to be read back: an answer is ids. Terms are kept without
//! frequencies or positions, which makes the lists short and quick to intersect.

use tantivy::{
    TantivyDocument,
    schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions},
    tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager},
};

use crate::{Document, analysis, order::folded};

/// Raised whenever terms are made differently: an index of another format is
/// reported as damaged and built anew.
pub(crate) const FORMAT: u32 = 1;

/// Characters of a name that count when sorting by name.
const SORTED_CHARACTERS: usize = 40;

#[derive(Clone)]
pub(crate) struct Fields {
    pub schema: Schema,
    pub id: Field,
    pub price: Field,
    pub in_stock: Field,
    /// How long the name is: of two products that match alike, the one whose name
    /// says less besides comes first.
    pub length: Field,
    /// Folded, to sort by.
    pub sort_name: Field,
    pub category: Field,
    pub brand: Field,
    /// Words of the name.
    pub name: Field,
    /// Words of name, brand, category, keywords and SKU.
    pub head: Field,
    /// Letter groups of the same.
    pub head_grams: Field,
    /// Words and letter groups of all that and the description.
    pub all: Field,
}

impl Fields {
    pub fn new() -> Fields {
        let mut schema = Schema::builder();
        let fast = NumericOptions::default().set_fast();
        let label = TextOptions::default().set_fast(RAW);
        let terms = |tokenizer: &str| {
            TextOptions::default().set_indexing_options(
                TextFieldIndexing::default()
                    .set_tokenizer(tokenizer)
                    .set_fieldnorms(false)
                    .set_index_option(IndexRecordOption::Basic),
            )
        };
        Fields {
            id: schema.add_i64_field("id", fast.clone().set_indexed()),
            price: schema.add_i64_field("price", fast.clone()),
            in_stock: schema.add_bool_field("in_stock", fast.clone()),
            length: schema.add_u64_field("length", fast),
            sort_name: schema.add_text_field("sort_name", label.clone()),
            category: schema.add_text_field("category", label.clone()),
            brand: schema.add_text_field("brand", label),
            name: schema.add_text_field("name", terms(WORDS)),
            head: schema.add_text_field("head", terms(WORDS)),
            head_grams: schema.add_text_field("head_grams", terms(GRAMS)),
            all: schema.add_text_field("all", terms(BOTH)),
            schema: schema.build(),
        }
    }

    pub fn document(&self, product: &Document) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_i64(self.id, product.id);
        document.add_i64(self.price, product.price);
        document.add_bool(self.in_stock, product.in_stock);
        document.add_u64(self.length, product.name.chars().count() as u64);
        document.add_text(self.sort_name, sort_key(&product.name));
        document.add_text(self.name, &product.name);
        let labels = [
            (self.category, &product.category),
            (self.brand, &product.brand),
        ];
        for (field, label) in labels {
            if let Some(label) = label {
                document.add_text(field, label);
            }
        }
        let head = [product.name.as_str(), product.sku.as_str()]
            .into_iter()
            .chain(product.category.as_deref())
            .chain(product.brand.as_deref())
            .chain(product.keywords.iter().map(String::as_str));
        for text in head {
            document.add_text(self.head, text);
            document.add_text(self.head_grams, text);
            document.add_text(self.all, text);
        }
        document.add_text(self.all, &product.description);
        document
    }
}

fn sort_key(name: &str) -> String {
    folded(name).chars().take(SORTED_CHARACTERS).collect()
}

const RAW: &str = "raw";
const WORDS: &str = "words";
const GRAMS: &str = "grams";
const BOTH: &str = "words and grams";

pub(crate) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(
        WORDS,
        Terms {
            words: true,
            grams: false,
        },
    );
    manager.register(
        GRAMS,
        Terms {
            words: false,
            grams: true,
        },
    );
    manager.register(
        BOTH,
        Terms {
            words: true,
            grams: true,
        },
    );
    manager
}

#[derive(Clone)]
struct Terms {
    words: bool,
    grams: bool,
}

impl Tokenizer for Terms {
    type TokenStream<'a> = Stream;

    fn token_stream(&mut self, text: &str) -> Stream {
        let mut stream = Stream::default();
        if self.words {
            analysis::words(text, |word| stream.push(word));
        }
        if self.grams {
            analysis::grams(text, |gram| stream.push(gram));
        }
        stream
    }
}

/// The terms of one text, end to end in one buffer.
#[derive(Default)]
pub(crate) struct Stream {
    terms: String,
    ends: Vec<usize>,
    next: usize,
    token: Token,
}

impl Stream {
    fn push(&mut self, term: &str) {
        self.terms.push_str(term);
        self.ends.push(self.terms.len());
    }
}

impl TokenStream for Stream {
    fn advance(&mut self) -> bool {
        let Some(&end) = self.ends.get(self.next) else {
            return false;
        };
        let start = self
            .next
            .checked_sub(1)
            .and_then(|last| self.ends.get(last));
        self.token.text.clear();
        self.token.text.push_str(
            self.terms
                .get(start.copied().unwrap_or(0)..end)
                .unwrap_or_default(),
        );
        self.token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
