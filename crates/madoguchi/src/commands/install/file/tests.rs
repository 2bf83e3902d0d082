use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

const BY_HAND: &str = "Do it by hand.";

fn appended(texts: &Texts, more: &str) -> Result<(FileChange, Backup, ())> {
    let text = texts.file.clone().unwrap_or_default();
    let backup = texts.file.clone().map_or(Backup::Keep, Backup::Save);
    Ok((FileChange::Write(text + more), backup, ()))
}

#[test]
fn a_new_file_is_made_with_its_directories() {
    let place = tempfile::tempdir().unwrap();
    for (name, is_private) in [("a/b/private.json", true), ("c/shared.json", false)] {
        let path = place.path().join(name);
        update(&path, is_private, BY_HAND, |texts| appended(texts, "x")).unwrap();
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
    update(&path("first"), true, BY_HAND, |texts| appended(texts, "b")).unwrap();
    let backup = path("dotfiles/real.madoguchi-backup");
    assert_eq!(
        backup_path(&path("first")),
        backup,
        "as the report names it"
    );
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
    update(&path("dangling"), true, BY_HAND, |texts| {
        appended(texts, "c")
    })
    .unwrap();
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
    update(&path, true, BY_HAND, |texts| {
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
    let busy = update(&path, true, BY_HAND, |texts| {
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
                update(path, true, BY_HAND, |texts| {
                    appended(texts, &letter.to_string())
                })
                .unwrap();
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
    let write = |text: &str, backup: fn() -> Backup| {
        update(&path, true, BY_HAND, |_| {
            Ok((FileChange::Write(text.into()), backup(), ()))
        })
        .unwrap();
    };
    fs::write(&path, "1").unwrap();
    write("2", || Backup::Save("1".into()));
    write("3", || Backup::Keep);
    assert_eq!(fs::read_to_string(&backup).unwrap(), "1");
    update(&path, true, BY_HAND, |texts| {
        assert_eq!(texts.backup.as_deref(), Some("1"));
        Ok((FileChange::Keep, Backup::Remove, ()))
    })
    .unwrap();
    assert!(backup.exists(), "nothing changes if the file does not");
    write("1", || Backup::Remove);
    assert!(!backup.exists());
    update(&path, true, BY_HAND, |_| {
        Ok((FileChange::Delete, Backup::Keep, ()))
    })
    .unwrap();
    assert!(!path.exists());
}

#[test]
fn what_is_not_text_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("f");
    fs::write(&path, b"\xff\xfe{").unwrap();
    let refused = update(&path, true, BY_HAND, |texts| appended(texts, "x"));
    assert_eq!(refused.unwrap_err().code, "BROKEN_FILE");
    assert_eq!(fs::read(&path).unwrap(), b"\xff\xfe{");
}

#[test]
fn what_is_read_only_or_no_file_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("f");
    let refused = |said: &str| {
        let error = update(&path, true, BY_HAND, |texts| appended(texts, "x")).unwrap_err();
        assert_eq!(error.code, "FILE_UNUSABLE");
        assert!(error.text().contains(said), "{error:?}");
        assert!(error.text().ends_with(BY_HAND), "{error:?}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    };
    fs::write(&path, "a").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    refused("read-only");
    assert_eq!(fs::read_to_string(&path).unwrap(), "a");
    fs::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    refused("not a file");
}

/// With `sudo`, in the home directory of somebody else.
#[test]
fn what_root_creates_belongs_to_the_owner_of_the_directory() {
    use std::os::unix::fs::{MetadataExt, chown};
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    fs::create_dir(&home).unwrap();
    if chown(&home, Some(4711), Some(4712)).is_err() {
        return; // Only root can give files away.
    }
    let path = home.join("a/b/f");
    for _ in 0..2 {
        update(&path, true, BY_HAND, |texts| appended(texts, "x")).unwrap();
    }
    for made in [
        &path,
        &backup_path(&path),
        &home.join("a/b"),
        &home.join("a"),
    ] {
        let owner = fs::metadata(made).unwrap();
        assert_eq!((owner.uid(), owner.gid()), (4711, 4712), "{made:?}");
    }
}
