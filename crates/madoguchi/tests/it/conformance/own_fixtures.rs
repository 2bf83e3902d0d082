//! Checks that ask for tools, prompts and resources which the suite wants a
//! server to have for it. The fixture counter has them and passes these checks;
//! no other counter can.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The checks of each scenario.
type Checks = BTreeMap<String, Vec<String>>;

#[derive(Deserialize)]
struct OwnFixtures {
    /// In every revision.
    always: Checks,
    /// In revisions with a handshake.
    with_handshake: Checks,
    /// Only there.
    in_2025_11_25: Checks,
    in_2026_07_28: Checks,
    /// The shop has no resources, declares none and answers none of their methods;
    /// the suite takes them for granted.
    without_resources: Checks,
}

/// What a counter can't pass in a revision: scenarios and checks.
pub fn expected(counter: &str, revision: &str) -> Vec<(String, String)> {
    let all: OwnFixtures = serde_json::from_str(include_str!("own_fixtures.json")).unwrap();
    let mut lists = vec![all.always];
    match revision {
        "2026-07-28" => lists.push(all.in_2026_07_28),
        "2025-11-25" => lists.extend([all.with_handshake, all.in_2025_11_25]),
        _ => lists.push(all.with_handshake),
    }
    if counter == "merchant" {
        lists.push(all.without_resources);
    }
    let scenarios = lists.into_iter().flatten();
    let checks = scenarios.flat_map(|(scenario, checks)| {
        let pair = move |check| (scenario.clone(), check);
        checks.into_iter().map(pair)
    });
    checks.collect()
}
