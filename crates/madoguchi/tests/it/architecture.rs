//! Which crates and modules may use which others.

mod graph;
mod modules;
mod source;
mod tokens;

use std::{collections::BTreeSet, path::Path, process::Command};

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
    let house = [
        "kit",
        "store",
        "search",
        "desk",
        "server",
        "telemetry",
        "madoguchi",
    ];
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
            "desk",
            "server",
            "store",
            "axum",
            "hyper",
            "rmcp",
            "rusqlite",
            "tokio-postgres",
        ];
        if counter != "merchant" {
            barred.push("search");
        }
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
fn kit_knows_no_network_and_no_database() {
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
        "desk",
        "server",
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
fn the_search_engine_depends_on_no_crate_of_ours() {
    let all = crates();
    let names: Vec<&String> = all.iter().map(|(name, _)| name).collect();
    let (_, dependencies) = all.iter().find(|(name, _)| name == "search").unwrap();
    for name in names {
        assert!(!dependencies.contains(name), "search depends on {name}");
    }
}

#[test]
fn only_the_server_knows_the_protocol_and_the_network() {
    for (name, dependencies) in crates() {
        assert_eq!(dependencies.contains("rmcp"), name == "server", "{name}");
        assert_eq!(dependencies.contains("axum"), name == "server", "{name}");
    }
    let (_, desk) = crates()
        .into_iter()
        .find(|(name, _)| name == "desk")
        .unwrap();
    for name in ["server", "hyper", "http", "tokio-rustls", "store"] {
        assert!(!desk.contains(name), "the desk depends on {name}");
    }
}

#[test]
fn only_the_wire_imports_the_protocol_crate() {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    for path in source::files("crates/server/src") {
        let text = std::fs::read_to_string(&path).unwrap();
        let imports = text.lines().filter(is_code).any(|it| it.contains("rmcp"));
        let is_wire = path.to_str().unwrap().contains("/src/wire/");
        assert!(is_wire || !imports, "{} imports rmcp", path.display());
    }
}

#[test]
fn the_layers_of_the_server_use_only_those_below() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/src");
    let uses = modules::Crate::read(&Path::new(root).join("lib.rs")).uses();
    assert!(uses.len() > 30);
    for (layer, above) in [
        ("wire", "transport"),
        ("wire", "console"),
        ("transport", "console"),
    ] {
        let is_in =
            |file: &Path, layer: &str| file.to_str().unwrap().contains(&format!("/src/{layer}"));
        for (file, used) in uses.iter().filter(|(file, _)| is_in(file, layer)) {
            let wrong = used.iter().find(|used| is_in(used, above));
            assert_eq!(wrong, None, "used by {}", file.display());
        }
    }
}
