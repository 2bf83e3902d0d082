//! Moves a whole trail from one store into the other, record by record and unchanged.

use std::{fs, io::Write, path::Path, sync::Arc};

use kit::{Param, Result, Sql, durable};

use super::{
    files::{directory::Directory, disk},
    progress::{TrailProgress, Watch},
    record::{RecordLine, parse},
    store::{AuditStore, CHECKPOINTS},
    table,
};
use crate::private_files;

/// The lines of a chain with their arguments.
type Lines = Vec<(String, Option<String>)>;

/// All chains: the checkpoints first, then the segments.
fn each(
    from: &dyn AuditStore,
    watch: Watch<'_>,
    mut take: impl FnMut(&str, Lines) -> Result<()>,
) -> Result<u64> {
    let checkpoints = from.checkpoints()?;
    let mut records = 0;
    if !checkpoints.is_empty() {
        let lines = checkpoints.into_iter().map(|line| (line, None));
        take(CHECKPOINTS, lines.collect())?;
    }
    let names = from.segments()?;
    for (segments_done, name) in names.iter().enumerate() {
        watch(TrailProgress {
            segments_done,
            segments: names.len(),
            records,
        });
        if let Some(stored) = from.read(name)? {
            records += stored.lines.len() as u64;
            take(name, stored.lines)?;
        }
    }
    Ok(records)
}

/// Returns how many records there are. Segments that are not sealed yet get a lease that
/// has expired, so that the first desk completes them.
pub fn into_table(from: &dyn AuditStore, sql: &mut dyn Sql, watch: Watch<'_>) -> Result<u64> {
    let records = each(from, watch, |segment, lines| {
        let lines: Vec<RecordLine> = lines.into_iter().zip(1..).map(row).collect();
        table::insert(sql, segment, &lines)
    })?;
    for segment in from.unsealed()? {
        let lease = table::lease_of(&segment);
        sql.execute(
            "INSERT INTO leases (name, holder, expires_at) VALUES ($1, 'moved', 0)",
            &[Param::Text(&lease)],
        )?;
    }
    Ok(records)
}

/// A damaged record is moved as it is; `verify` goes on reporting it.
fn row(((record, arguments), seq): ((String, Option<String>), u64)) -> RecordLine {
    let parsed = parse(&record).ok();
    let parsed = parsed.as_ref();
    RecordLine {
        seq,
        at: parsed.map_or(0, |it| it.at_ms()),
        call: parsed
            .and_then(|it| it.call.as_ref())
            .map(|it| it.to_string()),
        caller: parsed.and_then(|it| it.caller.as_deref()).map(Arc::from),
        record,
        arguments,
    }
}

/// Returns how many records there are. The directory must not have a trail yet.
pub fn into_files(from: &dyn AuditStore, to: &Path, watch: Watch<'_>) -> Result<u64> {
    let directory = Directory::new(to);
    disk::make_directory(to)?;
    disk::make_directory(&to.join("text"))?;
    let records = each(from, watch, |segment, lines| {
        let arguments = lines.iter().filter_map(|(_, line)| line.as_deref());
        if lines.iter().any(|(_, line)| line.is_some()) {
            write(&directory.arguments(segment), arguments)?;
        }
        write(
            &directory.chain(segment),
            lines.iter().map(|(line, _)| line.as_str()),
        )
    })?;
    for path in [&*to.join("text"), to] {
        durable::sync_directory(path).map_err(|error| disk::unusable(path, error))?;
    }
    Ok(records)
}

fn write<'a>(path: &Path, lines: impl Iterator<Item = &'a str>) -> Result<()> {
    let made = private_files::options()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|file| {
            let mut file = std::io::BufWriter::new(file);
            for line in lines {
                writeln!(file, "{line}")?;
            }
            file.into_inner()?.sync_all()
        });
    made.map_err(|error| {
        let _ = fs::remove_file(path);
        disk::unusable(path, error)
    })
}
