//! Rules for every source file: no import cycles, no long files, no long
//! functions, no `mod.rs`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{graph::cycles, modules::Crate};

const LONGEST_FILE: usize = 450;
const LONGEST_FUNCTION: usize = 80;

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// The source files below a folder of the workspace.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![root().join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "{folder}");
    found
}

fn all_files() -> Vec<PathBuf> {
    ["crates", "bench/src", "docs/adding-a-counter"]
        .into_iter()
        .flat_map(files)
        .collect()
}

/// A crate's root file: `lib.rs`, or `main.rs` of a program.
fn is_root(file: &Path) -> bool {
    let folder = file.parent().unwrap();
    let is_program = folder.ends_with("src/bin") || folder.parent().unwrap().ends_with("src/bin");
    match file.file_name().unwrap().to_str().unwrap() {
        "lib.rs" => folder.ends_with("src"),
        "main.rs" => folder.ends_with("src") || is_program,
        _ => folder.ends_with("src/bin"),
    }
}

/// The names of functions that are too long. The source is formatted: a function
/// ends with the first brace that stands as far to the right as it does.
fn long_functions(text: &str) -> Vec<&str> {
    let mut long = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some((before, name)) = code.split_once("fn ") else {
            continue;
        };
        let is_definition = before
            .split_whitespace()
            .all(|word| word.starts_with("pub") || ["async", "const", "unsafe"].contains(&word));
        if is_definition {
            let end = format!("{}}}", &line[..line.len() - code.len()]);
            let length = lines[start..].iter().position(|line| **line == end);
            if length.is_some_and(|length| length >= LONGEST_FUNCTION) {
                long.extend(name.split(['(', '<']).next());
            }
        }
    }
    long
}

#[test]
fn files_are_short_and_import_each_other_in_one_direction() {
    let mut broken = BTreeSet::new();
    for path in all_files() {
        let file = relative(&path);
        let text = fs::read_to_string(&path).unwrap();
        if text.lines().count() > LONGEST_FILE {
            broken.insert(format!("long file {file}"));
        }
        if path.ends_with("mod.rs") {
            broken.insert(format!("mod.rs {file}"));
        }
        for name in long_functions(&text) {
            broken.insert(format!("long function {name} in {file}"));
        }
        if is_root(&path) {
            for cycle in cycles(&Crate::read(&path).uses()) {
                let files = cycle.iter().map(|file| relative(file));
                broken.insert(format!("cycle {}", files.collect::<Vec<_>>().join(" ")));
            }
        }
    }
    assert_eq!(broken, BTreeSet::new());
}

/// Tests that may end before they have tried anything: they look as if they had passed.
fn tests_that_return_early(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        let is_test = code.starts_with("#[test]") || code.starts_with("#[tokio::test");
        let Some(function) = is_test.then(|| lines.find(|line| line.contains("fn "))) else {
            continue;
        };
        let indent = &line[..line.len() - code.len()];
        let (end, early) = (format!("{indent}}}"), format!("{indent}        return;"));
        let mut body = lines.by_ref().take_while(|line| *line != end);
        if body.any(|line| line == early) {
            found.extend(function);
        }
    }
    found
}

#[test]
fn no_test_returns_early() {
    let early = "#[test]\nfn a() {\n    if true {\n        return;\n    }\n}\n";
    let late = "#[test]\nfn b() {\n    for _ in 0..1 {\n        a();\n    }\n}\n";
    let both = format!("{late}{early}");
    assert_eq!(tests_that_return_early(&both), ["fn a() {"]);
    let mut found = BTreeSet::new();
    for path in files("crates") {
        let text = fs::read_to_string(&path).unwrap();
        for function in tests_that_return_early(&text) {
            found.insert(format!("{} {function}", relative(&path)));
        }
    }
    assert_eq!(found, BTreeSet::new());
}

/// The rules themselves, on a crate made for this test.
#[test]
fn re_exports_do_not_count_as_imports_and_cycles_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("lib.rs", "mod a; mod b; mod c; pub use a::A;");
    write("a.rs", "use crate::b; pub struct A; fn f() { b::g() }");
    write(
        "b.rs",
        "use crate::c::{self, C}; pub fn g() { vec![c::h()]; }",
    );
    write(
        "c.rs",
        "pub struct C; pub fn h() {} #[cfg(test)] use crate::b::g;",
    );
    let root = folder.path().join("lib.rs");
    let found = || cycles(&Crate::read(&root).uses());
    assert_eq!(found(), [] as [Vec<PathBuf>; 0]);
    write("c.rs", "pub struct C(crate::A); pub fn h() {}");
    let [cycle] = found().try_into().unwrap();
    let names: Vec<_> = cycle.iter().map(|file| file.file_name().unwrap()).collect();
    assert_eq!(names, ["a.rs", "b.rs", "c.rs"]);
}
