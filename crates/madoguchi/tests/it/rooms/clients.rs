//! The official clients as agents in rooms: two of each, which over stdio are
//! two processes on one directory. What they check is in `clients/rooms.*`.

use crate::harness::{Desk, Output, Place, clients};

const PYTHON_MODES: [&str; 3] = ["auto", "legacy", "2026-07-28"];
const TYPESCRIPT_ERAS: [&str; 3] = ["auto", "legacy", "pin"];

#[track_caller]
fn went_well(mode: &str, output: &Output) {
    assert_eq!(output.code, Some(0), "{mode}\n{}", output.stderr);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn python_over_http() {
    for mode in PYTHON_MODES {
        let desk = Desk::setup().start().await;
        let output = clients::python(&desk.place, "rooms.py", &[&desk.url(""), mode]).await;
        went_well(mode, &output);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn python_over_stdio() {
    for mode in PYTHON_MODES {
        let output = clients::python(&Place::new(), "rooms.py", &["stdio", mode]).await;
        went_well(mode, &output);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn typescript_over_http() {
    for era in TYPESCRIPT_ERAS {
        let desk = Desk::setup().start().await;
        let output = clients::node(&desk.place, "rooms.mjs", &[&desk.url(""), era]).await;
        went_well(era, &output);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn typescript_over_stdio() {
    for era in TYPESCRIPT_ERAS {
        let output = clients::node(&Place::new(), "rooms.mjs", &["stdio", era]).await;
        went_well(era, &output);
    }
}
