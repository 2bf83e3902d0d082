//! A machine at its limits: no space, file handles, threads or memory left, and a clock that
//! jumps. Calls are refused with a reason, nothing is half done, and the desk works again
//! when there is room.

mod clock;
mod disk;
mod handles;
mod memory;
mod threads;
mod work;

use std::{fs, os::unix::process::CommandExt as _, process::Command};

use crate::harness::is_root;

/// A lower limit of a running process, until this is dropped.
struct Limit {
    pid: u32,
    kind: &'static str,
    before: String,
}

impl Limit {
    /// `kind` is an option of `prlimit` such as `nofile`.
    fn set(pid: u32, kind: &'static str, most: u64) -> Self {
        let option = format!("--{kind}");
        let shown = prlimit(pid, &[&option, "--noheadings", "--raw", "--output=SOFT"]);
        let before = shown.trim().to_owned();
        prlimit(pid, &[&format!("--{kind}={most}:")]);
        Self { pid, kind, before }
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // A process that has ended needs no limit.
        if fs::exists(format!("/proc/{}", self.pid)).unwrap() {
            let back = format!("--{}={}:", self.kind, self.before);
            prlimit(self.pid, &[&back]);
        }
    }
}

fn prlimit(pid: u32, arguments: &[&str]) -> String {
    let mut command = Command::new("prlimit");
    command.args(["--pid", &pid.to_string()]).args(arguments);
    // Whoever runs a process may do this; in a container, root may not.
    let user = user_of(pid);
    if is_root() && user != 0 {
        command.uid(user).gid(user);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn user_of(pid: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let user = line.and_then(|ids| ids.split_whitespace().next());
    user.unwrap().parse().unwrap()
}
