//! The long run on a real cluster is `scripts/cluster run` (docs/scaling.md). Here its
//! checker is checked: it must find every kind of defect, and nothing in a history
//! without one.

use std::{path::Path, process::Command};

use crate::harness::{Output, mentions};

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn the_checker_of_the_cluster_finds_each_planted_defect() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new("python3");
    command
        .args(["-B", "-m", "unittest", "discover", "--verbose"])
        .arg(root.join("scripts/cluster.d"));
    let tested = Output::of(&mut command, "").ok();
    mentions(&tested.stderr, &["each_planted_defect_is_found", "OK"]);
}
