//! The official checkers: the conformance suite and the Inspector's lint.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::harness::{Desk, Place, clients};

/// With a list of expected failures, even an empty one, warnings count too.
const STRICT: &str = "server: []\n";

struct Run {
    /// For each scenario, how many checks succeeded.
    passed: BTreeMap<String, usize>,
    /// Failures and warnings, each with its scenario.
    trouble: Vec<(String, String)>,
    printed: String,
    code: Option<i32>,
}

impl Run {
    /// The whole suite for one revision of the protocol.
    async fn of(desk: &Desk, counter: &str, revision: &str) -> Self {
        let place = Place::new();
        let strict = place.file("strict.yml", STRICT);
        let results = place.path().join("results");
        let output = clients::conformance(
            &place,
            &[
                "server",
                "--url",
                &desk.url(&format!("/mcp/{counter}")),
                "--suite",
                "all",
                "--spec-version",
                revision,
                "--timeout",
                "20000",
                "--expected-failures",
                strict.to_str().unwrap(),
                "--output-dir",
                results.to_str().unwrap(),
            ],
        )
        .await;
        let mut run = Self {
            passed: BTreeMap::new(),
            trouble: Vec::new(),
            printed: format!("{}{}", output.stdout, output.stderr),
            code: output.code,
        };
        run.read(&results);
        run
    }

    /// One directory a scenario: `server-NAME-TIME/checks.json`.
    fn read(&mut self, results: &Path) {
        for entry in fs::read_dir(results).unwrap() {
            let path = entry.unwrap().path();
            let directory = path.file_name().unwrap().to_str().unwrap();
            let scenario = directory.strip_prefix("server-").unwrap();
            let time = "-2026-11-15T00-00-00-000Z".len();
            let scenario = &scenario[..scenario.len() - time];
            let checks = fs::read_to_string(path.join("checks.json")).unwrap();
            let checks: Vec<Value> = serde_json::from_str(&checks).unwrap();
            let passed = self.passed.entry(scenario.to_owned()).or_default();
            for check in checks {
                match check["status"].as_str().unwrap() {
                    "SUCCESS" => *passed += 1,
                    "FAILURE" | "WARNING" => {
                        let what = format!("{} {}", check["id"], check["errorMessage"]);
                        self.trouble.push((scenario.to_owned(), what));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Leaves the totals where `scripts/test` finds them.
    fn report(&self, counter: &str, revision: &str) {
        let text = format!(
            "{counter} {revision}: {} scenarios, {} checks passed, {} failures and warnings\n",
            self.passed.len(),
            self.passed.values().sum::<usize>(),
            self.trouble.len()
        );
        print!("{text}");
        let reports = clients::environment().join("conformance");
        fs::create_dir_all(&reports).unwrap();
        fs::write(reports.join(format!("{counter}-{revision}.txt")), text).unwrap();
    }
}

/// The fixture counter has everything the suite asks about.
async fn everything(revision: &str, scenarios: usize) {
    let desk = Desk::start().await;
    let run = Run::of(&desk, "fixture", revision).await;
    assert_eq!(run.trouble, [], "{}", run.printed);
    assert_eq!(run.code, Some(0), "{}", run.printed);
    assert_eq!(run.passed.len(), scenarios, "{:?}", run.passed.keys());
    run.report("fixture", revision);
}

#[tokio::test]
async fn fixture_2025_06_18() {
    everything("2025-06-18", 27).await;
}

#[tokio::test]
async fn fixture_2025_11_25() {
    everything("2025-11-25", 33).await;
}

#[tokio::test]
async fn fixture_2026_07_28() {
    everything("2026-07-28", 40).await;
}

/// Scenarios that want nothing a real counter does not have.
async fn of_any_server(revision: &str, scenarios: &[&str]) {
    let desk = Desk::start().await;
    let mut run = Run::of(&desk, "cinema", revision).await;
    run.passed
        .retain(|name, _| scenarios.contains(&name.as_str()));
    run.trouble
        .retain(|(name, _)| scenarios.contains(&name.as_str()));
    assert_eq!(run.trouble, [], "{}", run.printed);
    for scenario in scenarios {
        let passed = run.passed.get(*scenario);
        assert!(passed.is_some_and(|passed| *passed > 0), "{scenario}");
    }
    run.report("cinema", revision);
}

#[tokio::test]
async fn cinema_2025_06_18() {
    let scenarios = [
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "completion-complete",
        "tools-list",
        "resources-list",
        "prompts-list",
        "logging-set-level",
    ];
    of_any_server("2025-06-18", &scenarios).await;
}

#[tokio::test]
async fn cinema_2025_11_25() {
    let scenarios = [
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "completion-complete",
        "tools-list",
        "resources-list",
        "prompts-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
    ];
    of_any_server("2025-11-25", &scenarios).await;
}

#[tokio::test]
async fn cinema_2026_07_28() {
    let scenarios = [
        "completion-complete",
        "tools-list",
        "server-sse-multiple-streams",
        "resources-list",
        "sep-2164-resource-not-found",
        "prompts-list",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
    ];
    of_any_server("2026-07-28", &scenarios).await;
}

/// Exit code 6 is an error; warnings show in the output only.
#[tokio::test]
async fn schemas_suit_every_provider() {
    let desk = Desk::start().await;
    let made = desk.place.run(&["keys", "create", "lint", "--json"]).ok();
    let key = made.json()["key"].as_str().unwrap().to_owned();
    for counter in [
        "cinema",
        "innervoice",
        "merchant",
        "todo",
        "rooms",
        "fixture",
    ] {
        let url = desk.url(&format!("/mcp/{counter}"));
        let output = clients::inspector(
            &desk.place,
            &[
                &url,
                "--transport",
                "http",
                "--header",
                &format!("Authorization: Bearer {key}"),
                "--protocol-era",
                "modern",
                "--method",
                "tools/list",
                "--strict",
                "-q",
                "--format",
                "json",
            ],
        )
        .await
        .ok();
        let answer = output.json();
        assert!(answer["result"]["tools"].is_array(), "{counter}: {answer}");
        assert_eq!(answer.get("schemaFindings"), None, "{counter}");
    }
}
