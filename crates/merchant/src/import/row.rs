//! One row of a catalogue, checked and cleaned. Invisible characters are removed,
//! because they could hide instructions for agents in the text of a product.

use std::collections::BTreeMap;

use kit::text::clean;
use serde_json::{Map, Value};

use crate::{
    model::{money::Yen, plan},
    store::{MOST_STOCK, Product},
};

const DEFAULT_REFUND_DAYS: i64 = 30;
const MOST_KEYWORDS: usize = 50;

/// Columns that a CSV needs.
pub const REQUIRED: [&str; 2] = ["id", "name"];

type Problem = String;

/// The fields a row may have, beside `name_XX` and `keywords_XX` in other languages.
#[rustfmt::skip]
const FIELDS: [&str; 12] = [
    "id", "sku", "name", "description", "price_jpy", "price_cents", "inventory_count", "category",
    "brand", "image_url", "refund_period_days", "keywords",
];

/// Names in other languages that a product may have.
const MOST_NAMES: usize = 20;

pub fn is_known(field: &str) -> bool {
    let is_translated = ["name", "keywords"]
        .iter()
        .any(|it| language(field, it).is_some());
    FIELDS.contains(&field) || is_translated
}

/// The language code at the end of `name_en` or `keywords_zh-hant`.
fn language<'a>(field: &'a str, translated: &str) -> Option<&'a str> {
    let code = field.strip_prefix(translated)?.strip_prefix('_')?;
    let is_code = (2..=12).contains(&code.len())
        && code.starts_with(|letter: char| letter.is_ascii_lowercase())
        && code
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_code.then_some(code)
}

pub fn product(fields: &Map<String, Value>) -> Result<Product, Problem> {
    let id = fields
        .get("id")
        .ok_or("there is no id")
        .and_then(|id| plan::product_id(id).ok_or("the id is not a positive integer"))?;
    let name = text(fields, "name", 200)?.ok_or("there is no name")?;
    Ok(Product {
        id,
        sku: text(fields, "sku", 100)?.unwrap_or_else(|| id.to_string()),
        name,
        names: names(fields)?,
        description: text(fields, "description", 5_000)?.unwrap_or_default(),
        price_yen: price(fields)?.get(),
        stock: whole(fields, "inventory_count", MOST_STOCK)?.unwrap_or(0),
        category: text(fields, "category", 100)?,
        brand: text(fields, "brand", 100)?,
        image_url: image(fields)?,
        refund_period_days: whole(fields, "refund_period_days", 36_500)?
            .unwrap_or(DEFAULT_REFUND_DAYS),
        keywords: keywords(fields)?,
    })
}

fn given<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

fn text(fields: &Map<String, Value>, name: &str, most: usize) -> Result<Option<String>, Problem> {
    let cleaned = match given(fields, name) {
        None => return Ok(None),
        Some(Value::String(text)) => clean(text, most),
        Some(Value::Number(number)) => clean(&number.to_string(), most),
        Some(_) => return Err(format!("{name} is not text")),
    };
    Ok(Some(cleaned).filter(|text| !text.is_empty()))
}

fn price(fields: &Map<String, Value>) -> Result<Yen, Problem> {
    let yen = given(fields, "price_jpy").map(Yen::from_json);
    let cents = given(fields, "price_cents").map(Yen::from_json_cents);
    match (yen, cents) {
        (None, None) => Err("there is no price_jpy or price_cents".into()),
        (Some(Ok(yen)), Some(Ok(cents))) if yen != cents => {
            Err("price_jpy and price_cents differ".into())
        }
        (Some(Err(invalid)), _) => Err(format!("price_jpy {invalid}")),
        (_, Some(Err(invalid))) => Err(format!("price_cents {invalid}")),
        (Some(Ok(price)), _) | (None, Some(Ok(price))) => Ok(price),
    }
}

fn whole(fields: &Map<String, Value>, name: &str, most: i64) -> Result<Option<i64>, Problem> {
    let Some(value) = given(fields, name) else {
        return Ok(None);
    };
    Yen::from_json(value)
        .map(Yen::get)
        .ok()
        .filter(|number| *number <= most)
        .map(Some)
        .ok_or_else(|| format!("{name} is not a whole number from 0 to {most}"))
}

/// A path on the shop's own port, or an http(s) address.
fn image(fields: &Map<String, Value>) -> Result<Option<String>, Problem> {
    let Some(url) = text(fields, "image_url", 1_000)? else {
        return Ok(None);
    };
    let is_path = url.starts_with('/') && !url.starts_with("//");
    if is_path || url.starts_with("https://") || url.starts_with("http://") {
        return Ok(Some(url));
    }
    Err("image_url is neither a path nor an http(s) address".into())
}

/// The names in other languages, by language code.
fn names(fields: &Map<String, Value>) -> Result<BTreeMap<String, String>, Problem> {
    let mut names = BTreeMap::new();
    for field in fields.keys() {
        if let Some(code) = language(field, "name")
            && let Some(name) = text(fields, field, 200)?
            && names.len() < MOST_NAMES
        {
            names.insert(code.to_owned(), name);
        }
    }
    Ok(names)
}

/// The keywords of all languages. Each field is a list, or one text separated by
/// `|`, `;`, `,` or `、`, as in CSV.
fn keywords(fields: &Map<String, Value>) -> Result<Vec<String>, Problem> {
    let mut words: Vec<&str> = Vec::new();
    for (field, value) in fields {
        if field != "keywords" && language(field, "keywords").is_none() {
            continue;
        }
        match value {
            Value::Null => {}
            Value::String(list) => words.extend(list.split(['|', ';', ',', '、'])),
            Value::Array(items) => {
                let items: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                words.extend(items.ok_or_else(|| format!("{field} are not texts"))?);
            }
            _ => return Err(format!("{field} are not a list")),
        }
    }
    Ok(words
        .iter()
        .map(|word| clean(word, 50))
        .filter(|word| !word.is_empty())
        .take(MOST_KEYWORDS)
        .collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(row: Value) -> Result<Product, Problem> {
        product(row.as_object().unwrap())
    }

    #[test]
    fn the_documents_fields_come_in() {
        let product = read(json!({
            "id": 1, "sku": "MUGIBO-CAL-2025", "name": "むぎぼーカレンダー2025",
            "description": "むぎぼーの可愛いカレンダー", "price_cents": 198_000, "price_jpy": 1980.0,
            "inventory_count": 50, "category": "goods", "brand": "むぎぼー",
            "image_url": "/assets/むぎぼーカレンダー.png", "refund_period_days": 30,
            "keywords": ["カレンダー", "かわいい"],
        }))
        .unwrap();
        assert_eq!((product.price_yen, product.stock), (1980, 50));
        assert_eq!(product.keywords, ["カレンダー", "かわいい"]);
        let translated = read(json!({
            "id": 3, "name": "靴", "price_jpy": 1, "name_en": "Shoes", "name_zh-hant": "鞋",
            "keywords": "履物", "keywords_en": "footwear|sneakers",
        }))
        .unwrap();
        let names = [("en", "Shoes"), ("zh-hant", "鞋")];
        assert_eq!(
            translated.names,
            names.map(|(code, name)| (code.into(), name.into())).into()
        );
        assert_eq!(translated.keywords, ["履物", "footwear", "sneakers"]);
        assert!(is_known("name_en") && !is_known("name_") && !is_known("name_ENGLISH LONG"));
        let least = read(json!({ "id": "2", "name": "x", "price_jpy": "800" })).unwrap();
        assert_eq!(
            (&*least.sku, least.stock, least.refund_period_days),
            ("2", 0, 30)
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let invisible = "\u{200b}";
        for (row, problem) in [
            (json!({}), "there is no id"),
            (json!({ "id": 0 }), "the id is not a positive integer"),
            (json!({ "id": 1 }), "there is no name"),
            (json!({ "id": 1, "name": invisible }), "there is no name"),
            (json!({ "id": 1, "name": "x" }), "there is no price_jpy or"),
        ] {
            let refused = read(row.clone()).unwrap_err();
            assert!(refused.starts_with(problem), "{row}: {refused}");
        }
        for (field, value, problem) in [
            ("price_cents", json!(150), "price_cents is not a whole"),
            (
                "price_cents",
                json!(200),
                "price_jpy and price_cents differ",
            ),
            (
                "inventory_count",
                json!(-1),
                "inventory_count is not a whole number",
            ),
            (
                "image_url",
                json!("javascript:alert(1)"),
                "image_url is neither",
            ),
        ] {
            let mut row = json!({ "id": 1, "name": "x", "price_jpy": 1 });
            row[field] = value;
            let refused = read(row.clone()).unwrap_err();
            assert!(refused.starts_with(problem), "{row}: {refused}");
        }
    }
}
