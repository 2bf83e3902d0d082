//! Restores that are killed in the middle.

use std::{fs, process::Stdio, thread, time::Duration};

use serde_json::json;

use super::{back_up, text};
use crate::{
    audit::files,
    harness::{Place, mentions},
};

/// Killed at any moment, a restore leaves an empty directory, one that refuses to be
/// used, or a complete installation. The next restore works.
#[test]
fn a_killed_restore_leaves_nothing_that_looks_complete() {
    let place = Place::new();
    place.load_demo(&[]);
    place.create_key(&["phone"]);
    let assets = place.data().join("assets");
    fs::create_dir_all(&assets).unwrap();
    for number in 0..60 {
        fs::write(assets.join(format!("{number}.png")), vec![7; 2000]).unwrap();
    }
    back_up(&place);
    let file = place.path().join("backup.tar");
    let mut unfinished = 0;
    for pause in [10, 40, 100, 250] {
        let other = Place::new();
        let mut command = other.command();
        let mut child = command
            .args(["restore", text(&file)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(pause));
        let _ = child.kill();
        let status = child.wait().unwrap();
        if status.success() {
            continue;
        }
        unfinished += 1;
        let keys = other.run_line("keys list --json");
        // A kill between the last rename and the exit leaves a complete installation.
        if keys.code == Some(0) && keys.json() != json!([]) {
            check_complete(&other);
            continue;
        }
        if keys.code == Some(0) {
            // It had not begun, so a new installation was made.
            for name in ["audit", "assets"] {
                assert!(!other.data().join(name).exists(), "{name} after {pause} ms");
            }
            fs::remove_file(other.data().join("madoguchi.db")).unwrap();
            fs::remove_file(other.data().join("desk.secret")).unwrap();
        } else {
            mentions(&keys.stderr, &["RESTORE_INTERRUPTED"]);
        }
        other.run(&["restore", text(&file)]).ok();
        check_complete(&other);
    }
    assert!(unfinished > 0, "{unfinished}");
}

/// Checks that everything of the backup is in `place`, and nothing of a restore under way.
fn check_complete(place: &Place) {
    let keys = place.run_line("keys list --json").ok().json();
    assert_eq!(keys[0]["name"], "phone");
    assert_eq!(files(&place.data().join("assets")).len(), 60);
    for left in [".restoring", "madoguchi.db-restoring"] {
        assert!(!place.data().join(left).exists(), "{left}");
    }
}

/// The moment between the renames, which no test hits by chance.
#[test]
fn a_restore_that_ended_between_its_renames_is_undone_by_the_next() {
    let place = Place::new();
    place.create_key(&["phone"]);
    back_up(&place);
    let file = place.path().join("backup.tar");
    let other = Place::new();
    other.run(&["restore", text(&file)]).ok();
    let database = other.data().join("madoguchi.db");
    // Whatever else is in the list is not ours, and stays.
    let foreign = other.file("letter", "mine");
    let [secret, audit] = ["desk.secret", "audit"].map(|name| other.data().join(name));
    let list = json!([secret, audit, database, foreign]);
    let mark = other.data().join("madoguchi.db-restoring");
    fs::write(&mark, list.to_string()).unwrap();
    for command in ["keys list", "call cinema get_movie_list", "doctor"] {
        let refused = other.run_line(command);
        assert_eq!(refused.code, Some(1), "{command}");
        let said = format!("{}{}", refused.stdout, refused.stderr);
        mentions(&said, &["being restored or moved into this directory"]);
    }
    other
        .run_line("backup b.tar")
        .fails_with("RESTORE_INTERRUPTED");
    other.run(&["restore", text(&file)]).ok();
    assert!(foreign.exists());
    assert!(!mark.exists());
    other.run_line("keys list").ok();
}
