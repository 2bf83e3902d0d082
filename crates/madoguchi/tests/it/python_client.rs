//! The official Python client, in every way it connects. What it checks is in
//! `clients/*.py`.

use crate::harness::{Desk, Place, clients};

const MODES: [&str; 3] = ["auto", "legacy", "2026-07-28"];

async fn over_http(script: &str) {
    for mode in MODES {
        let desk = Desk::start().await;
        let output = clients::python(&desk.place, script, &[&desk.url(""), mode]).await;
        assert_eq!(output.code, Some(0), "{mode}\n{}", output.stderr);
    }
}

async fn over_stdio(script: &str) {
    for mode in MODES {
        let place = Place::new();
        place.load_demo(&[]);
        let output = clients::python(&place, script, &["stdio", mode]).await;
        assert_eq!(output.code, Some(0), "{mode}\n{}", output.stderr);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn cinema_tools_over_http() {
    over_http("cinema_tools.py").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn cinema_tools_over_stdio() {
    over_stdio("cinema_tools.py").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn cinema_surroundings_over_http() {
    over_http("cinema_surroundings.py").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn cinema_surroundings_over_stdio() {
    over_stdio("cinema_surroundings.py").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn progress_and_giving_up_over_stdio() {
    over_stdio("fixture_calls.py").await;
}

/// The desk learns that nobody waits any more, and does not sleep on.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn progress_and_giving_up_over_http() {
    for mode in MODES {
        let desk = Desk::start().await;
        let output = clients::python(&desk.place, "fixture_calls.py", &[&desk.url(""), mode]).await;
        assert_eq!(output.code, Some(0), "{mode}\n{}", output.stderr);
        desk.logs_giving_up("fixture_sleep").await;
    }
}
