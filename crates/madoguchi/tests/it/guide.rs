//! `docs/adding-a-counter.md` shows the files of `docs/adding-a-counter/`, which
//! are compiled and tested: all of them, and exactly as they are.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The code blocks of the guide. Each file's block follows a paragraph that
/// begins with the file's name in backticks; other blocks have no name.
fn blocks(guide: &str) -> Vec<(Option<String>, String)> {
    let mut blocks = Vec::new();
    let mut paragraph = None;
    let mut code: Option<String> = None;
    let mut is_after_blank = true;
    for line in guide.lines() {
        match (&mut code, line.strip_prefix("```")) {
            (Some(text), Some(_)) => {
                blocks.push((paragraph.take(), std::mem::take(text)));
                code = None;
            }
            (Some(text), None) => text.push_str(&format!("{line}\n")),
            (None, Some(_)) => code = Some(String::new()),
            (None, None) if is_after_blank && !line.is_empty() => {
                let name = line.strip_prefix('`').and_then(|rest| rest.split_once('`'));
                paragraph = name.map(|(name, _)| name.to_owned());
            }
            (None, None) => {}
        }
        is_after_blank = line.is_empty();
    }
    blocks
}

fn files(folder: &Path, found: &mut BTreeMap<String, String>, above: &str) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{above}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            files(&entry.path(), found, &format!("{name}/"));
        } else {
            // Other files are not text.
            if let Ok(text) = fs::read_to_string(entry.path()) {
                found.insert(name, text);
            }
        }
    }
}

#[test]
fn the_guide_to_a_new_counter_shows_the_code_that_is_tested() {
    let guide = fs::read_to_string(root().join("docs/adding-a-counter.md")).unwrap();
    let (named, unnamed): (Vec<_>, Vec<_>) = blocks(&guide)
        .into_iter()
        .partition(|(name, _)| name.is_some());
    let shown: BTreeMap<String, String> = named
        .into_iter()
        .map(|(name, code)| (name.unwrap(), code))
        .collect();
    let mut tested = BTreeMap::new();
    files(&root().join("docs/adding-a-counter"), &mut tested, "");
    assert_eq!(shown, tested);

    let path = "crates/madoguchi/src/counters/tests.rs";
    let test = fs::read_to_string(root().join(path)).unwrap();
    assert_eq!(unnamed.len(), 1);
    for (_, line) in unnamed {
        assert!(test.contains(line.trim()), "{path} does not contain {line}");
    }
}

#[test]
fn files_that_the_architecture_names_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut seen = 0;
    for path in text
        .split('`')
        .filter(|part| part.contains("/src/") || part.contains("/tests/"))
    {
        assert!(root().join("crates").join(path).exists(), "{path}");
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

/// The last column of each row of the table of bounds names the tests that reach
/// the bound.
#[test]
fn tests_that_the_table_of_bounds_names_exist() {
    let mut sources = BTreeMap::new();
    files(&root().join("crates"), &mut sources, "");
    let text = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let table = text
        .split_once("| what | bound | setting | test |")
        .unwrap()
        .1;
    let mut seen = 0;
    for row in table.lines().skip(2).take_while(|row| row.starts_with('|')) {
        let tests = row.trim_end_matches(" |").rsplit_once(" | ").unwrap().1;
        for name in tests.split('`').filter(|name| name.contains('_')) {
            let function = format!("fn {}(", name.rsplit("::").next().unwrap());
            let exists = sources.values().any(|source| source.contains(&function));
            assert!(exists, "no test is called {name}");
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}
