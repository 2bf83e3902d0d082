//! A small disk of a test's own, to fill it up or to make it read-only.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test without its disk has nothing to say"
)]

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// Unmounted when it goes out of scope. Mounting needs root, or `sudo` without a
/// password.
pub struct SmallDisk {
    path: PathBuf,
    _directory: Option<TempDir>,
}

impl SmallDisk {
    /// A disk with options such as `size=16m`.
    pub fn mount(options: &str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut disk = Self::mount_at(directory.path(), options);
        disk._directory = Some(directory);
        disk
    }

    /// The same in a directory of the test, which is created.
    pub fn mount_at(path: &Path, options: &str) -> Self {
        fs::create_dir_all(path).expect("a directory to mount it in");
        let (options, name) = (format!("mode=0777,{options}"), path.to_string_lossy());
        as_root(&["mount", "-t", "tmpfs", "-o", &options, "none", &name]);
        Self {
            path: path.to_owned(),
            _directory: None,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Mounts it again with options such as `ro`. No file may be open for writing.
    pub fn remount(&self, options: &str) {
        let path = self.path().to_string_lossy().into_owned();
        as_root(&["mount", "-o", &format!("remount,{options}"), &path]);
    }

    /// Fills it to the last byte. Deleting the file makes space again.
    pub fn fill(&self) -> PathBuf {
        let path = self.path().join("ballast");
        let mut file = fs::File::create(&path).expect("an empty file has space");
        for size in [65_536, 4_096, 512, 1] {
            let zeros = vec![0_u8; size];
            while file.write_all(&zeros).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let path = self.path().to_string_lossy().into_owned();
        // Lazily: a file may still be open.
        let _ = command(&["umount", "-l", &path]).status();
    }
}

fn as_root(arguments: &[&str]) {
    let output = command(arguments).output().expect("mount runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "mounting a small disk needs root, or sudo without a password: {said}"
    );
}

fn command(arguments: &[&str]) -> Command {
    let is_root = Command::new("id").arg("-u").output();
    let is_root = is_root.is_ok_and(|output| output.stdout == b"0\n");
    let (program, rest) = match (is_root, arguments.split_first()) {
        (true, Some((program, rest))) => (*program, rest.to_vec()),
        (false, Some(_)) => ("sudo", [&["-n"], arguments].concat()),
        (_, None) => panic!("a command has a name"),
    };
    let mut command = Command::new(program);
    command.args(rest);
    command
}
