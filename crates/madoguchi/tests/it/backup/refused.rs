//! Files that are damaged, or made to do harm. `src/archive/tests.rs` changes every byte
//! of a small one; here are those that only the whole program can refuse.

use std::{fs, path::PathBuf, process::Command};

use super::{back_up, contents, text};
use crate::{
    audit::{files, trail::store_of},
    harness::{Place, mentions},
};

fn backup() -> (Place, PathBuf) {
    let place = Place::new();
    place.load_demo(&[]);
    place.create_key(&["phone"]);
    place.run_line("call cinema get_movie_list").ok();
    back_up(&place);
    let file = place.path().join("backup.tar");
    (place, file)
}

/// Must be refused by both commands, and leave nothing.
fn refused(file: &std::path::Path, code: &str) {
    let place = Place::new();
    for arguments in [
        vec!["restore", text(file)],
        vec!["restore", "--verify", text(file)],
    ] {
        let said = place.run(&arguments).failed();
        mentions(&said, &[code]);
    }
    assert_eq!(files(place.path()), Vec::<PathBuf>::new());
    assert!(!place.data().exists());
}

#[test]
fn damaged_and_cut_off_files_are_refused_and_nothing_is_written() {
    let (place, file) = backup();
    let whole = fs::read(&file).unwrap();
    let damaged = place.path().join("damaged.tar");
    let middle = whole.len() / 2;
    for at in [600, middle, whole.len() - 1600] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&damaged, bytes).unwrap();
        refused(&damaged, "BACKUP_");
    }
    for length in [0, 511, 5000, middle, whole.len() - 1] {
        fs::write(&damaged, &whole[..length]).unwrap();
        let code = if length < 512 {
            "NOT_A_BACKUP"
        } else {
            "BACKUP_DAMAGED"
        };
        refused(&damaged, code);
    }
    fs::write(&damaged, [whole.as_slice(), b"more"].concat()).unwrap();
    refused(&damaged, "BACKUP_DAMAGED");
    refused(&place.path().join("missing.tar"), "BACKUP_UNREADABLE");
    refused(place.path(), "NOT_A_BACKUP");
}

/// A file that somebody unpacked, changed and packed again with another program.
#[test]
fn archives_of_other_programs_are_refused() {
    let (place, file) = backup();
    let inside = place.path().join("inside");
    fs::create_dir(&inside).unwrap();
    let tar = |arguments: &[&str]| {
        let mut command = Command::new("tar");
        assert!(
            command
                .args(arguments)
                .current_dir(&inside)
                .status()
                .unwrap()
                .success()
        );
    };
    tar(&["-xf", text(&file)]);
    let unpacked = contents(&inside);
    assert!(
        unpacked.contains_key("madoguchi.db"),
        "{:?}",
        unpacked.keys()
    );
    let other = place.path().join("other.tar");
    for extra in [&[][..], &["link"], &["../inside/manifest.json"]] {
        let _ = fs::remove_file(inside.join("link"));
        std::os::unix::fs::symlink("/etc", inside.join("link")).unwrap();
        let all = ["-P", "-cf", text(&other), "manifest.json", "madoguchi.db"];
        tar(&[&all[..], extra].concat());
        refused(&other, "NOT_A_BACKUP");
    }
}

/// The same format, and tables that this program does not know.
#[tokio::test]
async fn a_backup_of_a_newer_version_is_refused() {
    for (owner, step) in [("cinema", 999), ("desk", 999), ("counter of tomorrow", 1)] {
        let (place, _) = backup();
        let url = format!("sqlite:///{}", place.data().join("madoguchi.db").display());
        let store = store_of(&url).await;
        let newer = move |sql: &mut dyn kit::Sql| {
            let params = [owner.into(), kit::Param::Int(step)];
            sql.execute(
                "INSERT INTO madoguchi_migrations (owner, version, name, checksum, applied_at)
                 VALUES ($1, $2, 'newer', '', 0)",
                &params,
            )?;
            sql.execute(
                "INSERT INTO madoguchi_compatibility (owner, oldest) VALUES ($1, $2)
                 ON CONFLICT (owner) DO UPDATE SET oldest = excluded.oldest",
                &params,
            )
        };
        store.transaction(Default::default(), newer).await.unwrap();
        drop(store);
        place.run_line("backup newer.tar").ok();
        refused(&place.path().join("newer.tar"), "BACKUP_TOO_NEW");
    }
}

/// The checksums are right, and what they are the checksums of is not.
#[test]
fn a_backup_of_a_damaged_database_or_trail_is_refused() {
    let (place, _) = backup();
    // Each process has segments of its own, and a directory has no order.
    let segments = files(&place.data().join("audit")).into_iter();
    let mut texts = segments.filter_map(|path| Some((fs::read_to_string(&path).ok()?, path)));
    let (original, segment) = texts
        .find(|(text, _)| text.contains("get_movie_list"))
        .expect("the call is in the trail");
    fs::write(
        &segment,
        original.replace("get_movie_list", "reserve_seats_"),
    )
    .unwrap();
    place.run_line("backup tampered.tar").ok();
    refused(&place.path().join("tampered.tar"), "audit trail is broken");
    fs::write(&segment, original).unwrap();
    let database = place.data().join("madoguchi.db");
    let mut bytes = fs::read(&database).unwrap();
    let page = bytes.len() / 4096 / 2 * 4096;
    bytes[page..page + 600].fill(0xee);
    fs::write(&database, bytes).unwrap();
    place.run_line("backup broken.tar").ok();
    refused(&place.path().join("broken.tar"), "database is damaged");
}
