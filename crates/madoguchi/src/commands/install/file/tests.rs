use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn appended(texts: &Texts, more: &str) -> Result<(Next, Backup, ())> {
    let text = texts.file.clone().unwrap_or_default();
    Ok((Next::Write(text + more), Backup::Save, ()))
}

#[test]
fn a_new_file_is_made_with_its_directories() {
    let place = tempfile::tempdir().unwrap();
    for (name, is_private) in [("a/b/private.json", true), ("c/shared.json", false)] {
        let path = place.path().join(name);
        update(&path, is_private, |texts| appended(texts, "x")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "x");
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o077;
        assert_eq!(mode == 0, is_private, "{name} {mode:o}");
        assert!(!backup_path(&path).exists());
    }
}

#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::create_dir(path("dotfiles")).unwrap();
    fs::write(path("dotfiles/real"), "a").unwrap();
    fs::set_permissions(path("dotfiles/real"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("dotfiles/real", path("second")).unwrap();
    symlink(path("second"), path("first")).unwrap();
    update(&path("first"), true, |texts| appended(texts, "b")).unwrap();
    assert!(path("first").symlink_metadata().unwrap().is_symlink());
    assert!(path("second").symlink_metadata().unwrap().is_symlink());
    for (name, text) in [
        ("dotfiles/real", "ab"),
        ("dotfiles/real.madoguchi-backup", "a"),
    ] {
        assert_eq!(fs::read_to_string(path(name)).unwrap(), text);
        let mode = fs::metadata(path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{name}");
    }
    symlink("missing", path("dangling")).unwrap();
    update(&path("dangling"), true, |texts| appended(texts, "c")).unwrap();
    assert_eq!(fs::read_to_string(path("missing")).unwrap(), "c");
    assert_eq!(
        fs::read_dir(place.path()).unwrap().count(),
        5,
        "nothing is left over"
    );
}

#[test]
fn a_text_that_changed_meanwhile_is_read_again() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("f");
    fs::write(&path, "a").unwrap();
    let mut calls = 0;
    update(&path, true, |texts| {
        calls += 1;
        if calls == 1 {
            fs::write(&path, "a, theirs").unwrap();
        }
        appended(texts, ", ours")
    })
    .unwrap();
    assert_eq!(calls, 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "a, theirs, ours");
    assert_eq!(fs::read_to_string(backup_path(&path)).unwrap(), "a, theirs");

    let mut changes = 0;
    let busy = update(&path, true, |texts| {
        changes += 1;
        fs::write(&path, changes.to_string()).unwrap();
        appended(texts, "ours")
    });
    assert_eq!(busy.unwrap_err().code, "FILE_BUSY");
    assert_eq!(fs::read_to_string(&path).unwrap(), changes.to_string());
}

#[test]
fn edits_at_the_same_time_lose_nothing() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("f");
    std::thread::scope(|scope| {
        for letter in "abcdefghijklmnop".chars() {
            let path = &path;
            scope.spawn(move || {
                update(path, true, |texts| appended(texts, &letter.to_string())).unwrap();
            });
        }
    });
    let mut letters: Vec<char> = fs::read_to_string(&path).unwrap().chars().collect();
    letters.sort_unstable();
    assert_eq!(String::from_iter(letters), "abcdefghijklmnop");
}

#[test]
fn backups_are_saved_kept_and_removed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("f");
    let backup = backup_path(&path);
    let write = |text: &str, backup: Backup| {
        update(&path, true, |_| Ok((Next::Write(text.into()), backup, ()))).unwrap();
    };
    fs::write(&path, "1").unwrap();
    write("2", Backup::Save);
    write("3", Backup::Keep);
    assert_eq!(fs::read_to_string(&backup).unwrap(), "1");
    update(&path, true, |texts| {
        assert_eq!(texts.backup.as_deref(), Some("1"));
        Ok((Next::Keep, Backup::Remove, ()))
    })
    .unwrap();
    assert!(backup.exists(), "nothing changes if the file does not");
    write("1", Backup::Remove);
    assert!(!backup.exists());
    fs::write(&backup, "old").unwrap();
    update(&path, true, |_| Ok((Next::Delete, Backup::Keep, ()))).unwrap();
    assert!(!path.exists());
    write("new", Backup::Save);
    assert!(!backup.exists(), "there is nothing to go back to");
}

#[test]
fn what_is_not_text_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("f");
    fs::write(&path, b"\xff\xfe{").unwrap();
    let refused = update(&path, true, |texts| appended(texts, "x"));
    assert_eq!(refused.unwrap_err().code, "BROKEN_FILE");
    assert_eq!(fs::read(&path).unwrap(), b"\xff\xfe{");
}
