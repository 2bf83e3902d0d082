use serde_json::json;

use super::{
    super::clients::{CLIENTS, find},
    *,
};

const ALL: &[&str] = &["cinema", "rooms", "todo"];

fn wanted(client: &Client, counter: &'static str, value: Value) -> WantedEntry {
    WantedEntry {
        counter,
        name: client.entry_name(counter),
        entry: value.as_object().unwrap().clone(),
    }
}

fn stdio(client: &Client, counter: &'static str) -> WantedEntry {
    let value = json!({ "command": "/usr/bin/madoguchi", "args": ["stdio", counter] });
    wanted(client, counter, value)
}

fn added(client: &Client, text: &str, wanted: &[WantedEntry]) -> Added {
    add(client, text, wanted, false).unwrap_or_else(|error| panic!("{error:?}"))
}

fn text_of(removed: Removed) -> Option<String> {
    match removed.removal {
        Removal::Text(text) => Some(text),
        Removal::File | Removal::Nothing => None,
    }
}

/// Files as people have them, for each format.
fn samples(format: Format) -> &'static [&'static str] {
    match format {
        Format::Json => &[
            "",
            "{}",
            "{ }\n",
            "{\"mcpServers\":{},\"mcp\":{}}",
            "\u{feff}{\r\n  // mine\r\n  \"x\": [1,\r\n  2],\r\n}\r\n",
            "{\"servers\": {\"other\": {\"command\": \"o\"}}, \"context_servers\": {}}\n",
        ],
        Format::Toml => &[
            "",
            "\n\n# mine\n",
            "\u{feff}a = 1\r\n\r\n\r\n[mcp_servers]\r\n",
            "model = 'x'\n[mcp_servers.other]\ncommand = 'o' # theirs\n\n\n",
            "[mcp_servers.other]\ncommand = 'o'\n[z]\nb = 1",
        ],
        Format::Yaml => &[
            "",
            "# mine\n",
            "GOOSE_MODEL: x\nextensions: {}\n",
            "extensions:\n  dev:\n    type: builtin\n\n\nGOOSE_MODEL: x",
            "\u{feff}extensions:\r\n    dev:\r\n        type: builtin # a\r\n",
        ],
    }
}

#[test]
fn removing_gives_back_every_byte() {
    for client in CLIENTS {
        for before in samples(client.format) {
            let one = added(client, before, &[stdio(client, "todo")]).text;
            let both = added(client, &one, &[stdio(client, "cinema")]).text;
            let remove = |text: &str, counters: &[&'static str]| {
                let removed = remove(client, text, Some(before), counters, ALL).unwrap();
                assert!(removed.is_exact, "{} {before:?}", client.name);
                text_of(removed).unwrap()
            };
            assert_eq!(remove(&both, ALL), *before, "{}", client.name);
            assert_eq!(remove(&both, &["cinema"]), one, "{}", client.name);
            let left = remove(&both, &["todo"]);
            assert_eq!(remove(&left, &["cinema"]), *before, "{}", client.name);
        }
    }
}

#[test]
fn what_others_changed_meanwhile_stays() {
    for client in CLIENTS {
        for before in samples(client.format) {
            let text = added(client, before, &[stdio(client, "todo")]).text;
            let other = wanted(client, "rooms", json!({ "command": "mine", "args": [] }));
            let changed = added(client, &text, std::slice::from_ref(&other)).text;
            let removed = remove(client, &changed, Some(before), ALL, ALL).unwrap();
            assert!(!removed.is_exact && removed.is_all);
            assert_eq!(removed.entries.len(), 1, "{}", client.name);
            let left = text_of(removed).unwrap();
            let expected = added(client, before, &[other]).text;
            let parse = |text: &str| client.format.parse(without_mark(text).1).unwrap();
            assert_eq!(parse(&left), parse(&expected), "{}: {left}", client.name);
        }
    }
}

#[test]
fn a_file_that_was_made_goes_away_again() {
    for client in CLIENTS {
        let text = added(client, "", &[stdio(client, "todo")]).text;
        let removed = remove(client, &text, None, ALL, ALL).unwrap();
        assert!(matches!(removed.removal, Removal::File), "{}", client.name);
        let nothing = remove(client, "", None, ALL, ALL).unwrap();
        assert!(
            matches!(nothing.removal, Removal::Nothing),
            "{}",
            client.name
        );
    }
}

#[test]
fn the_same_again_changes_nothing() {
    for client in CLIENTS {
        let first = added(client, "", &[stdio(client, "todo")]);
        let again = added(client, &first.text, &[stdio(client, "todo")]);
        assert_eq!(again.text, first.text);
        assert_eq!(first.actions, [Action::Added]);
        assert_eq!(again.actions, [Action::Unchanged]);
    }
}

#[test]
fn an_entry_of_somebody_else_is_left_alone() {
    for client in CLIENTS {
        let name = client.entry_name("todo");
        let theirs = wanted(
            client,
            "todo",
            json!({ "command": "npx", "args": ["todo-mcp"] }),
        );
        let before = added(client, "", std::slice::from_ref(&theirs)).text;
        let ours = [stdio(client, "todo")];
        match add(client, &before, &ours, false) {
            Err(EditError::Taken(taken)) => assert_eq!(taken, name),
            _ => panic!("{}", client.name),
        }
        let file = client.format.parse(&before).unwrap();
        assert!(is_taken(client, &file, "todo"));
        let kept = remove(client, &before, None, ALL, ALL).unwrap();
        assert!(matches!(kept.removal, Removal::Nothing), "{}", client.name);

        let forced = add(client, &before, &ours, true).unwrap();
        assert_eq!(forced.actions, [Action::Replaced]);
        let file = client.format.parse(&forced.text).unwrap();
        assert!(!is_taken(client, &file, "todo"));
        let restored = remove(client, &forced.text, Some(&before), ALL, ALL).unwrap();
        assert_eq!(text_of(restored).unwrap(), before, "{}", client.name);
    }
}

#[test]
fn an_update_keeps_what_the_person_added() {
    let client = find("cursor").unwrap();
    let before = r#"{"mcpServers": {"todo": {"command": "/old/madoguchi", "args": ["stdio", "todo"], "env": {"LANG": "ja"}, "disabled": true}}}"#;
    let value = json!({
        "command": "/new/madoguchi", "args": ["stdio", "todo"], "env": { "A": "b" }
    });
    let updated = added(client, before, &[wanted(client, "todo", value)]);
    assert_eq!(updated.actions, [Action::Updated]);
    let todo = &client.format.parse(&updated.text).unwrap()["mcpServers"]["todo"];
    let expected = json!({
        "command": "/new/madoguchi", "args": ["stdio", "todo"],
        "env": { "LANG": "ja", "A": "b" }, "disabled": true
    });
    assert_eq!(*todo, expected);

    // An entry of another kind keeps nothing.
    let value = json!({ "url": "http://127.0.0.1:8010/mcp/todo" });
    let moved = added(
        client,
        &updated.text,
        &[wanted(client, "todo", value.clone())],
    );
    assert_eq!(moved.actions, [Action::Updated]);
    let todo = &client.format.parse(&moved.text).unwrap()["mcpServers"]["todo"];
    assert_eq!(*todo, value);
}

#[test]
fn our_entries_are_known_by_what_they_run() {
    for (is, entry) in [
        (
            true,
            json!({ "command": "madoguchi", "args": ["stdio", "todo"] }),
        ),
        (
            true,
            json!({ "command": ["/a/madoguchi", "stdio", "todo", "--root", "x"] }),
        ),
        (
            true,
            json!({ "cmd": "npx", "args": ["-y", "/p/madoguchi-1.tgz", "stdio", "todo"] }),
        ),
        (
            true,
            json!({ "httpUrl": "https://desk.example.com/mcp/todo/" }),
        ),
        // As `--command` or a renamed program has it.
        (
            true,
            json!({ "command": "ssh", "args": ["host", "desk", "stdio", "todo"] }),
        ),
        (
            false,
            json!({ "command": "madoguchi", "args": ["stdio", "rooms"] }),
        ),
        (
            false,
            json!({ "command": "npx", "args": ["todo-mcp", "stdio"] }),
        ),
        (false, json!({ "command": "stdio", "args": ["todo"] })),
        (false, json!({ "url": "https://example.com/mcp" })),
        (false, json!("madoguchi stdio todo")),
        (false, json!(null)),
    ] {
        assert_eq!(is_ours(&entry, "todo"), is, "{entry}");
    }
}

#[test]
fn opencode_keeps_the_form_of_its_file() {
    let client = find("opencode").unwrap();
    for (before, pointer) in [
        ("{}", "/mcp/todo"),
        (r#"{"mcp": {"x": {"type": "local"}}}"#, "/mcp/todo"),
        (r#"{"mcp": {"servers": {"type": "local"}}}"#, "/mcp/todo"),
        (
            r#"{"mcp": {"servers": {"x": {"type": "local"}}}}"#,
            "/mcp/servers/todo",
        ),
    ] {
        let text = added(client, before, &[stdio(client, "todo")]).text;
        let file = client.format.parse(&text).unwrap();
        assert!(file.pointer(pointer).is_some(), "{text}");
        assert_eq!(ours(client, &file, ALL).len(), 1, "{text}");
    }
}

#[test]
fn twice_the_same_key_is_refused() {
    for (client, text) in [
        ("cursor", r#"{"mcpServers": {}, "mcpServers": {"a": {}}}"#),
        (
            "cursor",
            r#"{"mcpServers": {"todo": {"command": "mine"}, "todo": {"command": "/old/m", "args": ["stdio", "todo"]}}}"#,
        ),
        (
            "goose",
            "extensions:\n  madoguchi-todo:\n    cmd: mine\n  madoguchi-todo:\n    cmd: /old/m\n    args: [stdio, todo]\n",
        ),
    ] {
        let client = find(client).unwrap();
        let refused = add(client, text, &[stdio(client, "todo")], false);
        let advice = Advice {
            taken: "",
            by_hand: "Do it by hand.",
        };
        let error = refused.err().unwrap().about(Path::new("f.json"), &advice);
        assert_eq!(error.code, "UNSUPPORTED_FORM", "{text}");
        assert!(error.text().ends_with("Do it by hand."), "{error:?}");
    }
}

/// An update changes values where they are, even if the person added nothing.
#[test]
fn an_update_keeps_comments_and_order() {
    for (client, before, after) in [
        (
            "cursor",
            "{\"mcpServers\": {\n  // mine\n  \"todo\": { /* why */ \"command\": \"/old/madoguchi\", \"args\": [\"stdio\", \"todo\"] }, // behind\n  \"z\": {}\n}}",
            "{\"mcpServers\": {\n  // mine\n  \"todo\": { /* why */ \"command\": \"/usr/bin/madoguchi\", \"args\": [\"stdio\", \"todo\"] }, // behind\n  \"z\": {}\n}}",
        ),
        (
            "codex",
            "[mcp_servers.todo] # mine\ncommand = '/old/madoguchi' # why\nargs = ['stdio', 'todo']\n\n[z]\n",
            "[mcp_servers.todo] # mine\ncommand = \"/usr/bin/madoguchi\" # why\nargs = ['stdio', 'todo']\n\n[z]\n",
        ),
        (
            "goose",
            "extensions:\n  madoguchi-todo: # mine\n    # why\n    command: /old/madoguchi\n    args: [stdio, todo]\n  z: {}\n",
            "extensions:\n  madoguchi-todo: # mine\n    # why\n    command: /usr/bin/madoguchi\n    args: [stdio, todo]\n  z: {}\n",
        ),
    ] {
        let client = find(client).unwrap();
        let updated = added(client, before, &[stdio(client, "todo")]);
        assert_eq!(updated.actions, [Action::Updated]);
        assert_eq!(updated.text, after);
    }
}

#[test]
fn what_the_person_set_for_goose_stays() {
    let client = find("goose").unwrap();
    let entry = |cmd: &str, enabled: bool, timeout: u64| {
        let value = json!({
            "enabled": enabled, "cmd": cmd, "args": ["stdio", "todo"], "timeout": timeout,
        });
        wanted(client, "todo", value)
    };
    let changed = added(client, "", &[entry("/old/m", false, 17)]).text;
    let updated = added(client, &changed, &[entry("/new/m", true, 300)]).text;
    let expected = added(client, "", &[entry("/new/m", false, 17)]).text;
    assert_eq!(updated, expected);
}

#[test]
fn a_text_without_ours_has_everything_else() {
    for client in CLIENTS {
        for before in samples(client.format) {
            let text = added(client, before, &[stdio(client, "todo")]).text;
            for (text, backup) in [(&*text, Some(*before)), (before, None)] {
                let without = without_ours(client, text, backup, ALL).unwrap();
                assert_eq!(without, *before, "{}", client.name);
            }
        }
    }
}
