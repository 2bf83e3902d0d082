use serde_json::json;

use super::*;

const JSON: (Format, &[&str]) = (Format::Json, &["mcpServers"]);
const TOML: (Format, &[&str]) = (Format::Toml, &["mcp_servers"]);
const YAML: (Format, &[&str]) = (Format::Yaml, &["extensions"]);

fn entry() -> Entry {
    let entry = json!({ "command": "/bin/m", "args": ["stdio", "todo"], "env": { "A": "x: #y" } });
    entry.as_object().unwrap().clone()
}

#[track_caller]
fn set_gives((format, path): (Format, &[&str]), before: &str, expected: &str) {
    let after = format.set(before, path, "todo", &entry()).unwrap();
    assert_eq!(after, expected, "from {before:?}");
    let servers = &format.parse(&after).unwrap()[path[0]];
    assert_eq!(servers["todo"], Value::Object(entry()));
    // A second time, nothing changes.
    assert_eq!(format.set(&after, path, "todo", &entry()).unwrap(), after);
}

#[test]
fn json_is_added_in_the_style_of_the_file() {
    let from_nothing = r#"{
  "mcpServers": {
    "todo": {
      "command": "/bin/m",
      "args": ["stdio", "todo"],
      "env": {
        "A": "x: #y"
      }
    }
  }
}
"#;
    for empty in ["", "\n"] {
        let after = Format::Json.set(empty, JSON.1, "todo", &entry()).unwrap();
        assert_eq!(after.trim_start(), from_nothing);
    }
    set_gives(
        JSON,
        "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"o\" }, // theirs\n\t},\n\t\"z\": 1.50,\n}\n",
        "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"o\" }, // theirs\n\t\t\"todo\": {\n\t\t\t\"command\": \"/bin/m\",\n\t\t\t\"args\": [\"stdio\", \"todo\"],\n\t\t\t\"env\": {\n\t\t\t\t\"A\": \"x: #y\",\n\t\t\t},\n\t\t},\n\t},\n\t\"z\": 1.50,\n}\n",
    );
    set_gives(
        JSON,
        "{\r\n    \"a\": 1\r\n}\r\n",
        "{\r\n    \"a\": 1,\r\n    \"mcpServers\": {\r\n        \"todo\": {\r\n            \"command\": \"/bin/m\",\r\n            \"args\": [\"stdio\", \"todo\"],\r\n            \"env\": {\r\n                \"A\": \"x: #y\"\r\n            }\r\n        }\r\n    }\r\n}\r\n",
    );
}

#[test]
fn toml_is_added_at_the_end() {
    let table = "[mcp_servers.todo]\ncommand = \"/bin/m\"\nargs = [\"stdio\", \"todo\"]\nenv = { A = \"x: #y\" }\n";
    set_gives(TOML, "", table);
    let mine = "# mine\nmodel = 'x'   # odd\n\n  [mcp_servers.other]\n  command = \"o\"";
    set_gives(TOML, mine, &format!("{mine}\n\n{table}"));
    let windows = "model = \"x\"\r\n";
    let crlf = table.replace('\n', "\r\n");
    set_gives(TOML, windows, &format!("{windows}\r\n{crlf}"));
    // Line ends that differ from each other stay.
    let mixed = "a = 1\r\nb = 2\n";
    set_gives(TOML, mixed, &format!("{mixed}\r\n{crlf}"));
}

#[test]
fn yaml_is_added_to_its_mapping() {
    let block = |indentation: &str, step: &str| {
        format!(
            "{indentation}todo:\n{indentation}{step}command: /bin/m\n{indentation}{step}args:\n{indentation}{step}- stdio\n{indentation}{step}- todo\n{indentation}{step}env:\n{indentation}{step}  A: \"x: #y\"\n"
        )
    };
    let new = format!("extensions:\n{}", block("  ", "  "));
    for (before, after) in [
        ("", new.clone()),
        ("# mine\n", format!("# mine\n{new}")),
        ("a: 1", format!("a: 1\n{new}")),
        ("extensions:\n", new.clone()),
        (
            "extensions: {} # none\na: 1\n",
            format!("extensions: # none\n{}a: 1\n", block("  ", "  ")),
        ),
        ("extensions: null\n", new.clone()),
        (
            "extensions:\n    dev: # theirs\n        type: builtin\n        tip: |\n          a\n\n          b\n\n# after\nb: [1,\n 2]\n",
            format!(
                "extensions:\n    dev: # theirs\n        type: builtin\n        tip: |\n          a\n\n          b\n\n{}# after\nb: [1,\n 2]\n",
                block("    ", "  ")
            ),
        ),
    ] {
        set_gives(YAML, before, &after);
        let windows = before.replace('\n', "\r\n");
        if windows != before {
            set_gives(YAML, &windows, &after.replace('\n', "\r\n"));
        }
    }
}

#[test]
fn only_what_differs_is_updated() {
    for ((format, path), before, after) in [
        (
            JSON,
            "{\n \"mcpServers\": {\n  \"todo\": {\n   \"command\": \"/bin/m\", // why\n   /* args */ \"args\": [\"stdio\"],\n   \"disabled\": true\n  }\n }\n}",
            "{\n \"mcpServers\": {\n  \"todo\": {\n   \"command\": \"/bin/m\", // why\n   /* args */ \"args\": [\"stdio\", \"todo\"],\n   \"disabled\": true,\n   \"env\": {\n    \"A\": \"x: #y\"\n   }\n  }\n }\n}",
        ),
        (
            TOML,
            "[mcp_servers.todo] # mine\nenabled = false\ncommand = '/bin/m' # why\nargs = [\n  \"stdio\", # one\n]\n\n[mcp_servers.todo.env]\nA = 'b'\nB = 'c'\n",
            "[mcp_servers.todo] # mine\nenabled = false\ncommand = '/bin/m' # why\nargs = [\"stdio\", \"todo\"]\n\n[mcp_servers.todo.env]\nA = \"x: #y\"\nB = 'c'\n",
        ),
        (
            TOML,
            "[mcp_servers]\nother = {}\ntodo = { command = 'x' } # end\n",
            "[mcp_servers]\nother = {}\ntodo = { command = \"/bin/m\", args = [\"stdio\", \"todo\"], env = { A = \"x: #y\" } } # end\n",
        ),
        // Dotted keys are written anew.
        (
            TOML,
            "[mcp_servers]\ntodo.command = 'x'\ntodo.args = []\nother.command = 'o'\n",
            "[mcp_servers]\nother.command = 'o'\n\n[mcp_servers.todo]\ncommand = \"/bin/m\"\n",
        ),
        (
            YAML,
            "extensions:\n  todo:\n    enabled: false # off\n    command: /bin/m # why\n    args: [stdio,\n      other]\n  dev:\n    x: 1\n",
            "extensions:\n  todo:\n    enabled: false # off\n    command: /bin/m # why\n    args:\n    - stdio\n    - todo\n    env:\n      A: \"x: #y\"\n  dev:\n    x: 1\n",
        ),
    ] {
        let edited = format.set(before, path, "todo", &entry()).unwrap();
        assert!(edited.starts_with(after), "{edited}");
        let todo = &format.parse(&edited).unwrap()[path[0]]["todo"];
        for (key, value) in entry() {
            if key != "env" {
                assert_eq!(todo[&key], value, "{edited}");
            }
        }
        assert_eq!(todo["env"]["A"], "x: #y", "{edited}");
    }
}

#[test]
fn removing_takes_only_the_entry() {
    for ((format, path), before, after) in [
        (
            JSON,
            "{\n  \"mcpServers\": {\n    \"a\": {}, // one\n    \"todo\": {\n      \"command\": \"m\"\n    },\n    // two\n    \"b\": {}\n  }\n}\n",
            "{\n  \"mcpServers\": {\n    \"a\": {}, // one\n    // two\n    \"b\": {}\n  }\n}\n",
        ),
        (
            TOML,
            "a = 1\n\n[mcp_servers.todo]\ncommand = 'm'\nargs = [\n  '[x]',\n]\n\n[mcp_servers.todo.env]\nA = 'b'\n\n# other\n[mcp_servers.other]\ncommand = 'o'\n",
            "a = 1\n\n# other\n[mcp_servers.other]\ncommand = 'o'\n",
        ),
        (
            TOML,
            "[mcp_servers.other]\ncommand = 'o'\n\n[mcp_servers.todo]\ncommand = 'm'\n",
            "[mcp_servers.other]\ncommand = 'o'\n",
        ),
        // What Codex adds when a tool is always allowed.
        (
            TOML,
            "[mcp_servers.todo]\ncommand = 'm'\nenv.A = 'b'\n[z]\nk = 1\n[mcp_servers.todo.tools.x]\napproval_mode = 'approve'\n",
            "[z]\nk = 1\n",
        ),
        (
            TOML,
            "[mcp_servers]\ntodo = { command = 'm' }\nother.command = 'o'\n",
            "[mcp_servers]\nother.command = 'o'\n",
        ),
        (
            YAML,
            "extensions:\n  # one\n  a: {}\n  todo:\n    args:\n    - x\n  # two\n  b:\n    c: 1\nd: 2\n",
            "extensions:\n  # one\n  a: {}\n  # two\n  b:\n    c: 1\nd: 2\n",
        ),
        (
            YAML,
            "extensions:\n  todo:\n    a: b\nd: 2\n",
            "extensions: {}\nd: 2\n",
        ),
        (
            YAML,
            "extensions:\n  todo:\n  a: 1\n",
            "extensions:\n  a: 1\n",
        ),
    ] {
        assert_eq!(format.remove(before, path, "todo").unwrap(), after);
        assert_eq!(format.remove(after, path, "todo").unwrap(), after);
    }
}

#[test]
fn broken_texts_are_refused_with_their_place() {
    for (format, text, at) in [
        (Format::Json, "{\n  \"a\": 1\n  \"b\": 2\n}", (2, 9)),
        (Format::Json, "{ \"a\": ", (1, 8)),
        (Format::Json, "{\n 'a': 1 }", (2, 2)),
        (Format::Toml, "a = 1\nb = \n", (2, 5)),
        (Format::Toml, "a = 1\na = 2\n", (2, 1)),
        (Format::Yaml, "a: 1\nb: [1\nc: 2\n", (3, 2)),
        (Format::Yaml, "a:\n\t- 1\n", (2, 2)),
    ] {
        let problems = [
            format.parse(text).unwrap_err(),
            format.set(text, &["x"], "todo", &entry()).unwrap_err(),
            format.remove(text, &["x"], "todo").unwrap_err(),
        ];
        for problem in problems {
            match problem {
                Problem::Syntax { line, column, .. } => {
                    assert_eq!((line, column), at, "{text:?}");
                }
                Problem::Form(what) => panic!("{text:?}: {what}"),
            }
        }
    }
}

#[test]
fn other_forms_are_refused() {
    for ((format, path), text) in [
        (JSON, "[]"),
        (JSON, "{\"mcpServers\": []}"),
        (TOML, "mcp_servers = 1\n"),
        (YAML, "- a\n"),
        (YAML, "{extensions: {a: 1}}\n"),
        (YAML, "extensions: {a: 1}\n"),
        (YAML, "extensions: [a]\n"),
        (YAML, "a: 1\n---\nb: 1\n"),
    ] {
        let edited = format.set(text, path, "todo", &entry());
        assert!(
            matches!(edited, Err(Problem::Form(_))),
            "{text}: {edited:?}"
        );
    }
}

#[test]
fn texts_are_read_with_their_keys_in_order() {
    let toml = "z = 1\na = '''x'''\n[t.b]\nk = [1.5, 2024-01-01]\n[t.a]\nh = 0x10\n";
    let read = Format::Toml.parse(toml).unwrap();
    assert_eq!(
        read.to_string(),
        r#"{"z":1,"a":"x","t":{"b":{"k":["1.5","2024-01-01"]},"a":{"h":16}}}"#
    );
    let yaml = "z: 1\na: 'true'\nt: {b: yes, c: ~}\n1: [x, \"y\\n\"]\n";
    let read = Format::Yaml.parse(yaml).unwrap();
    assert_eq!(
        read.to_string(),
        r#"{"z":1,"a":"true","t":{"b":"yes","c":null},"1":["x","y\n"]}"#
    );
}
