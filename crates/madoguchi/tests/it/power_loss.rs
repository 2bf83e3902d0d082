//! The long run is `scripts/power-loss` (docs/decisions/0007-power-loss.md). Here its model
//! of a disk is checked, and a few power failures are tried.

use std::{path::Path, process::Command};

use crate::harness::{Output, mentions};

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn the_model_of_the_disk_forgets_what_was_not_synced() {
    let mut command = Command::new("python3");
    command
        .args(["-B", "-m", "unittest", "discover", "--verbose"])
        .arg(root().join("scripts/power-loss.d"));
    let tested = Output::of(&mut command, "").ok();
    let lost = "what_was_not_synced_may_be_lost";
    mentions(&tested.stderr, &[lost, "OK"]);
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn what_was_acknowledged_survives_a_power_failure() {
    let mut command = Command::new(root().join("scripts/power-loss"));
    command
        .args(["--program", env!("CARGO_BIN_EXE_madoguchi")])
        .args(["--runs", "2", "--seconds", "2", "--crashes", "10"]);
    let tried = Output::of(&mut command, "").ok();
    mentions(&tried.stdout, &["everything that was answered was there"]);
}
