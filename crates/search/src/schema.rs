//! What the index keeps of a product.
//!
//! The index stores no texts, since a search returns ids. Terms have no
//! frequencies or positions, which keeps their lists short and fast to
//! intersect.

use tantivy::{
    TantivyDocument,
    schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions},
    tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager},
};

use crate::{analysis, document::Document, parts::folded};

/// Must be raised whenever terms change. An index of another format counts as
/// damaged and is rebuilt.
pub(crate) const FORMAT: u32 = 2;

/// Characters of a name to sort by.
const SORTED_CHARACTERS: usize = 40;

#[derive(Clone)]
pub(crate) struct Fields {
    pub schema: Schema,
    pub id: Field,
    pub price: Field,
    pub in_stock: Field,
    /// Length of the name. Of two equal matches, the one with the shorter
    /// name comes first.
    pub length: Field,
    /// The folded name, to sort by.
    pub sort_name: Field,
    pub category: Field,
    pub brand: Field,
    /// Words of the name in all languages.
    pub name: Field,
    /// Words of names, brand, category, keywords and SKU.
    pub head: Field,
    /// Letter groups of these.
    pub head_grams: Field,
    /// Words and letter groups of these and of the description.
    pub all: Field,
}

impl Fields {
    pub fn new() -> Fields {
        let mut schema = Schema::builder();
        let fast = NumericOptions::default().set_fast();
        let label = TextOptions::default().set_fast(RAW);
        let terms = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(TERMS)
                .set_fieldnorms(false)
                .set_index_option(IndexRecordOption::Basic),
        );
        Fields {
            id: schema.add_i64_field("id", fast.clone().set_indexed()),
            price: schema.add_i64_field("price", fast.clone()),
            in_stock: schema.add_bool_field("in_stock", fast.clone()),
            length: schema.add_u64_field("length", fast),
            sort_name: schema.add_text_field("sort_name", label.clone()),
            category: schema.add_text_field("category", label.clone()),
            brand: schema.add_text_field("brand", label),
            name: schema.add_text_field("name", terms.clone()),
            head: schema.add_text_field("head", terms.clone()),
            head_grams: schema.add_text_field("head_grams", terms.clone()),
            all: schema.add_text_field("all", terms),
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
        let labels = [
            (self.category, &product.category),
            (self.brand, &product.brand),
        ];
        for (field, label) in labels {
            if let Some(label) = label {
                document.add_text(field, label);
            }
        }
        let names = std::iter::once(&product.name).chain(&product.other_names);
        let names: Vec<_> = names.map(|name| analysis::terms(name)).collect();
        for name in &names {
            document.add_text(self.name, &name.words);
        }
        let others = [product.sku.as_str()]
            .into_iter()
            .chain(product.category.as_deref())
            .chain(product.brand.as_deref())
            .chain(product.keywords.iter().map(String::as_str))
            .map(analysis::terms);
        for terms in names.into_iter().chain(others) {
            document.add_text(self.head, &terms.words);
            document.add_text(self.head_grams, &terms.grams);
            document.add_text(self.all, terms.words);
            document.add_text(self.all, terms.grams);
        }
        let description = analysis::terms(&product.description);
        document.add_text(self.all, description.words);
        document.add_text(self.all, description.grams);
        document
    }
}

fn sort_key(name: &str) -> String {
    folded(name).chars().take(SORTED_CHARACTERS).collect()
}

const RAW: &str = "raw";
const TERMS: &str = "terms";

pub(crate) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(TERMS, Split);
    manager
}

/// Splits text that was turned into terms before: once for all fields, and in
/// the caller's thread.
#[derive(Clone)]
struct Split;

impl Tokenizer for Split {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, terms: &'a str) -> Stream<'a> {
        Stream {
            rest: terms,
            token: Token::default(),
        }
    }
}

pub(crate) struct Stream<'a> {
    rest: &'a str,
    token: Token,
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some((term, rest)) = self.rest.split_once(analysis::END) else {
            return false;
        };
        self.rest = rest;
        self.token.text.clear();
        self.token.text.push_str(term);
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
