//! Which codes there are, and which of them no test produces.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Names in the source that look like codes: variables of the environment, and words of
/// other formats.
const NOT_CODES: [&str; 4] = [
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "LC_MESSAGES",
];

/// Codes that no test of the program produces, and why.
const UNTRIED: [(&str, &str); 24] = [
    (
        "AUDIT_BROKEN",
        "`audit verify` names the damage first; desk/src/audit/tests",
    ),
    ("BACKUP_INCOMPLETE", "root can read every file"),
    (
        "BACKUP_REFUSED",
        "needs a forged backup; madoguchi/src/archive",
    ),
    (
        "CLIENT_CANNOT_ANSWER",
        "tools ask clients of that era in their answer instead",
    ),
    (
        "FILE_BUSY",
        "needs a program that writes at the same instant; madoguchi/src/commands/install",
    ),
    (
        "IMPORT_INTERRUPTED",
        "needs a signal at the right instant; merchant/tests/it/importing.rs",
    ),
    (
        "INVALID_HEAD_KEY",
        "needs a signed head as well; desk/src/audit",
    ),
    (
        "INVALID_PATH",
        "needs a file system with names that are not UTF-8",
    ),
    (
        "LIST_CUT",
        "needs 101 screenings on one day; cinema/tests/it/programme.rs",
    ),
    (
        "LIST_INCOMPLETE",
        "needs thousands of series; innervoice/src/tools/calendar_list.rs",
    ),
    (
        "NOTHING_CHOSEN",
        "needs a terminal that is closed; madoguchi/src/commands/install",
    ),
    (
        "NO_CLIENT",
        "needs a terminal; madoguchi/src/commands/install",
    ),
    ("NO_DATA_DIRECTORY", "every Linux names one"),
    ("NO_FILE", "the command line refuses that first"),
    ("NO_HOME", "Linux finds it without the variable"),
    (
        "RECIPIENT_CHANGED",
        "needs a change between check and commit; kit/src/card.rs",
    ),
    (
        "RESTORE_RUNNING",
        "needs two at the same instant; madoguchi/src/new_installation",
    ),
    (
        "ROOM_UNREADABLE",
        "needs a link in place of a room; rooms/tests/it/faults.rs",
    ),
    (
        "RUNS_FROM_CACHE",
        "needs an installation by npx; madoguchi/src/commands/install",
    ),
    (
        "TABLES_DIFFER",
        "needs foreign tables; madoguchi/src/moving/tables.rs",
    ),
    (
        "TOO_MANY_EXCEPTIONS",
        "needs hundreds of changes; innervoice/tests/it/bounds.rs",
    ),
    ("TOO_MANY_PAGES", "needs a large catalogue"),
    ("TOO_MANY_ROWS", "needs 200,001 rows"),
    (
        "UNKNOWN_DATA",
        "needs tables of a later version; madoguchi/src/moving",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

/// Words in capitals with a `_` in them that stand alone in quotes.
fn quoted(text: &str) -> BTreeSet<&str> {
    let is_code = |word: &&str| {
        let mut letters = word.chars();
        letters
            .next()
            .is_some_and(|first| first.is_ascii_uppercase())
            && letters.all(|one| one.is_ascii_uppercase() || one.is_ascii_digit() || one == '_')
            && word.contains('_')
    };
    text.split('"').filter(is_code).collect()
}

/// The source of all crates, without their tests.
fn sources() -> Vec<String> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let folders = crates.map(|entry| entry.unwrap().path().join("src"));
    let files = folders.flat_map(|folder| files(&folder));
    let is_test = |path: &Path| {
        let name = path.to_str().unwrap();
        name.contains("/tests") || name.contains("testing") || name.ends_with("_tests.rs")
    };
    let sources = files.filter(|path| path.extension().is_some_and(|it| it == "rs"));
    let sources = sources.filter(|path| !is_test(path));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
        text[..end].to_owned()
    };
    sources.map(read).collect()
}

#[test]
fn every_code_is_produced_by_a_test() {
    let sources = sources();
    let mut codes: BTreeSet<&str> = sources.iter().flat_map(|text| quoted(text)).collect();
    let environment = ["AGENT_COMM_", "OTEL_", "MADOGUCHI_"];
    codes.retain(|code| !environment.iter().any(|prefix| code.starts_with(prefix)));
    codes.retain(|code| !NOT_CODES.contains(code));
    assert!(codes.len() > 200, "{}", codes.len());

    let tests = files(&root().join("crates/madoguchi/tests/it"));
    let tests = tests
        .iter()
        .filter(|path| !path.ends_with("codes/found.rs"));
    let tests: String = tests
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect();
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words: BTreeSet<&str> = tests.split(|letter| !is_word(letter)).collect();
    codes.retain(|code| !words.contains(code));
    let untried: BTreeMap<&str, &str> = UNTRIED.into_iter().collect();
    let explained: BTreeSet<&str> = untried.keys().copied().collect();
    assert_eq!(codes, explained, "left: no test; right: no test, and why");
}
