//! What packages are made from, and the commands that they need. `scripts/package-test`
//! installs and uses the packages themselves.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::harness::{Desk, Output, Place, mentions};

const NUMBER: &str = env!("CARGO_PKG_VERSION");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What `madoguchi package-files` writes.
fn package_files(place: &Place) -> PathBuf {
    let directory = place.path().join("files");
    place
        .run(&["package-files", directory.to_str().unwrap()])
        .ok();
    directory
}

/// Runs a script of `packaging/`.
fn script(place: &Place, name: &str, arguments: &[&Path]) -> String {
    let mut command = Command::new("python3");
    command
        .args([
            "-B".as_ref(),
            root().join("packaging").join(name).as_os_str(),
        ])
        .args(arguments)
        .current_dir(place.path());
    Output::of(&mut command, "").ok().stdout
}

#[tokio::test(flavor = "multi_thread")]
async fn healthcheck_asks_the_running_desk() {
    let desk = Desk::start().await;
    let port = desk.port.to_string();
    let config = desk.config();
    let check = [
        "healthcheck",
        "--config",
        config.to_str().unwrap(),
        "--port",
    ];
    let good = desk.place.run(&[&check[..], &[&port]].concat()).ok();
    assert_eq!(good.stdout, "ready\n");
    // Nobody listens there.
    let said = desk.place.run(&[&check[..], &["1"]].concat()).failed();
    mentions(&said, &["UNREACHABLE", "127.0.0.1:1", "madoguchi serve"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn healthcheck_needs_no_key_and_no_certificate() {
    let config = "[http]\naddress = \"0.0.0.0\"\ntrusted_network = true\nrequire_key = true\n";
    let desk = Desk::with_config(config).await;
    let (file, port) = (desk.config(), desk.port.to_string());
    let check = [
        "healthcheck",
        "--config",
        file.to_str().unwrap(),
        "--port",
        &port,
    ];
    desk.place.run(&check).ok();
}

#[test]
fn package_files_are_manual_pages_completions_and_a_description_of_the_counters() {
    let place = Place::new();
    let files = package_files(&place);
    let page = |name: &str| fs::read_to_string(files.join("man").join(name)).unwrap();
    mentions(&page("madoguchi.1"), &["madoguchi\\-serve(1)", NUMBER]);
    mentions(&page("madoguchi-keys-create.1"), &["\\-\\-expires"]);
    assert!(!files.join("man/madoguchi-package-files.1").exists());
    for name in ["madoguchi.bash", "madoguchi.fish", "_madoguchi"] {
        let path = files.join("completions").join(name);
        mentions(&fs::read_to_string(path).unwrap(), &["approvals"]);
    }
    let counters = fs::read_to_string(files.join("counters.json")).unwrap();
    let counters: Value = serde_json::from_str(&counters).unwrap();
    let names: Vec<&Value> = counters
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["cinema", "innervoice", "merchant", "rooms", "todo"]);
    assert_eq!(counters[4]["title"], "Tasks and decisions");
    let tools = counters[1]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "calendar_create"));
}

#[test]
fn the_configurations_in_packages_are_valid() {
    let place = Place::new();
    for path in [
        "packaging/image/madoguchi.toml",
        "packaging/debian/madoguchi.toml",
    ] {
        let path = root().join(path);
        place.run(&["config", "check", path.to_str().unwrap()]).ok();
    }
}

/// The rules of the registry's schema of 2025-12-11 for what we use of it.
fn registry_schema() -> Value {
    let argument = json!({
        "type": "object",
        "properties": {
            "type": { "const": "positional" },
            "choices": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["type"],
        "anyOf": [{ "required": ["value"] }, { "required": ["valueHint"] }],
    });
    let variable = json!({
        "type": "object",
        "properties": { "format": { "enum": ["string", "number", "boolean", "filepath"] } },
        "required": ["name"],
    });
    let package = json!({
        "type": "object",
        "properties": {
            "version": { "type": "string", "minLength": 1, "not": { "const": "latest" } },
            "transport": { "type": "object", "properties": { "type": { "const": "stdio" } } },
            "packageArguments": { "type": "array", "items": argument },
            "environmentVariables": { "type": "array", "items": variable },
        },
        "required": ["registryType", "identifier", "transport"],
    });
    json!({
        "type": "object",
        "properties": {
            "$schema": {
                "const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
            },
            "name": {
                "type": "string", "minLength": 3, "maxLength": 200,
                "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
            },
            "title": { "type": "string", "minLength": 1, "maxLength": 100 },
            "description": { "type": "string", "minLength": 1, "maxLength": 100 },
            "version": { "type": "string", "maxLength": 255 },
            "packages": { "type": "array", "items": package },
        },
        "required": ["$schema", "name", "description", "version"],
    })
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn the_registry_would_accept_server_json() {
    let place = Place::new();
    let counters = package_files(&place).join("counters.json");
    let server: Value = serde_json::from_str(&script(&place, "registry.py", &[&counters])).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(&registry_schema())
        .unwrap()
        .iter_errors(&server)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(server["version"], NUMBER);
    // How it finds out that the packages are ours.
    let name = server["name"].as_str().unwrap();
    let label = format!("io.modelcontextprotocol.server.name=\"{name}\"");
    mentions(&read("Dockerfile"), &[&label]);
    let launcher = place.path().join("launcher");
    script(
        &place,
        "npm.py",
        &["launcher".as_ref(), &launcher, "linux-x64".as_ref()],
    );
    let manifest = fs::read_to_string(launcher.join("package.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["mcpName"], name);
    assert_eq!(manifest["version"], NUMBER);
    let depends = json!({ "@madoguchi/linux-x64": NUMBER });
    assert_eq!(manifest["optionalDependencies"], depends);
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn a_wheel_says_which_systems_it_runs_on() {
    let place = Place::new();
    let program = place.file("program", "#!/bin/sh\necho it runs\n");
    let arguments = [
        "linux-x64".as_ref(),
        program.as_path(),
        "2.17".as_ref(),
        place.path(),
    ];
    let wheel = script(&place, "wheel.py", &arguments);
    let name =
        format!("madoguchi-{NUMBER}-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl");
    assert!(wheel.trim().ends_with(&name), "{wheel}");
}

/// The container is as the shop's specification describes it.
#[test]
fn compose_files_have_the_service_and_the_variables_of_the_specification() {
    let alone = read("compose.yaml");
    mentions(
        &alone,
        &["  merchant_agent_mcp:\n    build: .\n", ":8011:8011\""],
    );
    for variable in [
        "DATABASE_URL",
        "MEILISEARCH_URL",
        "MEILISEARCH_MASTER_KEY",
        "MERCHANT_ID",
        "MERCHANT_NAME",
        "SHIPPING_FEE",
        "FREE_SHIPPING_THRESHOLD",
        "TAX_RATE",
        "LOG_LEVEL",
    ] {
        mentions(&alone, &[&format!("      {variable}: ")]);
    }
    mentions(
        &read("compose.full.yaml"),
        &["  postgres:\n", "http://meilisearch:7700"],
    );
}

/// Nothing but Cargo.toml has to change for a new version of the program or of Rust.
#[test]
fn versions_are_written_once() {
    let cargo: toml::Table = toml::from_str(&read("Cargo.toml")).unwrap();
    let rust = cargo["workspace"]["package"]["rust-version"]
        .as_str()
        .unwrap();
    mentions(
        &read("Dockerfile"),
        &[&format!("rust:{rust}-slim-bookworm")],
    );
    mentions(
        &read(".github/workflows/release.yml"),
        &[&format!("rustup default {rust}")],
    );
    for path in [
        "Dockerfile",
        "compose.yaml",
        "packaging/npm.py",
        "packaging/registry.py",
        "packaging/debian/madoguchi.service",
        "scripts/package",
    ] {
        assert!(!read(path).contains(NUMBER), "{path} repeats the version");
    }
}
