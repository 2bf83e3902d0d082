//! Products, settings and filters as Meilisearch wants them.

use serde_json::{Map, Value, json};

use crate::store::Product;

/// How far into the matches pages reach. The server's default is 1000.
const DEEPEST: u64 = 100_000;

/// `sort` comes first: otherwise a requested order would only apply among equally
/// good matches. The other rules are the server's own, since their names differ
/// between versions.
pub fn wanted_settings(
    ranking_rules: Option<&Value>,
    synonyms: &[Vec<String>],
) -> Map<String, Value> {
    let mut wanted = Map::new();
    wanted.insert(
        "searchableAttributes".into(),
        json!([
            "name",
            "names",
            "description",
            "keywords",
            "category",
            "brand",
            "sku"
        ]),
    );
    wanted.insert(
        "filterableAttributes".into(),
        json!(["category", "brand", "price_jpy", "in_stock"]),
    );
    wanted.insert(
        "sortableAttributes".into(),
        json!(["price_jpy", "id", "name"]),
    );
    wanted.insert(
        "localizedAttributes".into(),
        json!([{ "attributePatterns": ["*"], "locales": ["jpn"] }]),
    );
    wanted.insert("pagination".into(), json!({ "maxTotalHits": DEEPEST }));
    wanted.insert(
        "faceting".into(),
        json!({ "maxValuesPerFacet": 100, "sortFacetValuesBy": { "*": "count" } }),
    );
    wanted.insert("synonyms".into(), synonyms_setting(synonyms).into());
    if let Some(rules) = ranking_rules.and_then(Value::as_array) {
        let others = rules.iter().filter(|rule| *rule != "sort").cloned();
        let rules: Vec<Value> = std::iter::once("sort".into()).chain(others).collect();
        wanted.insert("rankingRules".into(), rules.into());
    }
    wanted
}

/// Whether the server has this setting already. It returns some lists in an order of its
/// own, and sending the settings again would make it rebuild its index.
pub fn is_same_setting(name: &str, current: &Value, wanted: &Value) -> bool {
    let is_a_set = matches!(name, "filterableAttributes" | "sortableAttributes");
    match (current.as_array(), wanted.as_array()) {
        (Some(current), Some(wanted)) if is_a_set => {
            current.len() == wanted.len() && wanted.iter().all(|one| current.contains(one))
        }
        _ => current == wanted,
    }
}

/// Each word with all that mean the same, as the server wants it.
fn synonyms_setting(groups: &[Vec<String>]) -> Map<String, Value> {
    let mut setting = Map::new();
    for group in groups {
        for word in group {
            let others = group.iter().filter(|other| *other != word).cloned();
            let known = setting
                .entry(word.to_lowercase())
                .or_insert_with(|| json!([]));
            if let Some(known) = known.as_array_mut() {
                known.extend(others.map(Value::String));
            }
        }
    }
    setting
}

/// Lists of documents, none longer than `most` unless a single one is.
pub fn bodies(products: &[&Product], most: usize) -> Vec<String> {
    let mut bodies = Vec::new();
    let mut body = String::new();
    for product in products {
        let document = document(product);
        if !body.is_empty() && body.len() + document.len() > most {
            bodies.push(std::mem::take(&mut body) + "]");
        }
        body.push(if body.is_empty() { '[' } else { ',' });
        body.push_str(&document);
    }
    if !body.is_empty() {
        bodies.push(body + "]");
    }
    bodies
}

fn document(product: &Product) -> String {
    json!({
        "id": product.id,
        "sku": product.sku,
        "name": product.name,
        "names": product.names.values().collect::<Vec<_>>(),
        "description": product.description,
        "category": product.category,
        "brand": product.brand,
        "price_jpy": product.price_yen,
        "keywords": product.keywords,
        "in_stock": product.stock > 0,
    })
    .to_string()
}

/// A value in a filter expression, quoted so that it stays a value.
pub fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_products_go_in_several_requests() {
        let product = |id| Product {
            id,
            sku: format!("K-{id}"),
            name: "急須".into(),
            names: Default::default(),
            description: "\"".repeat(2_000),
            price_yen: 1,
            stock: 1,
            category: None,
            brand: None,
            image_url: None,
            refund_period_days: 30,
            keywords: Vec::new(),
        };
        let products: Vec<Product> = (0..5).map(product).collect();
        let products: Vec<&Product> = products.iter().collect();
        let bodies = bodies(&products, 10_000);
        let lists: Vec<Vec<Value>> = bodies
            .iter()
            .map(|body| serde_json::from_str(body).unwrap())
            .collect();
        let lengths: Vec<usize> = lists.iter().map(Vec::len).collect();
        assert_eq!(lengths, [2, 2, 1]);
        assert!(bodies.iter().all(|body| body.len() < 10_000));
        assert_eq!(super::bodies(&[], 10_000), [""; 0]);
    }
}
