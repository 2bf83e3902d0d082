//! Walls that must stay where they are.

use std::{collections::BTreeSet, process::Command};

use serde_json::Value;

/// Each workspace crate with the names of its direct dependencies, without
/// those of its tests.
fn crates() -> Vec<(String, BTreeSet<String>)> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success());
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|dependency| dependency["kind"] != "dev")
                .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
                .collect();
            (package["name"].as_str().unwrap().to_owned(), dependencies)
        })
        .collect()
}

/// Whatever is none of the house's own pieces is a counter.
fn counters() -> Vec<(String, BTreeSet<String>)> {
    let house = ["kit", "store", "search", "host", "madoguchi"];
    let mut all = crates();
    all.retain(|(name, _)| !house.contains(&name.as_str()));
    assert!(all.iter().any(|(name, _)| name == "cinema"));
    all
}

#[test]
fn a_counter_knows_neither_the_desk_nor_the_wire_nor_another_counter() {
    let names: Vec<String> = counters().into_iter().map(|(name, _)| name).collect();
    for (counter, dependencies) in counters() {
        let mut barred = vec![
            "host",
            "axum",
            "hyper",
            "rmcp",
            "rusqlite",
            "tokio-postgres",
        ];
        barred.extend(
            names
                .iter()
                .map(String::as_str)
                .filter(|name| *name != counter),
        );
        for name in barred {
            assert!(!dependencies.contains(name), "{counter} depends on {name}");
        }
    }
}

#[test]
fn the_vocabulary_knows_no_network_and_no_engine() {
    let (_, dependencies) = crates()
        .into_iter()
        .find(|(name, _)| name == "kit")
        .unwrap();
    for name in [
        "axum",
        "hyper",
        "rmcp",
        "rusqlite",
        "tokio-postgres",
        "store",
        "host",
    ] {
        assert!(!dependencies.contains(name), "kit depends on {name}");
    }
    let manifest =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../kit/Cargo.toml")).unwrap();
    let tokio = manifest.lines().find(|line| line.starts_with("tokio ="));
    let parts = r#"default-features = false, features = ["rt", "sync"] }"#;
    assert!(tokio.is_some_and(|line| line.ends_with(parts)), "{tokio:?}");
}

#[test]
fn the_search_engine_knows_nothing_of_ours() {
    let all = crates();
    let names: Vec<&String> = all.iter().map(|(name, _)| name).collect();
    let (_, dependencies) = all.iter().find(|(name, _)| name == "search").unwrap();
    for name in names {
        assert!(!dependencies.contains(name), "search depends on {name}");
    }
}

#[test]
fn only_the_desk_knows_the_protocol_crate() {
    for (name, dependencies) in crates() {
        assert_eq!(dependencies.contains("rmcp"), name == "host", "{name}");
    }
}
