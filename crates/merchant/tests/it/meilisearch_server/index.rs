//! The documents of the stand-in, and how it searches them.
//!
//! It has no Japanese dictionary: a word matches anywhere in a text, and Latin words
//! may differ by a letter. For recorded searches the matches come in the recorded
//! order.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, HashMap},
    sync::OnceLock,
};

use serde_json::{Map, Value, json};

use super::filter;

const RECORDED: &str = include_str!("../../data/meilisearch-exchanges.json");

/// All fields a search may have, in the order in which the server lists them.
#[rustfmt::skip]
const FIELDS: [&str; 30] = [
    "q", "offset", "limit", "page", "hitsPerPage", "attributesToRetrieve", "attributesToCrop",
    "cropLength", "cropMarker", "attributesToHighlight", "highlightPreTag", "highlightPostTag",
    "showMatchesPosition", "filter", "sort", "distinct", "facets", "matchingStrategy",
    "attributesToSearchOn", "rankingScoreThreshold", "locales", "hybrid", "vector",
    "retrieveVectors", "media", "personalize", "useNetwork", "showRankingScore",
    "showRankingScoreDetails", "showPerformanceDetails",
];

#[derive(Debug, Clone)]
pub struct Problem {
    pub status: u16,
    code: &'static str,
    message: String,
}

impl Problem {
    pub fn new(status: u16, code: &'static str, message: String) -> Self {
        Self {
            status,
            code,
            message,
        }
    }

    pub fn no_key() -> Self {
        let message =
            "The Authorization header is missing. It must use the bearer authorization method.";
        Self::new(401, "missing_authorization_header", message.into())
    }

    pub fn wrong_key() -> Self {
        let message = "The provided API key is invalid.";
        Self::new(403, "invalid_api_key", message.into())
    }

    pub fn no_index() -> Self {
        Self::new(404, "index_not_found", "Index `products` not found.".into())
    }

    pub fn index_exists() -> Self {
        let message = "Index `products` already exists.";
        Self::new(409, "index_already_exists", message.into())
    }

    pub fn no_task(uid: &str) -> Self {
        Self::new(404, "task_not_found", format!("Task `{uid}` not found."))
    }

    pub fn body(&self) -> Value {
        let kind = match self.status {
            401 | 403 => "auth",
            500.. => "internal",
            _ => "invalid_request",
        };
        json!({
            "message": self.message, "code": self.code, "type": kind,
            "link": format!("https://docs.meilisearch.com/errors#{}", self.code),
        })
    }
}

pub struct Index {
    settings: Map<String, Value>,
    /// By id, in the order in which they came.
    pub documents: Documents,
}

#[derive(Default)]
pub struct Documents(Vec<(String, Value)>);

impl Documents {
    pub fn get(&self, id: &str) -> Option<&Value> {
        self.0.iter().find(|(i, _)| i == id).map(|(_, d)| d)
    }

    pub fn remove(&mut self, id: &str) -> Option<Value> {
        let at = self.0.iter().position(|(i, _)| i == id)?;
        Some(self.0.remove(at).1)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn iter(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().map(|(_, document)| document)
    }
}

impl Default for Index {
    fn default() -> Self {
        // The recorded defaults.
        let mut settings = recorded(33)["response"]["body"]
            .as_object()
            .unwrap()
            .clone();
        settings["searchableAttributes"] = json!(["*"]);
        settings["filterableAttributes"] = json!([]);
        settings["sortableAttributes"] = json!([]);
        settings["localizedAttributes"] = Value::Null;
        Self {
            settings,
            documents: Documents::default(),
        }
    }
}

pub fn recorded(number: usize) -> &'static Value {
    static ALL: OnceLock<Value> = OnceLock::new();
    let all = ALL.get_or_init(|| serde_json::from_str(RECORDED).unwrap());
    &all["exchanges"][number]
}

pub fn without_id(document: &Value) -> Option<Problem> {
    document.get("id").is_none().then(|| {
        let message = format!("Document doesn't have a `id` attribute: `{document}`.");
        Problem::new(400, "missing_document_id", message)
    })
}

fn id(document: &Value) -> String {
    match &document["id"] {
        Value::String(id) => id.clone(),
        other => other.to_string(),
    }
}

impl Index {
    /// `whole` replaces the old document; otherwise only the given fields are replaced.
    pub fn put(&mut self, document: Value, whole: bool) {
        let id = id(&document);
        let found = self.documents.0.iter_mut().find(|(i, _)| *i == id);
        match found {
            None => self.documents.0.push((id, document)),
            Some((_, old)) if whole => *old = document,
            Some((_, old)) => {
                for (name, value) in document.as_object().unwrap() {
                    old[name] = value.clone();
                }
            }
        }
    }

    pub fn document(&self, id: &str) -> Result<Value, Problem> {
        let found = self.documents.get(id).cloned();
        found.ok_or_else(|| {
            let message = format!("Document `{id}` not found.");
            Problem::new(404, "document_not_found", message)
        })
    }

    pub fn settings(&self) -> Value {
        Value::Object(self.settings.clone())
    }

    pub fn set(&mut self, settings: &Value) {
        for (name, value) in settings.as_object().unwrap() {
            let mut value = value.clone();
            // The real server returns these sorted, in whatever order they were set.
            if name == "sortableAttributes" {
                let names = value.as_array_mut().unwrap();
                names.sort_by_key(Value::to_string);
            }
            self.settings[name] = value;
        }
    }

    fn names(&self, setting: &str) -> Vec<&str> {
        let names = self.settings[setting].as_array().unwrap();
        names.iter().filter_map(Value::as_str).collect()
    }

    pub fn stats(&self) -> Value {
        let mut fields: HashMap<&String, u64> = HashMap::new();
        for document in self.documents.iter() {
            for name in document.as_object().unwrap().keys() {
                *fields.entry(name).or_default() += 1;
            }
        }
        json!({
            "numberOfDocuments": self.documents.len(), "rawDocumentDbSize": 4096,
            "avgDocumentSize": 447, "isIndexing": false, "numberOfEmbeddings": 0,
            "numberOfEmbeddedDocuments": 0, "fieldDistribution": fields,
        })
    }

    pub fn search(&self, body: &Value) -> Result<Value, Problem> {
        let body = body.as_object().unwrap();
        check(body)?;
        let text = body.get("q").and_then(Value::as_str).unwrap_or_default();
        let (limit, offset) = (number(body, "limit", 20), number(body, "offset", 0));
        let filter = match body.get("filter").and_then(Value::as_str) {
            Some(text) => Some(filter::parse(text, &self.names("filterableAttributes"))?),
            None => None,
        };
        let mut found: Vec<&Value> = self
            .documents
            .iter()
            .filter(|document| self.matched_words(document, text).is_some())
            .filter(|document| filter.as_ref().is_none_or(|filter| filter.takes(document)))
            .collect();
        self.order(&mut found, text, body.get("sort"))?;
        let total = found.len();
        let faceting = &self.settings["faceting"];
        let facets = body
            .get("facets")
            .map(|names| facets(&found, names, faceting));
        let most = self.settings["pagination"]["maxTotalHits"].as_u64();
        let hits: Vec<Value> = found
            .into_iter()
            .take(usize::try_from(most.unwrap()).unwrap())
            .skip(offset)
            .take(limit)
            .map(|document| hit(document, body))
            .collect();
        let mut answer = json!({
            "hits": hits, "query": text, "processingTimeMs": 0, "limit": limit,
            "offset": offset, "estimatedTotalHits": total,
        });
        if let Some(facets) = facets {
            answer["facetDistribution"] = facets;
            answer["facetStats"] = json!({});
        }
        answer["requestUid"] = "01a1dcc9-e4de-7f43-bbcf-e6558c7ec6af".into();
        Ok(answer)
    }

    /// How many of the words match. The first must; the last ones need not.
    fn matched_words(&self, document: &Value, text: &str) -> Option<usize> {
        let attributes = self.names("searchableAttributes");
        let all = document.as_object().unwrap().iter();
        let texts: Vec<String> = all
            .filter(|(name, _)| attributes.contains(&name.as_str()) || attributes == ["*"])
            .map(|(_, value)| value.to_string().to_lowercase())
            .collect();
        let words: Vec<String> = text
            .to_lowercase()
            .split_whitespace()
            .map(Into::into)
            .collect();
        let matched = words
            .iter()
            .take_while(|word| texts.iter().any(|text| has_word(text, word)))
            .count();
        (matched > 0 || words.is_empty()).then_some(matched)
    }

    fn order(&self, found: &mut [&Value], text: &str, sort: Option<&Value>) -> Result<(), Problem> {
        let places = recorded_places(text);
        let place = |document: &Value| (places.get(&id(document)).copied()).unwrap_or(usize::MAX);
        found.sort_by_cached_key(|document| {
            let words = self.matched_words(document, text);
            (std::cmp::Reverse(words), place(document))
        });
        let Some(rule) = sort.and_then(|sort| sort[0].as_str()) else {
            return Ok(());
        };
        let (name, direction) = rule.split_once(':').unwrap();
        let sortable = self.names("sortableAttributes");
        if !sortable.contains(&name) {
            let message = format!("Index `products`: Attribute `{name}` is not sortable.");
            return Err(Problem::new(400, "invalid_search_sort", message));
        }
        // The rule applies at its position among the ranking rules.
        let rules = self.names("rankingRules");
        let is_first = rules.first() == Some(&"sort");
        found.sort_by(|a, b| {
            let words = |d: &Value| std::cmp::Reverse(self.matched_words(d, text));
            let better = match is_first {
                true => Ordering::Equal,
                false => words(a).cmp(&words(b)),
            };
            let order = compare(&a[name], &b[name]);
            better.then(if direction == "asc" {
                order
            } else {
                order.reverse()
            })
        });
        Ok(())
    }
}

fn check(body: &Map<String, Value>) -> Result<(), Problem> {
    for name in body.keys() {
        if !FIELDS.contains(&name.as_str()) {
            let near = FIELDS
                .iter()
                .find(|field| name.starts_with(**field) && field.len() > 1);
            let hint = near.map_or(String::new(), |near| format!(" did you mean `{near}`?"));
            let fields = FIELDS.map(|field| format!("`{field}`")).join(", ");
            let message = format!("Unknown field `{name}`:{hint} expected one of {fields}");
            return Err(Problem::new(400, "bad_request", message));
        }
    }
    for (name, code) in [
        ("limit", "invalid_search_limit"),
        ("offset", "invalid_search_offset"),
    ] {
        if let Some(value) = body.get(name).filter(|value| !value.is_u64()) {
            let message = format!(
                "Invalid value type at `.{name}`: expected a positive integer, but found a string: `{value}`"
            );
            return Err(Problem::new(400, code, message));
        }
    }
    Ok(())
}

fn number(body: &Map<String, Value>, name: &str, otherwise: u64) -> usize {
    let number = body.get(name).and_then(Value::as_u64);
    usize::try_from(number.unwrap_or(otherwise)).unwrap()
}

fn hit(document: &Value, body: &Map<String, Value>) -> Value {
    let mut hit = document.clone();
    if let Some(wanted) = body.get("attributesToRetrieve").and_then(Value::as_array) {
        let fields = hit.as_object_mut().unwrap();
        fields.retain(|name, _| wanted.iter().any(|wanted| wanted == name));
    }
    if body.get("showRankingScore") == Some(&Value::Bool(true)) {
        hit["_rankingScore"] = 0.75.into();
    }
    hit
}

/// A limited number of values of each: the first by the alphabet, or the most frequent
/// ones if the settings say so.
fn facets(found: &[&Value], names: &Value, settings: &Value) -> Value {
    let most = settings["maxValuesPerFacet"].as_u64().unwrap();
    let by_count = settings["sortFacetValuesBy"]["*"] == "count";
    let mut all = Map::new();
    for name in names.as_array().unwrap() {
        let name = name.as_str().unwrap();
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for value in found.iter().filter_map(|document| document[name].as_str()) {
            *counts.entry(value).or_default() += 1;
        }
        let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
        if by_count {
            counts.sort_by_key(|(_, count)| Reverse(*count));
        }
        counts.truncate(usize::try_from(most).unwrap());
        let counts = counts
            .into_iter()
            .map(|(value, count)| (value.to_owned(), count.into()));
        all.insert(name.into(), Value::Object(counts.collect()));
    }
    all.into()
}

pub fn compare(a: &Value, b: &Value) -> Ordering {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => a.to_string().cmp(&b.to_string()),
    }
}

/// Whether the word is in the text. Latin words of five letters and more may differ by
/// one letter.
fn has_word(text: &str, word: &str) -> bool {
    let is_latin = |word: &str| word.len() >= 5 && word.chars().all(|c| c.is_ascii_alphabetic());
    let one_off = |other: &str| {
        other.len() == word.len()
            && other
                .chars()
                .zip(word.chars())
                .filter(|(a, b)| a != b)
                .count()
                <= 1
    };
    let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
    text.contains(word) || (is_latin(word) && words.any(|other| is_latin(other) && one_off(other)))
}

/// The position of each document in the recorded answer to this text.
fn recorded_places(text: &str) -> HashMap<String, usize> {
    let asked = (0..34).map(recorded).find(|exchange| {
        exchange["request"]["body"]["q"] == text && exchange["response"]["status"] == 200
    });
    let hits = asked.and_then(|exchange| exchange["response"]["body"]["hits"].as_array());
    hits.into_iter()
        .flatten()
        .enumerate()
        .map(|(place, hit)| (id(hit), place))
        .collect()
}
