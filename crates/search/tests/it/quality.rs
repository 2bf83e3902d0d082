//! What is found, measured over catalogues and queries with known answers.

use std::{fs, path::Path};

use search::{Change, Document, Index, Query};
use serde::Deserialize;

#[derive(Deserialize)]
struct Evaluation {
    products: Vec<Product>,
    queries: Vec<Asked>,
}

#[derive(Deserialize)]
struct Product {
    id: i64,
    sku: String,
    name: String,
    description: String,
    price_jpy: i64,
    inventory_count: i64,
    category: String,
    brand: String,
    keywords: Vec<String>,
}

#[derive(Deserialize)]
struct Asked {
    kind: String,
    query: String,
    relevant: Vec<i64>,
}

fn load(name: &str) -> Evaluation {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn index(products: &[Product]) -> Index {
    let index = Index::in_memory();
    let changes = products.iter().map(|product| {
        Change::Put(Document {
            id: product.id,
            sku: product.sku.clone(),
            name: product.name.clone(),
            description: product.description.clone(),
            category: Some(product.category.clone()),
            brand: Some(product.brand.clone()),
            keywords: product.keywords.clone(),
            price: product.price_jpy,
            in_stock: product.inventory_count > 0,
        })
    });
    index.apply(changes, 1).unwrap();
    index
}

fn recall(found: &[i64], relevant: &[i64]) -> f64 {
    let hits = found.iter().take(10).filter(|id| relevant.contains(id));
    hits.count() as f64 / relevant.len().min(10) as f64
}

#[test]
fn finds_what_is_relevant() {
    let evaluation = load("search-eval.json");
    let index = index(&evaluation.products);
    for asked in &evaluation.queries {
        let hits = index
            .search(&Query {
                text: asked.query.clone(),
                limit: 10,
                ..Query::default()
            })
            .unwrap();
        let recall = recall(&hits.ids, &asked.relevant);
        assert!(recall > 0.99, "{} {}: {recall}", asked.kind, asked.query);
    }
}
