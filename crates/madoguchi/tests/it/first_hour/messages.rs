//! What goes wrong in the first hour. Each message ends with the command that helps.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    process::{Command, Stdio},
};

use serde_json::json;

use crate::harness::{
    Desk, Output, Pipe, Place, call, clients, is_root, mentions, result, skipped,
};

/// A failed command's message, which must end like this.
#[track_caller]
fn ends_with(output: Output, end: &str) {
    let said = output.failed();
    let message = said.lines().find(|line| line.starts_with("error: "));
    let message = message.unwrap_or_else(|| panic!("{said}"));
    assert!(
        message.ends_with(end),
        "{message:?} does not end with {end:?}"
    );
}

#[test]
fn mistakes_on_the_command_line_and_in_the_configuration() {
    let place = Place::new();
    place.file("typo.toml", "[http]\nprt = 1\n");
    place.file("broken.toml", "[http\n");
    place.file("mistyped.toml", "[http]\nport = \"x\"\n");
    for (line, end) in [
        ("stdio cinma", "madoguchi tools"),
        ("demo load cinma", "madoguchi tools"),
        ("demo load todo", "madoguchi demo tour"),
        ("call cinema get_movie_lists", "madoguchi tools cinema"),
        ("keys create x --counters cinma", "madoguchi tools"),
        ("tools --tools get_movie_lst", "madoguchi tools"),
        ("serve --config typo.toml", "madoguchi config default"),
        (
            "serve --config broken.toml",
            "madoguchi config check broken.toml",
        ),
        ("serve --config mistyped.toml", "madoguchi config check"),
        (
            "serve --config none.toml",
            "madoguchi config default > none.toml",
        ),
        (
            "serve --port 0 --merchant-port 0 --innervoice-port 0",
            "madoguchi serve --port 8010",
        ),
        (
            "call cinema get_movie_list --url http://127.0.0.1:1",
            "madoguchi serve",
        ),
    ] {
        ends_with(place.run_line(line), end);
    }
    // The command that is named helps.
    let default = place.run_line("config default").ok().stdout;
    place.file("none.toml", &default);
    place.run_line("config check none.toml").ok();
}

#[tokio::test]
async fn a_taken_port_comes_with_one_that_is_free() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let others = ["--merchant-port", "0", "--innervoice-port", "0"];
    let serve = ["serve", "--port", &port.to_string()];
    let said = place.run(&[&serve[..], &others].concat()).failed();
    let (_, command) = said.trim_end().rsplit_once("To use another: ").unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[..3], ["madoguchi", "serve", "--port"], "{said}");
    let free: u16 = words[3].parse().unwrap();
    TcpListener::bind(("127.0.0.1", free)).unwrap();
    assert_eq!(words[4..], ["--data", place.data().to_str().unwrap()]);
}

#[tokio::test]
async fn a_wrong_key_comes_with_the_command_that_makes_one() {
    let desk = Desk::with_config("[http]\nrequire_key = true\n").await;
    let url = desk.url("");
    let call = ["call", "cinema", "get_movie_list", "--url", &url];
    for key in [&[][..], &["--key", "mdg_wrong"]] {
        let output = desk.place.run(&[&call[..], key].concat());
        ends_with(output, "madoguchi keys create NAME");
    }
    let right = desk.place.create_key(&["NAME"]);
    desk.place
        .run(&[&call[..], &["--key", &right]].concat())
        .ok();
    // A stdio process with a wrong key says so when it starts.
    let wrong = [("MADOGUCHI_KEY", "mdg_wrong")];
    let said = desk
        .place
        .run_with(&["stdio", "cinema"], &wrong)
        .ok()
        .stderr;
    mentions(&said, &["is not a valid key", "madoguchi keys create NAME"]);
}

#[tokio::test]
async fn data_of_a_newer_version() {
    let place = Place::new();
    place.run_line("keys list").ok();
    for newer in [
        "INSERT INTO madoguchi_migrations VALUES ('desk', 999, 'x', 'x', 0)",
        "UPDATE madoguchi_compatibility SET oldest = 999 WHERE owner = 'desk'",
    ] {
        let database = clients::python_reading(&place, "database.py", newer.into());
        database.await.ok();
    }
    ends_with(place.run_line("keys list"), "madoguchi serve --data DIR");
    ends_with(place.run_line("serve"), "madoguchi serve --data DIR");
}

#[test]
fn a_locked_database_comes_with_the_command_that_names_the_program() {
    let place = Place::new();
    place.run_line("keys list").ok();
    let database = place.data().join("madoguchi.db");
    let mut command = clients::python_beside(&place, "database.py", &["locked"]);
    let (stdin, stdout) = (Stdio::piped(), Stdio::piped());
    let mut locking = command.stdin(stdin).stdout(stdout).spawn().unwrap();
    let mut line = String::new();
    let stdout = locking.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    assert_eq!(line, "locked\n");
    let end = format!("fuser -v {}", database.display());
    ends_with(place.run_line("keys list"), &end);
    drop(locking.stdin.take());
    assert!(locking.wait().unwrap().success());
    place.run_line("keys list").ok();
}

/// Somebody who is not the superuser.
const NOBODY: u32 = 65534;

#[test]
fn data_of_another_user_or_on_a_read_only_place() {
    let place = Place::new();
    let data = place.data();
    fs::create_dir(&data).unwrap();
    let is_root = is_root();
    let as_nobody = |arguments: &[&str]| {
        let mut command = Command::new(place.program_for_others());
        place.enter(&mut command);
        command.env("MADOGUCHI_DATA", &data).args(arguments);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        Output::of(&mut command, "")
    };
    if !is_root {
        skipped("the directory of another user: only root can make one");
    } else {
        // Of root, and closed to others.
        let end = format!("sudo chown -R \"$(id -u)\" {}", data.display());
        ends_with(as_nobody(&["keys", "list"]), &end);
        std::os::unix::fs::chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    fs::set_permissions(&data, fs::Permissions::from_mode(0o555)).unwrap();
    ends_with(as_nobody(&["keys", "list"]), "madoguchi serve --data DIR");
    let doctor = as_nobody(&["doctor"]);
    assert!(doctor.stdout.contains("FAIL data"), "{doctor:?}");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    as_nobody(&["keys", "list"]).ok();
}

#[test]
fn a_message_that_is_not_sent_says_what_the_operator_sets() {
    let place = Place::new();
    place.file(
        "madoguchi.toml",
        "[approval]\ntools = { \"innervoice.message_send\" = \"allow\" }\n",
    );
    let mut pipe = Pipe::start(place.command().args(["stdio", "innervoice"]));
    let message = json!({ "to": "ann@example.com", "text": "Hello." });
    let answer = pipe.request(&call(1, "message_send", message));
    let warning = &result(&answer)["structuredContent"]["warnings"][0];
    assert_eq!(warning["code"], "NOT_CONFIGURED", "{answer}");
    let help = warning["operator"].as_str().unwrap();
    assert!(help.contains("MADOGUCHI_INNERVOICE__SMTP_URL="), "{help}");
    assert!(help.ends_with("madoguchi doctor"), "{help}");
    let doctor = place.run_line("doctor").stdout;
    assert!(doctor.contains("e-mails stay in the outbox"), "{doctor}");

    place.file(
        "madoguchi.toml",
        "[innervoice]\nsmtp_url = \"smtp://127.0.0.1:1\"\n",
    );
    ends_with(
        place.run_line("stdio innervoice"),
        "madoguchi config default",
    );
}
