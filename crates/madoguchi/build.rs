//! Sets `MADOGUCHI_VERSION`, which `--version` prints: with the commit and its day in
//! release builds. Development builds leave them out, so that a commit does not rebuild
//! the program.
//!
//! `MADOGUCHI_COMMIT` replaces what git says. Without it, and outside of a clone, only
//! the number remains.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MADOGUCHI_COMMIT");
    // "release" also for profiles that inherit from it.
    let is_release = given("PROFILE").as_deref() == Some("release");
    let in_git = || (is_release && is_our_clone()).then(last_commit).flatten();
    let number = given("CARGO_PKG_VERSION").unwrap_or_default();
    let version = match given("MADOGUCHI_COMMIT").or_else(in_git) {
        Some(commit) => format!("{number} ({commit})"),
        None => number,
    };
    println!("cargo:rustc-env=MADOGUCHI_VERSION={version}");
}

/// The last commit and its day.
fn last_commit() -> Option<String> {
    // This file changes with every commit and checkout. Cargo would always rebuild for one
    // that does not exist.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).map(PathBuf::from);
    if let Some(log) = log.filter(|log| log.exists()) {
        println!("cargo:rerun-if-changed={}", log.display());
    }
    git(&[
        "show",
        "--no-patch",
        "--abbrev=9",
        "--format=%h %cs",
        "HEAD",
    ])
}

fn given(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Not so for a copy of the sources inside another project's clone.
fn is_our_clone() -> bool {
    let top = git(&["rev-parse", "--show-toplevel"]).map(PathBuf::from);
    let root = Path::new("../..").canonicalize().ok();
    top.and_then(|top| top.canonicalize().ok())
        .is_some_and(|top| Some(top) == root)
}

/// What git prints, if it is there and succeeds.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
