//! The audit trail, seen from outside: what stands in it, what is noticed when
//! it is touched, what is left of it after a crash. On files and on PostgreSQL.

mod crash;
mod erasing;
mod heads;
mod keeping;
mod long_life;
mod output;
pub mod trail;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::harness::{Output, Place};

/// Where a trail is, and how commands reach it.
#[derive(Clone)]
pub struct Trail {
    pub place: Place,
    /// Of PostgreSQL; `None`: files.
    pub url: Option<String>,
}

impl Trail {
    pub fn of(place: &Place) -> Self {
        Self {
            place: place.clone(),
            url: None,
        }
    }

    /// The variables that lead other commands to it.
    pub fn environment(&self) -> Vec<(&str, &str)> {
        let url = self.url.iter();
        url.map(|url| ("MADOGUCHI_DATABASE__URL", &**url)).collect()
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        let arguments = [&["audit"], arguments].concat();
        self.place.run_with(&arguments, &self.environment())
    }

    /// Every record that is not about segments or about keys that a test needs, with what
    /// people wrote.
    pub fn records(&self) -> Vec<Value> {
        let output = self.run(&["tail", "-n", "100000", "--json", "--personal"]);
        let mut records = lines(&output.ok().stdout);
        records.retain(|record| record["counter"] != "desk");
        records
    }

    pub fn calls(&self) -> Vec<Value> {
        let mut calls = self.records();
        calls.retain(|record| record["kind"] == "call");
        calls
    }

    /// The report of a trail that must be whole.
    #[track_caller]
    pub fn verified(&self) -> Value {
        let report = self.run(&["verify", "--json"]).ok().json();
        assert_eq!(report["ok"], true, "{report}");
        report
    }

    /// What is said of one that must not be.
    #[track_caller]
    pub fn broken(&self) -> String {
        let output = self.run(&["verify"]);
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stdout.starts_with("BROKEN"), "{output:?}");
        output.stdout
    }

    pub fn directory(&self) -> PathBuf {
        self.place.data().join("audit")
    }

    /// The files of the chains, oldest first.
    pub fn segments(&self) -> Vec<PathBuf> {
        let mut segments: Vec<PathBuf> = fs::read_dir(self.directory())
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
            .filter(|path| path.file_stem().unwrap() != "checkpoints")
            .collect();
        segments.sort();
        segments
    }
}

pub fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Every file under a directory.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}
