use std::{ffi::OsString, path::PathBuf};

use serde_json::json;

use super::{
    super::{edit, paths::Platform},
    *,
};

fn surroundings(platform: Platform, variable: fn(&str) -> Option<OsString>) -> Surroundings {
    Surroundings {
        platform,
        home: "/home/me".into(),
        current: "/home/me/project".into(),
        variable,
    }
}

#[test]
fn files_are_where_each_platform_has_them() {
    let linux = surroundings(Platform::Linux, |_| None);
    let mac = surroundings(Platform::MacOs, |_| None);
    let windows = surroundings(Platform::Windows, |name| {
        (name == "APPDATA").then(|| "/roaming".into())
    });
    let support = "/home/me/Library/Application Support";
    for (name, on_linux, on_mac, on_windows) in [
        (
            "claude-desktop",
            "/home/me/.config/Claude/claude_desktop_config.json",
            &*format!("{support}/Claude/claude_desktop_config.json"),
            "/roaming/Claude/claude_desktop_config.json",
        ),
        (
            "vscode",
            "/home/me/.config/Code/User/mcp.json",
            &format!("{support}/Code/User/mcp.json"),
            "/roaming/Code/User/mcp.json",
        ),
        (
            "zed",
            "/home/me/.config/zed/settings.json",
            "/home/me/.config/zed/settings.json",
            "/roaming/Zed/settings.json",
        ),
        (
            "goose",
            "/home/me/.config/goose/config.yaml",
            "/home/me/.config/goose/config.yaml",
            "/roaming/Block/goose/config/config.yaml",
        ),
    ] {
        let client = find(name).unwrap();
        for (surroundings, expected) in [(&linux, on_linux), (&mac, on_mac), (&windows, on_windows)]
        {
            let path = client.user.path(surroundings);
            assert_eq!(path, PathBuf::from(expected), "{name}");
        }
    }
    // The others are in the same place of the home directory everywhere.
    for (name, expected) in [
        ("claude-code", ".claude.json"),
        ("cursor", ".cursor/mcp.json"),
        ("windsurf", ".codeium/windsurf/mcp_config.json"),
        ("codex", ".codex/config.toml"),
        ("gemini-cli", ".gemini/settings.json"),
        ("lm-studio", ".lmstudio/mcp.json"),
        ("opencode", ".config/opencode/opencode.json"),
    ] {
        for surroundings in [&linux, &mac, &windows] {
            let path = find(name).unwrap().user.path(surroundings);
            assert_eq!(path, PathBuf::from("/home/me").join(expected), "{name}");
        }
    }
}

#[test]
fn variables_of_the_clients_move_their_files() {
    let moved = surroundings(Platform::Linux, |name| {
        Some(format!("/moved/{name}").into())
    });
    for (name, expected) in [
        ("claude-code", "/moved/CLAUDE_CONFIG_DIR/.claude.json"),
        ("codex", "/moved/CODEX_HOME/config.toml"),
        ("gemini-cli", "/moved/GEMINI_CLI_HOME/.gemini/settings.json"),
        ("goose", "/moved/XDG_CONFIG_HOME/goose/config.yaml"),
        ("opencode", "/moved/XDG_CONFIG_HOME/opencode/opencode.json"),
        ("zed", "/moved/XDG_CONFIG_HOME/zed/settings.json"),
    ] {
        let path = find(name).unwrap().user.path(&moved);
        assert_eq!(path, PathBuf::from(expected));
    }
    let relative = surroundings(Platform::Linux, |_| Some("here".into()));
    let path = find("codex").unwrap().user.path(&relative);
    assert_eq!(path, PathBuf::from("/home/me/.codex/config.toml"));
}

#[test]
fn projects_have_their_own_files() {
    let here = surroundings(Platform::Linux, |_| None);
    let of_projects: Vec<_> = CLIENTS
        .iter()
        .filter_map(|client| {
            let path = client.place(Scope::Project)?.path(&here);
            let path = path.strip_prefix("/home/me/project").unwrap();
            Some((client.name, path.to_str().unwrap().to_owned()))
        })
        .collect();
    let expected = [
        ("claude-code", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("zed", ".zed/settings.json"),
        ("codex", ".codex/config.toml"),
        ("gemini-cli", ".gemini/settings.json"),
        ("opencode", "opencode.json"),
    ];
    assert_eq!(
        of_projects,
        expected.map(|(name, path)| (name, path.to_owned()))
    );
}

#[test]
fn an_existing_file_of_opencode_is_preferred() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/opencode");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("opencode.jsonc"), "{}").unwrap();
    let here = Surroundings {
        home: home.path().into(),
        ..surroundings(Platform::Linux, |_| None)
    };
    let path = find("opencode").unwrap().user.path(&here);
    assert_eq!(path, folder.join("opencode.jsonc"));
    assert!(find("opencode").unwrap().is_present(&here));
    assert!(!find("goose").unwrap().is_present(&here));
}

/// What each client gets for a server that it starts, in the words of its documentation.
fn documented_stdio(client: &str) -> Value {
    match client {
        "claude-desktop" | "windsurf" | "zed" | "codex" | "gemini-cli" | "lm-studio" => {
            json!({ "command": "m", "args": ["stdio", "x"], "env": { "A": "b" } })
        }
        "claude-code" | "cursor" | "vscode" => json!({
            "type": "stdio", "command": "m", "args": ["stdio", "x"], "env": { "A": "b" }
        }),
        "goose" => json!({
            "enabled": true, "type": "stdio", "name": "n", "description": "d", "cmd": "m",
            "args": ["stdio", "x"], "envs": { "A": "b" }, "timeout": 300
        }),
        "opencode" => json!({
            "type": "local", "command": ["m", "stdio", "x"], "environment": { "A": "b" }
        }),
        other => panic!("{other}"),
    }
}

/// The same for a desk with a key.
fn documented_remote(client: &str, url: &str) -> Option<Value> {
    let header = |form: &str| json!({ "Authorization": format!("Bearer {form}") });
    Some(match client {
        "claude-desktop" => return None,
        "claude-code" => json!({ "type": "http", "url": url, "headers": header("${KEY}") }),
        "cursor" => json!({ "url": url, "headers": header("${env:KEY}") }),
        "vscode" => json!({ "type": "http", "url": url, "headers": header("${env:KEY}") }),
        "windsurf" => json!({ "serverUrl": url, "headers": header("${env:KEY}") }),
        "zed" | "lm-studio" => json!({ "url": url }),
        "codex" => json!({ "url": url, "bearer_token_env_var": "KEY" }),
        "gemini-cli" => json!({ "httpUrl": url, "headers": header("${KEY}") }),
        "goose" => json!({
            "enabled": true, "type": "streamable_http", "name": "n", "description": "d",
            "uri": url, "headers": header("${KEY}"), "env_keys": ["KEY"], "timeout": 300
        }),
        "opencode" => json!({ "type": "remote", "url": url, "headers": header("{env:KEY}") }),
        other => panic!("{other}"),
    })
}

#[test]
fn entries_are_as_each_client_documents_them() {
    let url = "http://h/mcp/x";
    for client in CLIENTS {
        let stdio = (client.stdio)(&Stdio {
            name: "n".into(),
            description: "d",
            command: "m".into(),
            arguments: vec!["stdio".into(), "x".into()],
            environment: json!({ "A": "b" }).as_object().unwrap().clone(),
        });
        assert_eq!(
            edit::command(&stdio),
            ["m", "stdio", "x"],
            "{}",
            client.name
        );
        assert_eq!(Value::Object(stdio), documented_stdio(client.name));
        let remote = client.remote.map(|entry| {
            let entry = entry(&Remote {
                name: "n".into(),
                description: "d",
                url: url.into(),
                key: Some(("KEY".into(), client.key)),
            });
            assert_eq!(edit::url(&entry), Some(url), "{}", client.name);
            Value::Object(entry)
        });
        assert_eq!(
            remote,
            documented_remote(client.name, url),
            "{}",
            client.name
        );
    }
}
