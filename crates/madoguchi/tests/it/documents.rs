//! What is generated from the code is what is committed. After a change that is
//! meant, `UPDATE_DOCS=1 cargo test --test it documents` writes the files anew.

mod commands;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn madoguchi(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_madoguchi"))
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn tools() -> Vec<Value> {
    serde_json::from_str(&madoguchi(&["tools", "--json"])).unwrap()
}

fn check(path: &str, generated: &str) {
    let path = root().join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, generated).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "{} is not what the code says; see the head of documents.rs",
        path.display()
    );
}

#[test]
fn the_default_configuration_is_current() {
    check(
        "docs/madoguchi.default.toml",
        &madoguchi(&["config", "default"]),
    );
    check(
        "docs/madoguchi.schema.json",
        &madoguchi(&["config", "schema"]),
    );
}

#[test]
fn the_examples_are_valid_configurations() {
    let folder = root().join("docs/examples");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "toml") {
            madoguchi(&["config", "check", path.to_str().unwrap()]);
            seen += 1;
        }
    }
    assert!(seen > 0);
}

/// One file a tool, so that a change of the wire shows up in a review.
#[test]
fn the_tool_definitions_are_current() {
    for tool in tools() {
        let path = format!(
            "docs/tools/{}/{}.json",
            tool["counter"].as_str().unwrap(),
            tool["name"].as_str().unwrap()
        );
        check(
            &path,
            &format!("{}\n", serde_json::to_string_pretty(&tool).unwrap()),
        );
    }
}

#[test]
fn the_tool_tables_are_current() {
    let mut text = String::from("# Tools\n\nGenerated from the code.\n");
    let mut counter = String::new();
    for tool in tools() {
        if tool["counter"] != counter.as_str() {
            counter = tool["counter"].as_str().unwrap().to_owned();
            text.push_str(&format!("\n## {counter}\n"));
        }
        text.push_str(&format!(
            "\n### `{}`\n\n{}\n\n",
            tool["name"].as_str().unwrap(),
            tool["description"].as_str().unwrap()
        ));
        text.push_str(if tool["annotations"]["readOnlyHint"] == true {
            "Changes nothing.\n\n"
        } else {
            "Changes data.\n\n"
        });
        text.push_str("| argument | type | required | what it is |\n|---|---|---|---|\n");
        let required = tool["inputSchema"]["required"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for (name, about) in tool["inputSchema"]["properties"].as_object().unwrap() {
            text.push_str(&format!(
                "| `{name}` | {} | {} | {} |\n",
                about["type"].as_str().unwrap_or("any"),
                if required.iter().any(|r| r == name) {
                    "yes"
                } else {
                    ""
                },
                about["description"].as_str().unwrap_or_default()
            ));
        }
    }
    check("docs/tools.md", &text);
}

/// What every client can take, and a budget for what a model has to read.
#[test]
fn definitions_are_portable() {
    let tools = tools();
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let sentences = tool["description"].as_str().unwrap().matches(". ").count() + 1;
        assert!(sentences <= 2, "{name}: {sentences} sentences");
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
        }
        assert!(tool["title"].is_string(), "{name}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name} {schema}");
            portable(&tool[schema], &format!("{name} {schema}"));
            typed(&tool[schema], &format!("{name} {schema}"));
            for keyword in ["anyOf", "oneOf", "allOf"] {
                assert!(
                    tool[schema].get(keyword).is_none(),
                    "{name} {schema} {keyword}"
                );
            }
        }
    }
}

fn portable(schema: &Value, place: &str) {
    match schema {
        Value::Object(object) => {
            assert!(!object.contains_key("$ref"), "{place}: $ref");
            assert!(
                !object.get("type").is_some_and(Value::is_array),
                "{place}: type union"
            );
            for (key, value) in object {
                portable(value, &format!("{place}/{key}"));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| portable(item, place)),
        _ => {}
    }
}

/// Every schema says what it takes. One that also takes null is a choice of two
/// schemas, the second of which is null.
fn typed(schema: &Value, place: &str) {
    match schema.get("anyOf").and_then(Value::as_array) {
        Some(choices) => {
            assert!(schema.get("type").is_none(), "{place}: type beside anyOf");
            for (index, choice) in choices.iter().enumerate() {
                assert!(choice["type"].is_string(), "{place}: {choice}");
                let is_last = index + 1 == choices.len();
                assert!(choice["type"] != "null" || is_last, "{place}: null first");
                typed(choice, place);
            }
        }
        None => assert!(schema["type"].is_string(), "{place}: {schema}"),
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        typed(property, &format!("{place}.{name}"));
    }
    for inside in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(inside).filter(|inner| !inner.is_boolean()) {
            typed(inner, &format!("{place}.{inside}"));
        }
    }
}
