//! Codes of commands in places that a script does not reach, and of clients that do not
//! answer.

use std::{
    fs,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::json;
use store::testing::free_port;

use crate::harness::{Desk, Place, Socket, initialized, plain, refused, result};

#[test]
fn directories_that_are_files_and_files_that_are_too_large() {
    let place = Place::new();
    fs::create_dir(place.data()).unwrap();
    fs::write(place.data().join("audit"), "a file").unwrap();
    place.run(&["audit", "tail"]).fails_with("AUDIT_UNUSABLE");
    let large = fs::File::create(place.path().join("large.json")).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    let import = place.run(&["import", "cinema", "large.json"]);
    import.fails_with("FILE_TOO_LARGE");
}

#[tokio::test]
async fn a_desk_without_its_main_port_has_no_console() {
    let place = Place::new();
    let port = free_port().to_string();
    let mut desk = place.command();
    desk.args(["serve", "--port", "0", "--innervoice-port", "0"]);
    desk.args(["--merchant-port", &port]);
    desk.stderr(Stdio::null()).stdout(Stdio::null());
    let mut desk = desk.spawn().unwrap();
    let began = Instant::now();
    let said = loop {
        let said = place.run(&["approvals", "open"]).stderr;
        if said.contains("NO_CONSOLE") || began.elapsed() > Duration::from_secs(30) {
            break said;
        }
    };
    desk.kill().unwrap();
    desk.wait().unwrap();
    assert!(said.contains("NO_CONSOLE"), "{said}");
}

#[test]
fn a_revoked_key_gets_no_new_secret() {
    let place = Place::new();
    let made = place.run_line("keys create old --json").ok().json();
    place.run_line("keys revoke old").ok();
    let id = made["id"].as_str().unwrap();
    place.run(&["keys", "rotate", id]).fails_with("KEY_REVOKED");
}

#[tokio::test]
async fn a_name_that_no_header_can_hold_is_refused() {
    let desk = Desk::start().await;
    let url = desk.url("");
    let call = ["call", "fixture", "a\nb", "{}", "--url", &url];
    desk.place.run(&call).fails_with("INVALID_TOOL_NAME");
}

#[tokio::test]
async fn a_client_that_refuses_to_answer_is_named_as_the_reason() {
    let desk = Desk::start().await;
    let mut socket = Socket::open(&desk, "fixture").await;
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": { "sampling": {} },
        "clientInfo": { "name": "tests", "version": "1" },
    });
    result(&socket.request(&plain(1, "initialize", hello)).await);
    socket.send(&initialized()).await;
    let ask = json!({ "name": "test_sampling", "arguments": { "prompt": "Who are you?" } });
    socket.send(&plain(2, "tools/call", ask)).await;
    loop {
        let message = socket.receive().await;
        if message["method"] == "sampling/createMessage" {
            let error = json!({ "code": -1, "message": "I will not say" });
            let refusal = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
            socket.send(&refusal).await;
        } else if message["id"] == 2 {
            refused(result(&message), "CLIENT_DID_NOT_ANSWER");
            break;
        }
    }
}
