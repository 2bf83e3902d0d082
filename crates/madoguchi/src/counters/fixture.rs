//! The counter that tests, benchmarks and the conformance suite talk to. It is open only
//! with `--fixture`, and has no section in the configuration.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::registration::{Port, Registration};

/// It has none.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct Settings {}

pub fn registration() -> &'static Registration {
    static FIXTURE: LazyLock<Registration> = LazyLock::new(|| {
        Registration::on_files("fixture", |_: Settings| ::fixture::counter()).port(Port {
            number: 0,
            host: None,
            assets: true,
            only_websocket: false,
        })
    });
    &FIXTURE
}
