//! What the desk takes at one moment: memory, descriptors, threads, rows, files.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use rusqlite::{Connection, OpenFlags};

use crate::{client::World, desk::Desk};

pub struct Sample {
    /// Since the beginning of the run.
    pub after: Duration,
    /// By the desk's clock.
    pub at_ms: i64,
    pub day: usize,
    /// Nobody is calling, and what callers left has had time to go.
    pub is_rest: bool,
    /// Which process it was.
    pub life: usize,
    /// Calls until then.
    pub calls: u64,
    pub values: BTreeMap<String, f64>,
}

pub const RESIDENT: &str = "memory, resident, MB";
pub const HEAP: &str = "memory, heap, MB";
pub const DESCRIPTORS: &str = "descriptors";
pub const THREADS: &str = "threads";

/// Which of the series belong to a process and begin anew with the next one.
pub fn is_of_process(series: &str) -> bool {
    [RESIDENT, HEAP, DESCRIPTORS, THREADS].contains(&series)
}

pub fn take(world: &World, began: Instant, day: usize, is_rest: bool) -> Result<Sample> {
    let desk = &world.desk;
    let mut values = BTreeMap::new();
    read_process(desk, &mut values)?;
    count_rows(desk, &mut values)?;
    count_files("data", &desk.data(), &mut values);
    count_files("project", &desk.project(), &mut values);
    Ok(Sample {
        after: began.elapsed(),
        at_ms: desk.clock.now_ms(),
        day,
        is_rest,
        life: desk.starts(),
        calls: world.tally.calls(),
        values,
    })
}

fn read_process(desk: &Desk, values: &mut BTreeMap<String, f64>) -> Result<()> {
    let id = desk.id().context("no desk")?;
    let memory = desk.memory()?;
    let entries = |folder: &str| {
        let found = fs::read_dir(format!("/proc/{id}/{folder}"));
        found.map_or(0, Iterator::count) as f64
    };
    values.insert(RESIDENT.to_owned(), memory.resident as f64 / 1024.0);
    values.insert(HEAP.to_owned(), memory.anonymous as f64 / 1024.0);
    values.insert(DESCRIPTORS.to_owned(), entries("fd"));
    values.insert(THREADS.to_owned(), entries("task"));
    Ok(())
}

fn count_rows(desk: &Desk, values: &mut BTreeMap<String, f64>) -> Result<()> {
    let file = desk.data().join("madoguchi.db");
    let sql = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    sql.busy_timeout(Duration::from_secs(10))?;
    let mut tables =
        sql.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?;
    let names = tables.query_map([], |row| row.get::<_, String>(0))?;
    for name in names {
        let name = name?;
        if name.starts_with("sqlite_") {
            continue;
        }
        let count = format!("SELECT COUNT(*) FROM \"{name}\"");
        let rows: i64 = sql.query_one(&count, [], |row| row.get(0))?;
        values.insert(format!("rows, {name}"), rows as f64);
    }
    Ok(())
}

/// Files and bytes of each folder, down to two levels.
fn count_files(name: &str, root: &Path, values: &mut BTreeMap<String, f64>) {
    let mut folders = BTreeMap::new();
    walk(root, root, &mut folders);
    for (folder, (files, bytes)) in folders {
        let at = format!("{name}/{folder}");
        let at = at.trim_end_matches('/');
        values.insert(format!("files, {at}"), files);
        values.insert(format!("kB, {at}"), bytes / 1024.0);
    }
}

fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, (f64, f64)>) {
    // Files come and go meanwhile: those that are gone count nothing.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(about) = entry.metadata() else {
            continue;
        };
        if about.is_dir() {
            walk(root, &entry.path(), found);
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let within = folder.strip_prefix(root).unwrap_or(folder);
        let parts = within.components().take(2).map(Component::as_os_str);
        let mut place: Vec<_> = parts.map(|part| part.to_string_lossy()).collect();
        // The database's files are worth a line each.
        if name.starts_with("madoguchi.db") {
            place.push(name.into());
        }
        let sum = found.entry(place.join("/")).or_default();
        sum.0 += 1.0;
        sum.1 += about.len() as f64;
    }
}
