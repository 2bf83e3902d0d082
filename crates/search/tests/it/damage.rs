//! Damaged files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use search::{Change, Index, OpenError, Options};

use crate::shop::{ids, product, text};

fn build(directory: &Path) {
    let index = Index::open(directory, Options::default()).unwrap();
    for id in 1..=8 {
        let put = Change::Put(product(id, &format!("急須 {id}号")));
        index.apply([put], id as u64).unwrap();
    }
    // No merge goes on while the files are damaged.
    index.compact().unwrap();
    index.apply([Change::Remove(7)], 9).unwrap();
}

/// The files of an index, without its locks.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_none_or(|end| end != "lock"))
        .collect();
    files.sort();
    files
}

fn copy(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    for file in files(from) {
        fs::copy(&file, to.path().join(file.file_name().unwrap())).unwrap();
    }
    to
}

/// Opens a copy after `spoil` changed one of its files.
fn open_spoiled(sound: &Path, file: &Path, spoil: impl Fn(&Path)) -> Result<Index, OpenError> {
    let copy = copy(sound);
    spoil(&copy.path().join(file.file_name().unwrap()));
    Index::open(copy.path(), Options::default())
}

/// The list of files to delete is not needed for reading.
fn matters(file: &Path) -> bool {
    file.file_name().unwrap() != ".managed.json"
}

#[test]
fn an_index_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path());
    let index = Index::open(directory.path(), Options::default()).unwrap();
    assert_eq!(index.position(), 9);
    assert_eq!(index.documents(), 7);
    assert_eq!(ids(&index, "急須 8号"), [8]);
}

#[test]
fn truncated_altered_and_missing_files_are_detected() {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path());
    let mut seen = 0;
    for file in files(directory.path()).iter().filter(|file| matters(file)) {
        let length = fs::metadata(file).unwrap().len();
        let mut spoilt: Vec<(String, Result<Index, OpenError>)> = Vec::new();
        // Not by one byte, since meta.json ends with an empty line.
        for left in [0, 1, length / 2, length - 2] {
            let result = open_spoiled(directory.path(), file, |path| {
                let file = fs::File::options().write(true).open(path).unwrap();
                file.set_len(left).unwrap();
            });
            spoilt.push((format!("cut to {left}"), result));
        }
        for at in [0, length / 3, length / 2] {
            let result = open_spoiled(directory.path(), file, |path| {
                let mut bytes = fs::read(path).unwrap();
                let byte = bytes.get_mut(at as usize).unwrap();
                *byte = !*byte;
                fs::write(path, bytes).unwrap();
            });
            spoilt.push((format!("altered at {at}"), result));
        }
        let result = open_spoiled(directory.path(), file, |path| {
            fs::remove_file(path).unwrap()
        });
        spoilt.push(("missing".into(), result));
        for (how, result) in spoilt {
            match result {
                Err(OpenError::Damaged(_)) => seen += 1,
                Err(other) => panic!("{} {how}: {other}", file.display()),
                Ok(_) => panic!("{} {how}: opened", file.display()),
            }
        }
    }
    assert!(seen > 20);
}

#[test]
fn an_index_of_another_format_is_rejected() {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path());
    let meta = directory.path().join("meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    let other = text.replace("\"2 9\"", "\"999 9\"");
    assert_ne!(text, other);
    fs::write(&meta, other).unwrap();
    let result = Index::open(directory.path(), Options::default());
    assert!(matches!(result, Err(OpenError::Damaged(_))));
}

#[test]
fn a_path_that_is_no_directory_is_not_reported_as_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "text").unwrap();
    let result = Index::open(&path, Options::default());
    assert!(matches!(result, Err(OpenError::Unusable(_))));
}

#[test]
fn a_damaged_index_can_be_deleted_and_rebuilt() {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path());
    fs::write(directory.path().join("meta.json"), "{").unwrap();
    assert!(Index::open(directory.path(), Options::default()).is_err());
    fs::remove_dir_all(directory.path()).unwrap();
    build(directory.path());
    let index = Index::open(directory.path(), Options::default()).unwrap();
    assert_eq!(index.documents(), 7);
}

/// A mapped file would end the process here (SIGBUS).
#[test]
fn files_that_are_cut_off_under_an_open_index_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path());
    let index = Index::open(directory.path(), Options::default()).unwrap();
    let found = |words: &str| index.search(&text(words)).map(|hits| hits.ids);
    assert!(!found("急須").unwrap().is_empty());
    let is_part = |path: &PathBuf| path.extension().is_some_and(|end| end != "json");
    for path in files(directory.path()).into_iter().filter(is_part) {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_len(0).unwrap();
    }
    let outcomes = ["急須", "急須 3号", "kyusu"].map(found);
    assert!(outcomes.iter().any(Result::is_err), "{outcomes:?}");
    // It is noticed when it is opened again, and made anew.
    let again = Index::open(directory.path(), Options::default());
    assert!(matches!(again, Err(OpenError::Damaged(_))));
}
