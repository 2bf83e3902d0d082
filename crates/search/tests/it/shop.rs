//! Products to search for.

use search::{Change, Document, Hits, Index, Query};

pub const NOTHING: [i64; 0] = [];

pub fn product(id: i64, name: &str) -> Document {
    Document {
        id,
        sku: format!("SHOP-{id:04}"),
        name: name.to_owned(),
        price: 1_000,
        in_stock: true,
        ..Document::default()
    }
}

pub fn shop(products: impl IntoIterator<Item = Document>) -> Index {
    let index = Index::in_memory();
    index
        .apply(products.into_iter().map(Change::Put), 1)
        .unwrap();
    index
}

pub fn text(text: &str) -> Query {
    Query {
        text: text.to_owned(),
        ..Query::default()
    }
}

pub fn search(index: &Index, query: &Query) -> Hits {
    index.search(query).unwrap()
}

pub fn ids(index: &Index, words: &str) -> Vec<i64> {
    search(index, &text(words)).ids
}
