//! The dashboard in `docs/examples` asks for what `/metrics` has.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::{Value, json};
use store::testing::Postgres;

use crate::harness::Desk;

/// What Prometheus and Grafana add to each series.
const ADDED: [&str; 2] = ["instance", "job"];

/// Every text of the dashboard that is a query.
fn queries(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| queries(item, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(text) if ["expr", "query", "definition"].contains(&name.as_str()) => {
                        found.insert(text.to_owned());
                    }
                    _ => queries(value, found),
                }
            }
        }
        _ => {}
    }
}

/// Each metric in a query, with the labels that are named in braces behind it.
fn metrics(query: &str) -> Vec<(String, Vec<String>)> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    for (at, _) in query.match_indices("madoguchi_") {
        let rest = &query[at..];
        let end = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let inside = rest.strip_prefix('{').and_then(|it| it.split_once('}'));
        let labels = inside.map_or("", |(inside, _)| inside).split(',');
        let labels = labels
            .filter_map(|it| it.split_once('='))
            .map(|(name, _)| name.trim());
        found.push((name.to_owned(), labels.map(str::to_owned).collect()));
    }
    found
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn every_query_of_the_dashboard_names_metrics_and_labels_that_exist() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/grafana-dashboard.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    // There it has all of them.
    let url = Postgres::shared().create_database();
    let desk = Desk::setup().database(&url).start().await;
    desk.ok("fixture", "fixture_write", json!({})).await;
    let text = desk.get("/metrics").await.text();
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, _) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let labels = labels.split(',').filter_map(|it| it.split_once('='));
        let labels = labels.map(|(name, _)| name.to_owned());
        known.entry(name.to_owned()).or_default().extend(labels);
    }
    let mut asked = BTreeSet::new();
    queries(&dashboard, &mut asked);
    let mut used = BTreeSet::new();
    for query in &asked {
        for (name, labels) in metrics(query) {
            let has = known.get(&name);
            let has = has.unwrap_or_else(|| panic!("{name} is not in /metrics: {query}"));
            for label in labels {
                let exists = has.contains(&label) || ADDED.contains(&label.as_str());
                assert!(exists, "{name} has no label {label}: {query}");
            }
            used.insert(name);
        }
    }
    assert!(used.len() > 8, "{used:?}");
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<_> = panels.iter().map(|it| it["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "two panels have the same id");
}
