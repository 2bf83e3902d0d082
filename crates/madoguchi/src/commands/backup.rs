//! `madoguchi backup FILE`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use kit::{Error, Result};
use serde_json::json;

use crate::{
    archive::{self, Archive, Manifest},
    cli::{Backup, CounterOptions, Global},
    config::Config,
    counters, embedded,
    frozen::{self, Frozen},
    invocation,
    locale::{self, pick},
    location,
    marks::Marked,
    open, open_files,
    output::{pretty, print, tell},
    own_state::SECRET,
    progress::{Progress, Step},
    temporary,
};

pub fn run(global: &Global, arguments: &Backup) -> Result<ExitCode> {
    let mut config = open::configuration(global, &CounterOptions::default())?;
    config.log_less();
    desk::log::init(&config.settings.log);
    let Some(places) = embedded::places(global, &config)? else {
        return Err(on_postgres(global, &config));
    };
    // Data that was moved away is old, and what was half restored is half.
    Marked::Database(&places.database).check()?;
    Marked::Folder(&places.rooms).check()?;
    let file = std::path::absolute(&arguments.file).map_err(Error::internal)?;
    let directory = file.parent().unwrap_or(Path::new("/"));
    match fs::symlink_metadata(&file) {
        Ok(_) if !arguments.overwrite => return Err(exists(&file)),
        Ok(there) if !there.is_file() => return Err(not_a_file(&file)),
        _ => {}
    }
    refuse_public(&file, directory, &places.data)?;
    let progress = Progress::new(pick("Backing up", "バックアップ中"));
    temporary::sweep(directory);
    let made = temporary::file(directory);
    let mut made = made.map_err(|error| unwritable(&file, &error))?;
    open_files::allow_many();
    let (counter, _) = embedded::with_folder()?;
    let settings = embedded::settings(&config, counter);
    let folder = || match counter.folder_files {
        Some(files) => (files.freeze)(settings),
        None => Ok(None),
    };
    let Frozen {
        moment,
        parts,
        skipped,
    } = frozen::freeze(&places, folder, !arguments.without_secret, directory)?;
    if parts.is_empty() {
        return Err(nothing(&places.database));
    }
    let total: u64 = parts.iter().map(|part| part.size).sum();
    let not_included = not_included(&config, arguments.without_secret);
    let manifest = archive::write(
        made.as_file_mut(),
        locale::utc(moment),
        not_included,
        parts,
        &|bytes| progress.set(step(bytes, total)),
    )?;
    progress.next_part(pick("Checking the backup", "バックアップを確認中"));
    Archive::open(made.path())?.each(|_, _| Ok(()), &|_| {})?;
    let kept = match arguments.overwrite {
        true => made.persist(&file),
        false => made.persist_noclobber(&file),
    };
    kept.map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(&file),
        _ => unwritable(&file, &error.error),
    })?;
    sync(directory);
    drop(progress);
    report(global, arguments, &file, moment, &manifest, &skipped)
}

fn report(
    global: &Global,
    arguments: &Backup,
    file: &Path,
    moment: i64,
    manifest: &Manifest,
    skipped: &[PathBuf],
) -> Result<ExitCode> {
    let size = fs::metadata(file).map_or(0, |about| about.len());
    let has_secret = manifest.has(SECRET);
    if arguments.json {
        return print(&pretty(&json!({
            "file": file,
            "bytes": size,
            "moment": manifest.moment,
            "parts": manifest.parts.len(),
            "has_secret": has_secret,
            "not_included": manifest.not_included,
            "skipped": skipped,
        })));
    }
    for path in skipped {
        tell(&format!(
            "{} is not in the backup: it is a link or a special file, or its name is not allowed.",
            path.display()
        ));
    }
    let verify = format!("restore --verify {}", invocation::quoted(file));
    let mut text = format!(
        "Wrote {} ({}, {} files).\nEverything that was answered before {} is in it.\n",
        file.display(),
        locale::size(size),
        manifest.parts.len(),
        locale::written_to_the_second(moment),
    );
    if has_secret {
        text.push_str("It contains the desk's secret. Keep it where only you can read it.\n");
    }
    text.push_str("Not in it:\n");
    for what in &manifest.not_included {
        text.push_str(&format!("  - {what}\n"));
    }
    text.push_str(&format!(
        "Check it: {}",
        invocation::command(global, &verify)
    ));
    print(&text)
}

pub fn step(bytes: u64, total: u64) -> Step<'static> {
    Step {
        done: bytes as f64,
        total: Some(total as f64),
        count: bytes / 1_000_000,
        noun: "MB",
    }
}

/// What belongs to the installation and is kept elsewhere.
fn not_included(config: &Config, without_secret: bool) -> Vec<String> {
    let mut list = vec![
        "the configuration file, and files that it names, such as certificates and signing keys"
            .to_owned(),
        "tasks and decisions: they are in `.todo/` of each project".to_owned(),
        "the search index: it is built again".to_owned(),
    ];
    for counter in counters::all() {
        let settings = config.counters.get(counter.name);
        let own = counter
            .own_database
            .and_then(|key| settings?.get(key)?.as_str());
        if own.is_some_and(|url| !url.trim().is_empty()) {
            let name = counter.name;
            list.push(format!(
                "the database of {name} alone: back it up with its own tools"
            ));
        }
    }
    if !config.settings.identity.secret.is_empty() {
        list.push("the secret, which is in the configuration".into());
    } else if without_secret {
        list.push(format!(
            "{SECRET}: without it the API keys in the backup don't work"
        ));
    }
    list
}

fn on_postgres(global: &Global, config: &Config) -> Error {
    let url = location::database_url(&config.settings.database.url, global.data.as_deref());
    let shown = url.map_or_else(|_| String::new(), |url| url.to_string());
    Error::new(
        "DATA_ON_POSTGRES",
        format!("The data of this installation is on PostgreSQL: {shown}. No backup was made."),
    )
    .next(
        "Back it up with PostgreSQL's own tools: pg_dump --format=custom --schema=madoguchi. \
         Copy `assets` in the data directory and files of rooms as well.",
    )
}

fn nothing(database: &Path) -> Error {
    Error::new(
        "NOTHING_TO_BACK_UP",
        format!("There is no data: {} does not exist.", database.display()),
    )
    .next("Name the data directory with --data DIR.")
}

/// Everybody can fetch what is in `assets`.
fn refuse_public(file: &Path, directory: &Path, data: &Path) -> Result<()> {
    let (Ok(directory), Ok(assets)) =
        (directory.canonicalize(), data.join("assets").canonicalize())
    else {
        return Ok(());
    };
    match directory.starts_with(assets) {
        false => Ok(()),
        true => Err(Error::new(
            "FILE_IS_PUBLIC",
            format!(
                "The desk serves {} to everybody. No backup was made.",
                file.display()
            ),
        )
        .next("Choose a directory that is not in `assets`.")),
    }
}

fn not_a_file(file: &Path) -> Error {
    Error::new(
        "FILE_EXISTS",
        format!(
            "{} is not a plain file. No backup was made.",
            file.display()
        ),
    )
    .next("Choose another name.")
}

fn exists(file: &Path) -> Error {
    Error::new(
        "FILE_EXISTS",
        format!("{} exists already. No backup was made.", file.display()),
    )
    .next("Choose another name, or replace it with --overwrite.")
}

fn unwritable(file: &Path, error: &std::io::Error) -> Error {
    Error::new(
        "BACKUP_UNWRITABLE",
        format!(
            "{} can't be written: {error}. No backup was made.",
            file.display()
        ),
    )
    .next("Check the directory and its permissions.")
}

fn sync(directory: &Path) {
    #[cfg(unix)]
    if let Ok(directory) = fs::File::open(directory) {
        let _ = directory.sync_all();
    }
    #[cfg(not(unix))]
    let _ = directory;
}
