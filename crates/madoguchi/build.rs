//! Sets `MADOGUCHI_VERSION`, which `--version` prints: with the commit and its day in
//! release builds. Development builds leave them out, so that a commit does not rebuild
//! the program.
//!
//! `MADOGUCHI_COMMIT` and `SOURCE_DATE_EPOCH` replace what git says. Without either, and
//! outside of a clone, only the number remains.

#[path = "src/build_stamp.rs"]
mod build_stamp;

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/build_stamp.rs");
    println!("cargo:rerun-if-env-changed=MADOGUCHI_COMMIT");
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    let mut commit = given("MADOGUCHI_COMMIT");
    let mut seconds = given("SOURCE_DATE_EPOCH");
    // "release" also for profiles that inherit from it.
    if given("PROFILE").as_deref() == Some("release") && is_our_clone() {
        // This file changes with every commit and checkout. Cargo would always rebuild
        // for one that does not exist.
        let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).map(PathBuf::from);
        if let Some(log) = log.filter(|log| log.exists()) {
            println!("cargo:rerun-if-changed={}", log.display());
        }
        commit = commit.or_else(|| git(&["rev-parse", "--short=9", "HEAD"]));
        seconds = seconds.or_else(|| git(&["show", "--no-patch", "--format=%ct", "HEAD"]));
    }
    let day = seconds
        .and_then(|seconds| seconds.parse().ok())
        .map(build_stamp::day);
    let number = given("CARGO_PKG_VERSION").unwrap_or_default();
    let version = build_stamp::version(&number, commit.as_deref(), day.as_deref());
    println!("cargo:rustc-env=MADOGUCHI_VERSION={version}");
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
