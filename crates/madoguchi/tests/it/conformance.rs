//! The official checkers: the conformance suite and the Inspector's lint.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::harness::{Desk, Place, Relay, clients};

mod own_fixtures;

/// With a list of expected failures, even an empty one, warnings count too.
const STRICT: &str = "server: []\n";

struct Run {
    /// For each scenario, how many checks succeeded.
    passed: BTreeMap<String, usize>,
    /// Failures and warnings: scenario and check, with what was said.
    trouble: BTreeMap<(String, String), String>,
    printed: String,
    code: Option<i32>,
}

impl Run {
    /// The whole suite for one revision of the protocol.
    async fn of(port: u16, counter: &str, revision: &str) -> Self {
        let place = Place::new();
        let strict = place.file("strict.yml", STRICT);
        let results = place.path().join("results");
        let arguments = format!(
            "server --url http://127.0.0.1:{port}/mcp/{counter} --suite all \
             --spec-version {revision} --timeout 20000 --expected-failures {} --output-dir {}",
            strict.display(),
            results.display()
        );
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let output = clients::conformance(&place, &arguments).await;
        let mut run = Self {
            passed: BTreeMap::new(),
            trouble: BTreeMap::new(),
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
                        let id = check["id"].as_str().unwrap().to_owned();
                        let said = check["errorMessage"].to_string();
                        self.trouble.insert((scenario.to_owned(), id), said);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Leaves the totals where `scripts/test` finds them.
    fn report(&self, counter: &str, revision: &str) {
        let text = format!(
            "{counter} {revision}: {} scenarios, {} checks passed, {} that only the fixture can pass\n",
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
    let run = Run::of(desk.port, "fixture", revision).await;
    assert_eq!(run.trouble, BTreeMap::new(), "{}", run.printed);
    assert_eq!(run.code, Some(0), "{}", run.printed);
    assert_eq!(run.passed.len(), scenarios, "{:?}", run.passed.keys());
    run.report("fixture", revision);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn fixture_2025_06_18() {
    everything("2025-06-18", 27).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn fixture_2025_11_25() {
    everything("2025-11-25", 33).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn fixture_2026_07_28() {
    everything("2026-07-28", 40).await;
}

/// Nobody is limited: the suite asks often.
const UNLIMITED: &str = "[limits]\nrequests_per_minute = { innervoice = 100000 }\n";

/// InnerVoice takes no request without a key, and the suite can't send one.
async fn desk_with_keys() -> (Desk, Relay) {
    let desk = Desk::with_config(UNLIMITED).await;
    let key = desk.place.create_key(&["suite"]);
    let relay = Relay::start(desk.port, &key).await;
    (desk, relay)
}

/// A real counter passes every check of the suite but those about the suite's own
/// tools, prompts and resources; each of these is named.
async fn real_counter(counter: &str, revision: &str, scenarios: usize) {
    let (_desk, relay) = desk_with_keys().await;
    let run = Run::of(relay.port, counter, revision).await;
    let named = own_fixtures::expected(counter, revision);
    let mut unexpected = run.trouble.clone();
    unexpected.retain(|check, _| !named.contains(check));
    assert_eq!(unexpected, BTreeMap::new(), "{}", run.printed);
    // One that passes meanwhile has to leave the list.
    let mut passed = named;
    passed.retain(|check| !run.trouble.contains_key(check));
    assert!(passed.is_empty(), "{passed:?}");
    assert_eq!(run.passed.len(), scenarios, "{:?}", run.passed.keys());
    run.report(counter, revision);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn cinema_2025_06_18() {
    real_counter("cinema", "2025-06-18", 27).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn cinema_2025_11_25() {
    real_counter("cinema", "2025-11-25", 33).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn cinema_2026_07_28() {
    real_counter("cinema", "2026-07-28", 40).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn innervoice_2026_07_28() {
    real_counter("innervoice", "2026-07-28", 40).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn merchant_2026_07_28() {
    real_counter("merchant", "2026-07-28", 40).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn todo_2026_07_28() {
    real_counter("todo", "2026-07-28", 40).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn rooms_2026_07_28() {
    real_counter("rooms", "2026-07-28", 40).await;
}

/// Exit code 6 is an error; warnings show in the output only.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn schemas_suit_every_provider() {
    let desk = Desk::start().await;
    let key = desk.place.create_key(&["lint"]);
    let header = format!("Authorization: Bearer {key}");
    let options = "--transport http --protocol-era modern --method tools/list --strict -q \
        --format json";
    for counter in "cinema innervoice merchant todo rooms fixture".split(' ') {
        let url = desk.url(&format!("/mcp/{counter}"));
        let mut arguments = vec![url.as_str(), "--header", &header];
        arguments.extend(options.split_whitespace());
        let output = clients::inspector(&desk.place, &arguments).await.ok();
        let answer = output.json();
        assert!(answer["result"]["tools"].is_array(), "{counter}: {answer}");
        assert_eq!(answer.get("schemaFindings"), None, "{counter}: {answer}");
    }
}
