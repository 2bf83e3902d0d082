//! From SQLite and files to PostgreSQL.

use std::{fs, io, sync::Arc};

use desk::audit::{self, AuditLocation};
use kit::{
    Error, Result, Sql, Store,
    hold::{self, Hold},
    sql::Budget,
    time::Clock,
};
use store::{Database, Options, snapshot, url::DatabaseUrl};
use tokio::runtime::Handle;

use super::{
    folder::Folder,
    outcome::MovedData,
    rows, same_tables,
    tables::{self, Table},
};
use crate::{marks::Marked, new_installation::Places, own_state::SECRET, progress::Progress};

/// `with_secret`: the secret is in a file, not in the configuration.
pub async fn to_postgres(
    from: &Places,
    (to, options): (&DatabaseUrl, Options),
    with_secret: bool,
    folder: &Folder,
    progress: &Arc<Progress>,
) -> Result<MovedData> {
    let marked = Marked::Database(&from.database);
    if !from.database.exists() {
        return Err(Error::new(
            "NOTHING_TO_MOVE",
            format!(
                "There is no database: {} does not exist.",
                from.database.display()
            ),
        )
        .next("Name the data directory with --data DIR."));
    }
    let _lock = marked.lock()?;
    let folder = Some(folder).filter(|folder| !folder.stays);
    if marked.moved_to() == Some(to.to_string()) && is_arriving(to, options.clone()).await? {
        // Interrupted at its very end. Nobody could use either side since, so it can
        // begin anew.
        folder.map_or(Ok(None), Folder::undo_moved)?;
        marked.undo_moved()?;
    }
    marked.check_marks()?;
    let _files = folder.map(Folder::lock).transpose()?;
    if !snapshot::is_used_by_nobody(&from.database)? {
        return Err(in_use());
    }
    let url = DatabaseUrl::Sqlite(from.database.clone());
    let source = Database::open(&url, Options::default()).await?;
    let target = Database::open(to, options).await?;
    let stores: [Arc<dyn Store>; 2] = [Arc::new(source.clone()), Arc::new(target.clone())];
    let [_, store] = &stores;
    let arrived = |sql: &mut dyn Sql| hold::release(sql, hold::ARRIVING);
    let moved = copy(from, &stores, with_secret, progress).await;
    source.close().await?;
    let mut moved = match moved {
        Ok(moved) => moved,
        Err(error) => {
            // Its tables are as empty as before. If this fails too, the next move does it.
            let _ = store.transaction(Budget::default(), arrived).await;
            return Err(error);
        }
    };
    moved.to = to.to_string();
    if let Some(folder) = folder {
        folder.copy_to_database(store, false, &mut moved).await?;
    }
    // Nobody can have used it: its mark was locked.
    if !snapshot::is_used_by_nobody(&from.database)? {
        return Err(in_use());
    }
    marked.set_moved(&moved.to, now())?;
    if let Some(folder) = folder {
        folder.set_moved(&moved.to)?;
    }
    store.transaction(Budget::default(), arrived).await?;
    target.close().await?;
    Ok(moved)
}

/// Whether the database is the target of a move that has not ended.
async fn is_arriving(to: &DatabaseUrl, options: Options) -> Result<bool> {
    let database = Database::open(to, options).await?;
    let store: Arc<dyn Store> = Arc::new(database.clone());
    store.migrate(hold::MIGRATIONS).await?;
    let arriving = hold::of(&store, hold::ARRIVING).await;
    database.close().await?;
    Ok(arriving?.is_some())
}

async fn copy(
    from: &Places,
    [source, target]: &[Arc<dyn Store>; 2],
    with_secret: bool,
    progress: &Arc<Progress>,
) -> Result<MovedData> {
    same_tables::migrate(source, target).await?;
    let listed = source.query(Budget::default(), tables::of_sqlite).await?;
    let there = target.query(Budget::default(), tables::of_postgres).await?;
    tables::check_equal(&listed, &there)?;
    let listed = Arc::new(listed);
    make_room(target, &listed).await?;
    let secret = match with_secret {
        true => secret(from)?,
        false => None,
    };
    let trail = AuditLocation::Directory(from.data.join("audit")).open()?;
    let (runtime, source) = (Handle::current(), Arc::clone(source));
    let (progress, tables) = (Arc::clone(progress), Arc::clone(&listed));
    let fill = move |sql: &mut dyn Sql| {
        // The holds are rows too, and are counted.
        hold::release(sql, hold::ARRIVING)?;
        let rows = rows::copy(sql, &source, &tables, &runtime, &progress)?;
        if let Some(secret) = &secret {
            sql.execute(
                "INSERT INTO desk_secrets (name, value) VALUES ('desk', $1)",
                &[secret.into()],
            )?;
        }
        let audit_records = audit::into_table(&*trail, sql, audit::UNWATCHED)?;
        hold::set(sql, hold::ARRIVING, &arriving())?;
        Ok(MovedData {
            tables: tables.len(),
            rows,
            audit_records,
            ..MovedData::default()
        })
    };
    target.transaction(Budget::default(), fill).await
}

/// Checks that the target is empty, and keeps desks away from it. What an interrupted
/// move left is removed.
async fn make_room(target: &Arc<dyn Store>, tables: &Arc<Vec<Table>>) -> Result<()> {
    let tables = Arc::clone(tables);
    let clear = move |sql: &mut dyn Sql| {
        if let Some(moved) = hold::find(sql, hold::MOVED)? {
            return Err(occupied(&format!("its data was moved to {}", moved.reason)));
        }
        let mut names: Vec<String> = tables.iter().map(|table| table.name.clone()).collect();
        let apart = ["desk_audit", "desk_audit_heads", "desk_secrets", "leases"];
        names.extend(apart.map(str::to_owned));
        names.extend(tables::of_files(sql)?);
        if hold::find(sql, hold::ARRIVING)?.is_some() {
            sql.execute(&format!("TRUNCATE TABLE {}", names.join(", ")), &[])?;
        }
        match tables::first_used(sql, &names)? {
            Some(table) => Err(occupied(&format!("its table {table} has rows"))),
            None => hold::set(sql, hold::ARRIVING, &arriving()),
        }
    };
    target.transaction(Budget::default(), clear).await
}

fn arriving() -> Hold {
    Hold {
        since: now(),
        reason: "a move into this database has not ended".into(),
    }
}

fn now() -> i64 {
    Clock::system().now().as_millisecond()
}

fn secret(from: &Places) -> Result<Option<String>> {
    let path = from.database.with_file_name(SECRET);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::new(
            "SECRET_UNUSABLE",
            format!(
                "{} can't be read: {error}. Nothing was moved.",
                path.display()
            ),
        )
        .next("Run the command as the user that runs the desk.")),
    }
}

fn in_use() -> Error {
    Error::new(
        "DATA_IN_USE",
        "Another program uses this data: a desk, or a client that started `madoguchi stdio`.",
    )
    .next("Stop it and try again; `madoguchi doctor` lists the desks. Nothing was moved.")
}

fn occupied(what: &str) -> Error {
    Error::new(
        "TARGET_NOT_EMPTY",
        format!("The PostgreSQL database is not empty: {what}. Nothing was moved."),
    )
    .next("Name another database, or empty this one: DROP SCHEMA madoguchi CASCADE")
}
