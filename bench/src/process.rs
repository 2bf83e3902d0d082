//! What a process and its descendants have cost so far, from `/proc`.

use std::{collections::HashMap, fs, process::Command, sync::OnceLock, thread};

use anyhow::{Context as _, Result};

#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    /// Resident now, in kB.
    pub resident: u64,
    /// The part of it that are pages of files, which the system can drop.
    pub file: u64,
    /// The part of it that is the program's own: heap and stacks.
    pub anonymous: u64,
    /// The most that ever was.
    pub peak: u64,
}

/// Of the last minute: what others do on the same cores is in every figure.
pub fn load_average() -> Result<String> {
    let loads = fs::read_to_string("/proc/loadavg")?;
    Ok(loads.split(' ').next().unwrap_or_default().to_owned())
}

pub fn print_load(before: &str) -> Result<()> {
    let (cores, after) = (thread::available_parallelism()?, load_average()?);
    println!("\nCores: {cores}. Load average before {before}, after {after}.");
    Ok(())
}

/// User and system time in seconds.
pub fn cpu_seconds(root: u32) -> Result<f64> {
    let ticks: u64 = tree(root)?.iter().map(|process| process.ticks).sum();
    Ok(ticks as f64 / ticks_per_second()? as f64)
}

/// What the threads of one process have run so far: finer than ticks, but
/// threads that have ended are not in it.
pub fn thread_seconds(id: u32) -> Result<f64> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir(format!("/proc/{id}/task"))?.flatten() {
        let stat = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        let ran = stat.split_whitespace().next();
        nanoseconds += ran.and_then(|ran| ran.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(nanoseconds as f64 / 1e9)
}

pub fn memory(root: u32) -> Result<Memory> {
    let mut sum = Memory::default();
    for process in tree(root)? {
        let status = fs::read_to_string(format!("/proc/{}/status", process.id))?;
        sum.resident += kilobytes(&status, "VmRSS:");
        sum.file += kilobytes(&status, "RssFile:");
        sum.anonymous += kilobytes(&status, "RssAnon:");
        sum.peak += kilobytes(&status, "VmHWM:");
    }
    Ok(sum)
}

/// Lets the peak of one process begin anew, from what is resident now.
pub fn reset_peak(id: u32) -> Result<()> {
    // The kernel's word for it, see proc(5).
    fs::write(format!("/proc/{id}/clear_refs"), "5").context("the peak can't be reset")
}

fn kilobytes(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}

struct Process {
    id: u32,
    parent: u32,
    ticks: u64,
}

/// The process and everything under it.
fn tree(root: u32) -> Result<Vec<Process>> {
    let mut children: HashMap<u32, Vec<Process>> = HashMap::new();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(id) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        // A process may be gone by now.
        let Some(process) = read(id) else { continue };
        if id == root {
            found.push(process);
        } else {
            children.entry(process.parent).or_default().push(process);
        }
    }
    let mut next = 0;
    while let Some(process) = found.get(next) {
        next += 1;
        let under = children.remove(&process.id).unwrap_or_default();
        found.extend(under);
    }
    Ok(found)
}

fn read(id: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name, in brackets, may hold anything; after it come state and parent.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let field = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Process {
        id,
        parent: u32::try_from(field(1)?).ok()?,
        ticks: field(11)? + field(12)?,
    })
}

fn ticks_per_second() -> Result<u64> {
    static TICKS: OnceLock<u64> = OnceLock::new();
    if let Some(ticks) = TICKS.get() {
        return Ok(*ticks);
    }
    let output = Command::new("getconf").arg("CLK_TCK").output()?;
    let ticks = String::from_utf8(output.stdout)?
        .trim()
        .parse()
        .context("getconf CLK_TCK")?;
    Ok(*TICKS.get_or_init(|| ticks))
}
