//! Which crates and modules may use which others.

mod graph;
mod modules;
mod source;
mod tokens;

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
    let house = ["kit", "store", "search", "desk", "server", "madoguchi"];
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

/// The modules of its own crate that a file uses, by their first name.
fn modules_used(text: &str) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let mut used = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            used.insert(first_name(rest));
            continue;
        };
        // Names at the top of the group, not those inside of others.
        let mut depth = 0;
        let mut is_start = true;
        for (at, letter) in group.char_indices() {
            match letter {
                '}' if depth == 0 => break,
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => is_start = true,
                letter if is_start && letter.is_alphabetic() => {
                    used.insert(first_name(&group[at..]));
                    is_start = false;
                }
                _ => {}
            }
        }
    }
    used
}

fn first_name(text: &str) -> String {
    let is_name = |letter: &char| letter.is_alphanumeric() || *letter == '_';
    text.chars().take_while(is_name).collect()
}

#[test]
fn only_the_wire_imports_the_protocol_crate() {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    for (path, text) in sources("server/src") {
        let imports = text.lines().filter(is_code).any(|it| it.contains("rmcp"));
        let is_wire = path.contains("/src/wire/");
        assert!(is_wire || !imports, "{path} imports rmcp");
    }
}

#[test]
fn the_layers_of_the_server_use_only_those_below() {
    let text = "use crate::{console, wire::{a, transport}};\n// crate::x\ncrate::desk::y()";
    let used = modules_used(text).into_iter().collect::<Vec<_>>();
    assert_eq!(used, ["console", "desk", "wire"]);
    for (folder, above) in [
        ("server/src/wire", &["transport", "console"][..]),
        ("server/src/transport", &["console"]),
    ] {
        for path in source::files(&format!("crates/{folder}")) {
            let used = modules_used(&std::fs::read_to_string(&path).unwrap());
            for module in above {
                assert!(!used.contains(*module), "{} uses {module}", path.display());
            }
        }
    }
}
