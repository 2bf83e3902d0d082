//! `madoguchi restore FILE`, `restore --verify FILE` and `restore --release`.

use std::{path::Path, process::ExitCode};

use desk::audit::{self, AuditLocation, UNWATCHED};
use kit::{Error, Result, Sql, hold, sql::Budget};
use serde_json::json;

use super::backup::step;
use crate::{
    after_restore::{self, Restored},
    archive::Archive,
    cli::{CounterOptions, Global, Restore},
    config::Config,
    embedded, invocation,
    locale::pick,
    new_installation::{NewInstallation, Places},
    open,
    output::{pretty, print},
    own_state::SECRET,
    progress::Progress,
    runtime::on_one_thread,
};

pub fn run(global: &Global, arguments: &Restore) -> Result<ExitCode> {
    let mut config = open::configuration(global, &CounterOptions::default())?;
    config.log_less();
    desk::log::init(&config.settings.log);
    on_one_thread(async {
        match &arguments.file {
            None => release(global, &config, arguments.json).await,
            Some(file) if arguments.verify => verify(file, arguments.json).await,
            Some(file) => restore(global, &config, file, arguments.json).await,
        }
    })
}

/// Checks the whole file before anything of it is written.
fn check(archive: &mut Archive) -> Result<()> {
    let total = archive.manifest.bytes();
    let progress = Progress::new(pick("Checking the backup", "バックアップを確認中"));
    archive.each(|_, _| Ok(()), &|bytes| progress.set(step(bytes, total)))
}

/// Writes all parts, and checks what is in them. Returns how many records the audit
/// trail has.
async fn unpacked(archive: &mut Archive, incoming: &NewInstallation) -> Result<u64> {
    let total = archive.manifest.bytes();
    let progress = Progress::new(pick("Unpacking the backup", "バックアップを展開中"));
    archive.each(
        |part, content| incoming.write(&part.name, content),
        &|bytes| progress.set(step(bytes, total)),
    )?;
    progress.next_part(pick("Checking what is in it", "内容を確認中"));
    if archive.manifest.has("madoguchi.db") {
        let problems = store::snapshot::problems(&incoming.path("madoguchi.db"))?;
        if let Some(problem) = problems.first() {
            return Err(unsound(&format!("its database is damaged: {problem}")));
        }
        after_restore::check_version(&incoming.path("madoguchi.db")).await?;
    }
    let trail = incoming.path("audit/checkpoints.jsonl");
    let trail = trail.parent().unwrap_or(Path::new("."));
    if !trail.exists() {
        return Ok(0);
    }
    let store = AuditLocation::Directory(trail.to_owned()).open()?;
    let report = audit::blocking(&store, |store, _| audit::verify(store, UNWATCHED)).await?;
    match report.broken {
        None => Ok(report.records),
        Some(broken) => Err(unsound(&format!(
            "its audit trail is broken in {} line {}: {}",
            broken.segment, broken.line, broken.what
        ))),
    }
}

async fn verify(file: &Path, as_json: bool) -> Result<ExitCode> {
    let mut archive = Archive::open(file)?;
    check(&mut archive)?;
    let scratch = tempfile::tempdir().map_err(Error::internal)?;
    let places = Places::in_directory(&scratch.path().join("data"));
    let incoming = NewInstallation::begin(places, true)?;
    let records = unpacked(&mut archive, &incoming).await.map_err(no_space)?;
    let manifest = &archive.manifest;
    if as_json {
        return print(&pretty(&json!({
            "ok": true,
            "file": file,
            "moment": manifest.moment,
            "program": manifest.program,
            "parts": manifest.parts.len(),
            "bytes": manifest.bytes(),
            "has_secret": manifest.has(SECRET),
            "audit_records": records,
            "not_included": manifest.not_included,
        })));
    }
    print(&format!(
        "ok  {} files of {}, all checksums match.\n    The database is sound, and all {records} \
         records of the audit trail are linked.",
        manifest.parts.len(),
        manifest.moment,
    ))
}

async fn restore(global: &Global, config: &Config, file: &Path, as_json: bool) -> Result<ExitCode> {
    let Some(places) = embedded::places(global, config)? else {
        return Err(Error::new(
            "DATA_ON_POSTGRES",
            "A backup is restored into a data directory, and this configuration names PostgreSQL.",
        )
        .next(
            "Restore it without [database] url, and then move it: madoguchi move --to URL. A dump \
             of PostgreSQL is restored with pg_restore.",
        ));
    };
    let mut archive = Archive::open(file)?;
    // Before the file is checked, which takes a while: desks are kept away meanwhile.
    let incoming = NewInstallation::begin(places.clone(), archive.manifest.has(SECRET))?;
    check(&mut archive)?;
    unpacked(&mut archive, &incoming).await?;
    let database = incoming.path("madoguchi.db");
    let manifest = &archive.manifest;
    let restored = match manifest.has("madoguchi.db") {
        true => Some(after_restore::prepare(&database, &manifest.moment).await?),
        false => None,
    };
    incoming.commit()?;
    let lost_secret = !manifest.has(SECRET)
        && config.settings.identity.secret.is_empty()
        && !places.database.with_file_name(SECRET).exists();
    if as_json {
        return print(&pretty(&as_value(
            &archive,
            &places,
            restored.as_ref(),
            lost_secret,
        )));
    }
    print(&in_words(
        global,
        &archive,
        &places,
        restored.as_ref(),
        lost_secret,
    ))
}

fn as_value(
    archive: &Archive,
    places: &Places,
    restored: Option<&Restored>,
    lost_secret: bool,
) -> serde_json::Value {
    let keys = restored.iter().flat_map(|it| &it.keys);
    let keys: Vec<_> = keys
        .map(|key| json!({ "id": key.id, "name": key.name }))
        .collect();
    json!({
        "moment": archive.manifest.moment,
        "data": places.data,
        "rooms": places.rooms,
        "parts": archive.manifest.parts.len(),
        "held": restored.is_some(),
        "lapsed_approvals": restored.map_or(0, |it| it.lapsed),
        "keys": keys,
        "keys_work": !lost_secret,
        "not_included": archive.manifest.not_included,
    })
}

fn in_words(
    global: &Global,
    archive: &Archive,
    places: &Places,
    restored: Option<&Restored>,
    lost_secret: bool,
) -> String {
    let command = |rest: &str| invocation::command(global, rest);
    let mut text = format!(
        "Restored {} files of {} into {}.\n",
        archive.manifest.parts.len(),
        archive.manifest.moment,
        places.data.display(),
    );
    if places.rooms.parent() != Some(&places.data) {
        text.push_str(&format!("Rooms are in {}.\n", places.rooms.display()));
    }
    if let Some(restored) = restored {
        text.push_str(&format!(
            "Messages, reminders and calendar changes are held: they may have been sent since the \
             backup. Look through what waits, then release it: {}\n",
            command("restore --release")
        ));
        if restored.lapsed > 0 {
            let lapsed = restored.lapsed;
            text.push_str(&format!(
                "{lapsed} approvals that were not used yet have lapsed.\n"
            ));
        }
        text.push_str(&keys_in_words(restored, lost_secret, &command));
    }
    text.push_str(&format!("Start it: {}", command("serve")));
    text
}

fn keys_in_words(
    restored: &Restored,
    lost_secret: bool,
    command: &dyn Fn(&str) -> String,
) -> String {
    if restored.keys.is_empty() {
        return "No API key is in the backup.\n".into();
    }
    if lost_secret {
        return format!(
            "The backup has no secret, so its {} API keys don't work. Put {SECRET} beside the \
             database, or make new keys: {}\n",
            restored.keys.len(),
            command("keys create NAME")
        );
    }
    let mut text =
        "These API keys are valid again, even if they were revoked or rotated since:\n".to_owned();
    for key in &restored.keys {
        text.push_str(&format!("  {}  {}\n", key.id, key.name));
    }
    text.push_str(&format!("Revoke one: {}\n", command("keys revoke NAME")));
    text
}

async fn release(global: &Global, config: &Config, as_json: bool) -> Result<ExitCode> {
    let own = open::own_rows(global, config);
    let work = |sql: &mut dyn Sql| hold::release(sql, hold::OUTSIDE);
    let store = &own.state().await?.store;
    let released = store.transaction(Budget::default(), work).await;
    own.close().await?;
    let released = released?;
    if as_json {
        return print(&pretty(&json!({ "released": released })));
    }
    print(match released {
        true => "Released: messages and reminders that wait are sent now.",
        false => "Nothing was held.",
    })
}

/// The directory is a temporary one, which `--data` does not name.
fn no_space(error: Error) -> Error {
    match error.code == "DATA_UNUSABLE" {
        true => error.next("Name a directory on a disk with more space with TMPDIR."),
        false => error,
    }
}

fn unsound(what: &str) -> Error {
    Error::new(
        "BACKUP_DAMAGED",
        format!("The backup was made of damaged data: {what}. Nothing was restored."),
    )
    .next("Use another backup.")
}
