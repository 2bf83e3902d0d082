//! The official clients over stdio: every tool, every code, the files as resources
//! and news of them, in every way the clients connect. What they check is in
//! `clients/todo.*`.

use crate::harness::{Place, clients};

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn python() {
    for mode in ["auto", "legacy", "2026-07-28"] {
        let output = clients::python(&Place::new(), "todo.py", &["stdio", mode]).await;
        assert_eq!(output.code, Some(0), "{mode}\n{}", output.stderr);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn typescript() {
    for era in ["auto", "legacy", "pin"] {
        let output = clients::node(&Place::new(), "todo.mjs", &[era]).await;
        assert_eq!(output.code, Some(0), "{era}\n{}", output.stderr);
    }
}
