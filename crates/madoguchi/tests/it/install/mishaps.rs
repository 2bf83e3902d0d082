//! Odd surroundings and mistakes: nothing is lost, and the message says what to do.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::Path,
};

use super::{command, run, write};
use crate::harness::{Output, Place, mentions};

/// Runs a command line in a directory.
fn run_in(place: &Place, directory: &Path, line: &str) -> Output {
    let mut command = command(place);
    Output::of(command.args(line.split(' ')).current_dir(directory), "")
}

#[test]
fn an_entry_that_force_replaces_is_in_the_backup() {
    let place = Place::new();
    run(&place, "install cursor rooms").ok();
    let path = place.path().join(".cursor/mcp.json");
    let text = fs::read_to_string(&path).unwrap();
    let mine = r#""mcpServers": { "cinema": { "command": "mine" },"#;
    fs::write(&path, text.replacen("\"mcpServers\": {", mine, 1)).unwrap();
    let said = run(&place, "install cursor cinema --force").ok().stdout;
    let backup = path.with_file_name("mcp.json.madoguchi-backup");
    mentions(&said, &["replaced", backup.to_str().unwrap()]);
    let saved = fs::read_to_string(&backup).unwrap();
    assert!(
        saved.contains("mine") && !saved.contains("rooms"),
        "{saved}"
    );
    run(&place, "uninstall cursor").ok();
    let left = fs::read_to_string(&path).unwrap();
    assert!(!left.contains("madoguchi"), "{left}");
}

#[test]
fn the_backup_of_a_file_that_went_away_stays() {
    let place = Place::new();
    let path = write(&place, ".cursor/mcp.json", "{\"precious\": 1}");
    run(&place, "install cursor rooms").ok();
    fs::remove_file(&path).unwrap();
    let said = run(&place, "install cursor rooms").ok().stdout;
    let backup = path.with_file_name("mcp.json.madoguchi-backup");
    mentions(&said, &[backup.to_str().unwrap()]);
    mentions(&fs::read_to_string(&backup).unwrap(), &["precious"]);
}

#[test]
fn a_program_of_any_name_is_found_again() {
    let place = Place::new();
    let here = place.path().canonicalize().unwrap();
    for (given, written) in [
        ("ssh", "ssh".to_owned()),
        ("./bin/desk", format!("{}/bin/desk", here.display())),
        ("~/desk", format!("{}/desk", place.path().display())),
    ] {
        let line = format!("install codex cinema --command {given}");
        let added = run(&place, &line).ok().stdout;
        mentions(&added, &["added", &format!("{written} stdio cinema")]);
        mentions(&run(&place, &line).ok().stdout, &["unchanged"]);
        mentions(&run(&place, "uninstall codex").ok().stdout, &["removed"]);
    }
}

#[test]
fn the_configuration_of_this_directory_is_passed_on() {
    let place = Place::new();
    let config = place.file("madoguchi.toml", "").canonicalize().unwrap();
    let printed = run(&place, "install codex cinema --print").ok().stdout;
    let named = format!("\"--config\", \"{}\"", config.display());
    mentions(&printed, &[&named]);
}

#[test]
fn the_home_directory_is_not_a_project() {
    let place = Place::new();
    for client in ["cursor", "codex", "gemini-cli"] {
        let line = format!("install {client} cinema --scope project");
        run(&place, &line).fails_with("NOT_A_PROJECT");
    }
    run(&place, "install claude-code cinema --scope project").ok();
}

#[test]
fn odd_directories_are_named_as_they_are() {
    let place = Place::new();
    let odd = place.path().join("it's 窓口");
    fs::create_dir(&odd).unwrap();
    let said = run_in(&place, &odd, "install windsurf todo").failed();
    mentions(&said, &["PROJECT_NEEDED", "/it'\\''s 窓口'"]);
    let mut gone = std::process::Command::new("sh");
    place.enter(&mut gone);
    let script = r#"cd "$1" && rmdir "$1" && exec "$2" install codex cinema"#;
    gone.args(["-c", script, "sh"])
        .arg(&odd)
        .arg(env!("CARGO_BIN_EXE_madoguchi"));
    let said = Output::of(&mut gone, "").failed();
    mentions(&said, &["NO_DIRECTORY", "Change to a directory"]);
}

#[test]
fn a_variable_that_is_not_utf_8_does_no_harm() {
    let place = Place::new();
    let mut install = command(&place);
    install
        .args(["install", "codex", "cinema"])
        .env("ODD", OsStr::from_bytes(b"\xff"));
    Output::of(&mut install, "").ok();
}

#[test]
fn a_file_that_is_read_only_stays_as_it_is() {
    let place = Place::new();
    run(&place, "install cursor cinema").ok();
    let path = place.path().join(".cursor/mcp.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    for (line, advice) in [
        ("install cursor rooms", "--print"),
        ("uninstall cursor", "Remove the entry by hand."),
    ] {
        let said = run(&place, line).failed();
        mentions(&said, &["FILE_UNUSABLE", "read-only", advice]);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}
