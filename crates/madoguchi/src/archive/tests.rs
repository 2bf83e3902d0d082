//! Archives that are whole, damaged, and made to do harm.

use std::{cell::RefCell, fs, path::Path, process::Command};

use super::{
    manifest::{MANIFEST, PartInfo, is_allowed},
    *,
};

const MOMENT: &str = "2026-11-16T08:00:00.123Z";

fn written(directory: &Path, parts: Vec<Part>) -> std::path::PathBuf {
    let path = directory.join("backup.tar");
    let mut file = fs::File::create(&path).unwrap();
    write(&mut file, MOMENT.into(), vec!["a".into()], parts, &|_| {}).unwrap();
    path
}

fn some_parts() -> Vec<Part> {
    let long = format!("assets/{}/写真.png", "long".repeat(40));
    vec![
        Part::bytes("audit/checkpoints.jsonl", b"{}\n".to_vec()),
        Part::bytes(long, vec![7; 512]),
        Part::bytes("rooms/rooms/general/messages.jsonl", Vec::new()),
        Part::bytes("madoguchi.db", vec![1; 1500]),
    ]
}

/// The names and contents, or the code of the refusal.
fn read(path: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let found = RefCell::new(Vec::new());
    let read = Archive::open(path).and_then(|mut archive| {
        archive.each(
            |part, content| {
                let mut bytes = Vec::new();
                content.read_to_end(&mut bytes).unwrap();
                found.borrow_mut().push((part.name.clone(), bytes));
                Ok(())
            },
            &|_| {},
        )
    });
    match read {
        Ok(()) => Ok(found.into_inner()),
        Err(error) => Err(error.code.into_owned()),
    }
}

#[test]
fn what_was_written_is_read_back_also_by_tar() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), some_parts());
    let found = read(&path).unwrap();
    for (part, (name, bytes)) in some_parts().iter().zip(&found) {
        assert_eq!(&part.name, name);
        let Content::Bytes(content) = &part.content else {
            panic!("{name}")
        };
        assert_eq!(content, bytes);
    }
    let out = directory.path().join("out");
    fs::create_dir(&out).unwrap();
    let mut unpacked = Command::new("tar");
    unpacked.arg("-xf").arg(&path).current_dir(&out);
    assert!(unpacked.status().unwrap().success());
    for (name, bytes) in found {
        assert_eq!(fs::read(out.join(name)).unwrap(), bytes);
    }
    let checked = Command::new("sha256sum")
        .args(["--check", "--quiet", "manifest.sha256"])
        .current_dir(&out)
        .status();
    assert!(checked.unwrap().success());
}

#[test]
fn changed_bytes_and_cuts_are_noticed_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), some_parts());
    let whole = fs::read(&path).unwrap();
    let changed = directory.path().join("changed.tar");
    // Every header, all paddings and every part are hit.
    for at in (0..whole.len()).step_by(11) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&changed, bytes).unwrap();
        assert!(read(&changed).is_err(), "byte {at} of {}", whole.len());
    }
    for length in (0..whole.len()).step_by(397) {
        fs::write(&changed, &whole[..length]).unwrap();
        assert!(read(&changed).is_err(), "cut off after {length}");
    }
    let longer = [whole.as_slice(), &[0; 512]].concat();
    fs::write(&changed, longer).unwrap();
    assert_eq!(read(&changed).unwrap_err(), "BACKUP_DAMAGED");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in [
        "../evil",
        "/etc/passwd",
        "audit/../../evil",
        "audit/./x",
        "audit//x",
        "audit/",
        "audit",
        "assets/a\\..\\b",
        "assets/C:/x",
        "assets/a\0b",
        "assets/a\nb",
        "madoguchi.db/x",
        "other.db",
        "",
        "manifest.json",
    ] {
        assert!(!is_allowed(name), "{name:?}");
        let directory = tempfile::tempdir().unwrap();
        let path = written(directory.path(), vec![Part::bytes(name, vec![1])]);
        assert_eq!(read(&path).unwrap_err(), "BACKUP_REFUSED", "{name:?}");
    }
    for name in ["madoguchi.db", "desk.secret", "assets/.hidden/写真.png"] {
        assert!(is_allowed(name), "{name:?}");
    }
}

#[test]
fn a_part_is_there_once_and_no_file_is_also_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    for (names, code) in [
        (["assets/a", "assets/a"], "BACKUP_DAMAGED"),
        (["assets/a", "assets/a/b"], "BACKUP_REFUSED"),
    ] {
        let parts = names.map(|name| Part::bytes(name, vec![1]));
        let path = written(directory.path(), parts.into());
        assert_eq!(read(&path).unwrap_err(), code);
    }
}

/// A tar archive of somebody else's, with whatever is in it, is not read at all.
#[test]
fn other_archives_and_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("other.tar");
    fs::write(directory.path().join("manifest.json"), "{}").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", directory.path().join("link")).unwrap();
    let made = Command::new("tar")
        .args(["-cf", "other.tar", "manifest.json", "link"])
        .current_dir(directory.path())
        .status();
    assert!(made.unwrap().success());
    assert_eq!(read(&path).unwrap_err(), "NOT_A_BACKUP");
    for text in ["", "hello", &"x".repeat(5000)] {
        fs::write(&path, text).unwrap();
        assert_eq!(read(&path).unwrap_err(), "NOT_A_BACKUP");
    }
    assert_eq!(read(directory.path()).unwrap_err(), "NOT_A_BACKUP");
}

/// A manifest that promises more than the file has, and one without an end.
#[test]
fn a_size_that_is_not_true_costs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("huge.tar");
    for size in ["77777777777", "00777777777"] {
        let mut head = entry::header(MANIFEST, 0, 0);
        head[124..135].copy_from_slice(size.as_bytes());
        fs::write(&path, &head).unwrap();
        assert!(read(&path).is_err(), "{size}");
    }
    let mut manifest = Manifest::new(MOMENT.into(), Vec::new(), Vec::new());
    manifest.parts.push(PartInfo {
        name: "assets/a".into(),
        size: u64::MAX,
        sha256: String::new(),
    });
    let text = manifest.to_text().unwrap();
    let mut bytes = entry::header(MANIFEST, text.len() as u64, manifest.seconds());
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(bytes.len() + entry::padding(text.len() as u64) + 2048, 0);
    fs::write(&path, bytes).unwrap();
    assert_eq!(read(&path).unwrap_err(), "BACKUP_DAMAGED");
}

#[test]
fn sizes_beyond_eight_gigabytes_have_a_header() {
    let plain = entry::header("madoguchi.db", 0o777_7777_7777, 0);
    assert_eq!(&plain[124..136], b"77777777777\0");
    let large = entry::header("madoguchi.db", 1 << 40, 0);
    assert_eq!(&large[124..136], &[0x80, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
}
