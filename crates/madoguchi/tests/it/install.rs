//! `madoguchi install` and `madoguchi uninstall`: what they write for each client, and
//! that everything else stays as it is.

mod agents;
mod entries;
mod mishaps;
mod terminal;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::harness::{Output, Place, mentions};

/// Each client with its file below the home directory.
pub const CLIENTS: [(&str, &str); 11] = [
    ("claude-desktop", "config/Claude/claude_desktop_config.json"),
    ("claude-code", ".claude.json"),
    ("cursor", ".cursor/mcp.json"),
    ("vscode", "config/Code/User/mcp.json"),
    ("windsurf", ".codeium/windsurf/mcp_config.json"),
    ("zed", "config/zed/settings.json"),
    ("codex", ".codex/config.toml"),
    ("gemini-cli", ".gemini/settings.json"),
    ("lm-studio", ".lmstudio/mcp.json"),
    ("goose", "config/goose/config.yaml"),
    ("opencode", "config/opencode/opencode.json"),
];

/// The program with this place as home, without a data directory and without the clients
/// of this machine.
pub fn command(place: &Place) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_madoguchi"));
    place.enter(&mut command);
    command
        .env("XDG_CONFIG_HOME", place.path().join("config"))
        .env("PATH", place.path().join("bin"));
    command
}

/// Runs a command line, whose words have no spaces.
pub fn run(place: &Place, line: &str) -> Output {
    Output::of(command(place).args(line.split(' ')), "")
}

/// Every file below a directory.
fn files(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => {
                let text = fs::read_to_string(&path).unwrap();
                found.insert(path, text);
            }
        }
    }
    found
}

fn write(place: &Place, file: &str, text: &str) -> PathBuf {
    let path = place.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn every_client_gets_an_entry_and_loses_it_again() {
    for (client, file) in CLIENTS {
        let place = Place::new();
        let line = format!("install {client} rooms todo --root /srv/project");
        let printed = run(&place, &format!("{line} --print")).ok().stdout;
        assert!(
            files(place.path()).is_empty(),
            "{client}: --print writes nothing"
        );
        let installed = run(&place, &line).ok();
        let path = place.path().join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|it| panic!("{client}: {it}"));
        mentions(&printed, &[path.to_str().unwrap(), &text]);
        mentions(
            &text,
            &[
                "madoguchi",
                "stdio",
                "rooms",
                "/srv/project",
                "AGENT_COMM_DATA_DIR",
            ],
        );
        mentions(
            &installed.stdout,
            &["added", "uninstall", path.to_str().unwrap()],
        );
        mentions(&installed.stderr, &["cargo clean", "was not found here"]);

        let again = run(&place, &line).ok();
        mentions(&again.stdout, &["unchanged"]);
        assert!(
            !again.stderr.contains("not found"),
            "{client}: {}",
            again.stderr
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{client}");
        assert_eq!(files(place.path()).len(), 1, "{client}");

        let one = run(&place, &format!("uninstall {client} rooms"))
            .ok()
            .stdout;
        mentions(&one, &["removed", "rooms"]);
        let left = fs::read_to_string(&path).unwrap();
        assert!(
            left.contains("todo") && !left.contains("rooms"),
            "{client}: {left}"
        );
        run(&place, &format!("uninstall {client}")).ok();
        assert!(files(place.path()).is_empty(), "{client}: as before");
        let nothing = run(&place, &format!("uninstall {client}")).ok().stdout;
        mentions(&nothing, &["has no entry"]);
    }
}

/// A file as somebody keeps it, with comments, other servers and a layout of their own.
fn personal(client: &str) -> &'static str {
    match client {
        "codex" => {
            "# how I like it\r\nmodel = \"gpt-5\"   # fast\r\n\r\n  [mcp_servers.docs]\r\n  \
             command = 'docs-mcp'\r\n  args = [\r\n    \"--verbose\", # for now\r\n  ]\r\n\r\n\
             [projects.\"/home/me\"]\r\ntrust_level = \"trusted\""
        }
        "goose" => {
            "# how I like it\nGOOSE_MODEL: gpt-5   # fast\nextensions:\n    developer:\n        \
             enabled: true # always\n        type: builtin\n        name: developer\n\n\n    \
             # my notes\n    todo: {enabled: true, type: platform, name: todo}\n\n# the end\n\
             GOOSE_PROVIDER: 'openai'\n"
        }
        _ => {
            "\u{feff}{\n\t// how I like it\n\t\"theme\":   \"dark\",\n\t\"mcpServers\": {\n\t\t\"docs\": \
             {\"command\": \"docs-mcp\"}, // mine\n\t},\n\t\"servers\": {\n\t\t\"docs\": {}\n\t},\n\t\"mcp\": {\n\t\t\"docs\": \
             {\"type\": \"local\", \"command\": [\"d\"]},\n\t},\n\t\"context_servers\": {},\n\t\
             /* the end */\n}"
        }
    }
}

#[test]
fn files_of_people_keep_everything_else() {
    for (client, file) in CLIENTS {
        let place = Place::new();
        let before = personal(client);
        let path = write(&place, file, before);
        let line = format!("install {client} cinema todo --root /srv/project");
        let said = run(&place, &line).ok().stdout;
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines();
        for line in before.lines() {
            let line = line.trim_end_matches([',', '}', '{', ' ']);
            assert!(
                lines.any(|kept| kept.starts_with(line)),
                "{client}: {line:?} is missing or moved in\n{text}"
            );
        }
        assert_eq!(text.contains('\r'), before.contains('\r'), "{client}");
        let backup = format!("{}.madoguchi-backup", path.display());
        mentions(&said, &[&backup]);
        assert_eq!(fs::read_to_string(&backup).unwrap(), before, "{client}");
        run(&place, &format!("uninstall {client}")).ok();
        assert_eq!(fs::read_to_string(&path).unwrap(), before, "{client}");
        assert_eq!(files(place.path()).len(), 1, "{client}: no backup is left");
    }
}

#[test]
fn broken_files_are_refused_and_untouched() {
    for (client, file) in CLIENTS {
        let place = Place::new();
        let broken = match client {
            "codex" => "model = \"gpt-5\"\n[mcp_servers\n",
            "goose" => "extensions:\n  dev: [1\n  other: 2\n",
            _ => "{\n  \"mcpServers\": {\n    \"a\": {}\n    \"b\": {}\n  }\n}\n",
        };
        let path = write(&place, file, broken);
        for line in [
            format!("install {client} cinema"),
            format!("uninstall {client} cinema"),
        ] {
            let said = run(&place, &line).failed();
            mentions(
                &said,
                &["BROKEN_FILE", path.to_str().unwrap(), " line ", " column "],
            );
            assert_eq!(files(place.path()).len(), 1, "{client}");
            assert_eq!(fs::read_to_string(&path).unwrap(), broken);
        }
    }
}

#[test]
fn an_entry_of_somebody_else_is_replaced_only_by_force() {
    let place = Place::new();
    let before = r#"{"mcpServers": {"todo": {"command": "npx", "args": ["todo-mcp"]}}}"#;
    let path = write(&place, ".cursor/mcp.json", before);
    let line = "install cursor todo --root /srv/project";
    let refused = run(&place, line).failed();
    mentions(&refused, &["ENTRY_TAKEN", "`todo`", "--force"]);
    run(&place, "uninstall cursor todo").fails_with("ENTRY_TAKEN");
    run(&place, "uninstall cursor").ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    let forced = run(&place, &format!("{line} --force --json")).ok().json();
    assert_eq!(forced["entries"][0]["action"], "replaced", "{forced}");
    run(&place, "uninstall cursor").ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn a_project_has_its_own_file_where_the_client_has_one() {
    for (client, file) in [
        ("claude-code", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("zed", ".zed/settings.json"),
        ("codex", ".codex/config.toml"),
        ("gemini-cli", ".gemini/settings.json"),
        ("opencode", "opencode.json"),
    ] {
        let place = Place::new();
        let project = place.path().join("project");
        fs::create_dir(&project).unwrap();
        let run = |line: &str| {
            let mut command = command(&place);
            Output::of(command.args(line.split(' ')).current_dir(&project), "")
        };
        run(&format!("install {client} todo --scope project")).ok();
        let text = fs::read_to_string(project.join(file)).unwrap();
        let root = match client {
            "cursor" | "vscode" => "${workspaceFolder}",
            _ => project.to_str().unwrap(),
        };
        mentions(&text, &["--root", root]);
        run(&format!("uninstall {client} --scope project")).ok();
        assert!(files(place.path()).is_empty(), "{client}");
    }
    let place = Place::new();
    for client in ["claude-desktop", "windsurf", "lm-studio", "goose"] {
        for line in [
            "install CLIENT cinema --scope project",
            "uninstall CLIENT --scope project",
        ] {
            let said = run(&place, &line.replace("CLIENT", client)).failed();
            mentions(&said, &["NO_PROJECT_SCOPE", "claude-code", "opencode"]);
        }
    }
    assert!(files(place.path()).is_empty());
}

#[test]
fn without_a_terminal_nothing_is_asked() {
    let place = Place::new();
    let none = run(&place, "install").ok().stdout;
    mentions(&none, &["No MCP client", "claude-code", "cinema"]);
    fs::create_dir(place.path().join(".cursor")).unwrap();
    let listed = run(&place, "install").ok().stdout;
    mentions(&listed, &["Cursor", "madoguchi install cursor"]);
    let listed = run(&place, "install --json").ok().json();
    let cursor = &listed.as_array().unwrap()[2];
    assert_eq!(cursor["client"], "cursor", "{listed}");
    assert_eq!(cursor["present"], true, "{listed}");
    assert_eq!(listed[3]["present"], false, "{listed}");

    let said = run(&place, "install cursor").failed();
    mentions(
        &said,
        &["NO_COUNTER", "cinema, innervoice, merchant, rooms, todo"],
    );
    run(&place, "install cursr todo").fails_with("Did you mean `cursor`?");
    run(&place, "install cursor tudo").fails_with("Did you mean `todo`?");
    run(&place, "uninstall cursr").fails_with("Did you mean `cursor`?");
    for client in ["claude-desktop", "windsurf", "lm-studio", "cursor"] {
        let said = run(&place, &format!("install {client} todo")).failed();
        mentions(&said, &["PROJECT_NEEDED", "--root"]);
    }
    assert!(files(place.path()).is_empty());
}

#[test]
fn several_at_once_lose_nothing() {
    let place = Place::new();
    let path = write(&place, ".claude.json", "{\"numStartups\": 7}");
    let counters = ["cinema", "innervoice", "merchant", "rooms", "todo"];
    std::thread::scope(|scope| {
        for counter in counters {
            let place = &place;
            scope.spawn(move || run(place, &format!("install claude-code {counter}")).ok());
        }
    });
    let text = fs::read_to_string(&path).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        value["mcpServers"].as_object().unwrap().len(),
        counters.len()
    );
    assert_eq!(value["numStartups"], 7);
    run(&place, "uninstall claude-code").ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"numStartups\": 7}");
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let place = Place::new();
    write(&place, ".cursor", "a file where the directory should be");
    let said = run(&place, "install cursor cinema").failed();
    mentions(&said, &["FILE_UNUSABLE", ".cursor/mcp.json", "--print"]);
}
