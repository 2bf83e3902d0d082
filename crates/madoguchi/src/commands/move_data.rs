//! `madoguchi move`.

use std::{path::Path, process::ExitCode, sync::Arc};

use kit::{Error, Result, Sql, hold, sql::Budget, time::Clock};
use serde_json::json;
use store::{Database, Options, url::DatabaseUrl};

use crate::{
    cli::{CounterOptions, Global, Move},
    config::Config,
    embedded, invocation,
    locale::pick,
    location,
    marks::{MOVED_FILES, Marked},
    moving::{self, Folder, MovedData},
    open,
    output::{pretty, print},
    own_state::{Databases, open_store},
    progress::Progress,
    running::{self, RunningDesk},
    runtime::on_one_thread,
};

pub fn run(global: &Global, arguments: &Move) -> Result<ExitCode> {
    let mut config = open::configuration(global, &CounterOptions::default())?;
    config.log_less();
    desk::log::init(&config.settings.log);
    on_one_thread(async {
        let Some(to) = &arguments.to else {
            return undo(global, &config, arguments.json).await;
        };
        let progress = Arc::new(Progress::new(pick("Moving", "移動中")));
        let moved = match &arguments.only {
            None => everything(global, &config, to, &progress).await?,
            Some(_) => only_files(global, &config, to).await?,
        };
        drop(progress);
        report(global, arguments, &moved)
    })
}

async fn everything(
    global: &Global,
    config: &Config,
    to: &str,
    progress: &Arc<Progress>,
) -> Result<MovedData> {
    let folder = Folder::of(config)?;
    let Some(places) = embedded::places(global, config)? else {
        let to = directory(to)?;
        let source = database(global, config)?;
        moving::unmark_interrupted(&source, options(config)?, to).await?;
        let own = open::own_rows(global, config);
        refuse_running(&running::desks(global, config, &own.state).await?)?;
        let moved = moving::to_directory(&own.state, to, &folder, progress).await;
        own.close().await?;
        return moved;
    };
    let to = postgres(to)?;
    refuse_running(&running::desks_beside(global, config))?;
    let with_secret = config.settings.identity.secret.is_empty();
    let target = (&to, options(config)?);
    moving::to_postgres(&places, target, with_secret, &folder, progress).await
}

async fn only_files(global: &Global, config: &Config, to: &str) -> Result<MovedData> {
    let folder = Folder::of(config)?;
    let databases = Databases::default();
    let moved = match DatabaseUrl::parse(to) {
        Ok(url @ DatabaseUrl::Postgres(_)) => {
            let store = open_store(&url, options(config)?, &databases).await?;
            moving::files_to_postgres(&folder, &store, url.to_string()).await
        }
        _ => {
            if embedded::places(global, config)?.is_some() {
                return Err(Error::new(
                    "INVALID_TARGET",
                    "The rooms are in files, and can be moved to PostgreSQL only.",
                )
                .next("Write --to postgres://user@host/name."));
            }
            let to = directory(to)?;
            let own = open::own_rows(global, config);
            refuse_running(&running::desks(global, config, &own.state).await?)?;
            let store = Arc::clone(&own.state().await?.store);
            let moved = moving::postgres_to_files(&folder, &store, to).await;
            own.close().await?;
            moved
        }
    };
    open::close(&databases).await?;
    moved
}

fn database(global: &Global, config: &Config) -> Result<DatabaseUrl> {
    location::database_url(&config.settings.database.url, global.data.as_deref())
}

fn options(config: &Config) -> Result<Options> {
    location::database_options(&config.settings.database, &Clock::system())
}

fn postgres(to: &str) -> Result<DatabaseUrl> {
    match DatabaseUrl::parse(to) {
        Ok(url @ DatabaseUrl::Postgres(_)) => Ok(url),
        Err(error) if to.contains("://") => Err(error),
        _ => Err(Error::new(
            "INVALID_TARGET",
            "This data is in a data directory, and can be moved to PostgreSQL only.",
        )
        .next(
            "Write --to postgres://user@host/name. For another directory use `madoguchi backup` \
             and `restore`.",
        )),
    }
}

fn directory(to: &str) -> Result<&Path> {
    match to.contains("://") {
        false => Ok(Path::new(to)),
        true => Err(Error::new(
            "INVALID_TARGET",
            "This data is on PostgreSQL, and can be moved into a data directory only.",
        )
        .next("Write --to DIR. For another PostgreSQL use pg_dump and pg_restore.")),
    }
}

fn refuse_running(desks: &[RunningDesk]) -> Result<()> {
    let words: Vec<String> = desks.iter().map(RunningDesk::in_words).collect();
    match words.is_empty() {
        true => Ok(()),
        false => Err(Error::new(
            "DATA_IN_USE",
            format!("A desk runs on this data: {}.", words.join(", ")),
        )
        .next("Stop it and try again. Nothing was moved.")),
    }
}

fn report(global: &Global, arguments: &Move, moved: &MovedData) -> Result<ExitCode> {
    if arguments.json {
        return print(&pretty(moved));
    }
    let MovedData {
        to: shown,
        tables,
        rows,
        audit_records,
        rooms,
        messages,
    } = moved;
    let what = match arguments.only {
        None => format!(
            "{rows} rows of {tables} tables, {audit_records} audit records and {rooms} rooms with \
             {messages} messages"
        ),
        Some(_) => format!("{rooms} rooms with {messages} messages"),
    };
    let next = match shown.starts_with("postgresql://") {
        false if arguments.only.is_some() => format!(
            "Set [rooms] data_dir or AGENT_COMM_DATA_DIR to {}, and start the desk.",
            invocation::quoted(Path::new(shown))
        ),
        true => {
            "Set that address in [database] url or MADOGUCHI_DATABASE__URL, and start the desk."
                .to_owned()
        }
        false => format!(
            "Remove [database] url, and start the desk: madoguchi serve --data {}",
            invocation::quoted(Path::new(shown))
        ),
    };
    print(&format!(
        "Moved {what} to {shown}.\n{next}\n\
         The old data stays as it is and can no longer be used. To go back to it: {}",
        invocation::command(global, "move --undo")
    ))
}

/// Makes the data usable again that the configuration names. The files that were moved to
/// a PostgreSQL are found even if it is configured already.
async fn undo(global: &Global, config: &Config, as_json: bool) -> Result<ExitCode> {
    let url = database(global, config)?;
    let folder = Folder::of(config)?;
    let (database, files) = match &url {
        DatabaseUrl::Sqlite(path) => (Marked::Database(path).undo_moved()?, folder.undo_moved()?),
        DatabaseUrl::Postgres(_) => match undo_tables(config, &url).await? {
            Some(to) => (Some(to), None),
            None => {
                let embedded = location::data_directory(global.data.as_deref())?;
                let embedded = embedded.join("madoguchi.db");
                let database = Marked::Database(&embedded).undo_moved()?;
                (database, folder.undo_moved()?)
            }
        },
    };
    let is_database = database.is_some();
    let Some(to) = database.or(files) else {
        return Err(Error::new("NOT_MOVED", "This data was not moved.")
            .next("Name the data that was moved, with --data DIR or [database] url."));
    };
    if as_json {
        return print(&pretty(&json!({ "was_moved_to": to })));
    }
    let path = invocation::quoted(&folder.path);
    let next = match (to == url.to_string(), is_database) {
        (false, _) => String::new(),
        (true, true) => "To use it, remove [database] url.\n".into(),
        (true, false) => {
            format!("To use it, set [rooms] data_dir or AGENT_COMM_DATA_DIR to {path}.\n")
        }
    };
    print(&format!(
        "The data that was moved to {to} can be used again here.\n{next}What changed there since \
         is not in it; do not use both."
    ))
}

/// Returns where data on PostgreSQL had been moved to.
async fn undo_tables(config: &Config, url: &DatabaseUrl) -> Result<Option<String>> {
    let database = Database::open(url, options(config)?).await?;
    let store: Arc<dyn kit::Store> = Arc::new(database.clone());
    store.migrate(hold::MIGRATIONS).await?;
    let release = |sql: &mut dyn Sql| {
        let mut to = None;
        for name in [MOVED_FILES, hold::MOVED] {
            to = hold::find(sql, name)?.map(|moved| moved.reason).or(to);
            hold::release(sql, name)?;
        }
        Ok(to)
    };
    let moved = store.transaction(Budget::default(), release).await;
    database.close().await?;
    moved
}
