//! The desk's own rows and its secret. They are in the store that the counters use;
//! if no counter uses one, the store is opened when it is first needed.

use std::{
    io::Write,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use desk::{
    state::{DeskState, OpenState, Secret},
    tables::TABLES,
};
use kit::{Error, Result, Store, sql::Budget};
use store::{Database, Options, url::DatabaseUrl};

use crate::{database_trouble, marks};

/// The file with the desk's secret, beside the embedded database.
pub const SECRET: &str = "desk.secret";

/// All open databases, to be closed at the end.
pub type Databases = Arc<Mutex<Vec<Database>>>;

pub async fn open_store(
    url: &DatabaseUrl,
    options: Options,
    databases: &Databases,
) -> Result<Arc<dyn Store>> {
    marks::check(url)?;
    let database = Database::open(url, options).await?;
    let opened = database.clone();
    databases
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(opened);
    let store: Arc<dyn Store> = Arc::new(database);
    for migrations in TABLES {
        store.migrate(migrations).await?;
    }
    marks::check_open(&store).await?;
    // A move that began just before the file was open can't have noticed this process.
    marks::check(url)?;
    Ok(store)
}

/// `shared` is the store that the counters have already opened.
pub fn state(
    location: impl Fn() -> Result<(DatabaseUrl, Options)> + Send + Sync + 'static,
    configured: String,
    shared: Option<Arc<dyn Store>>,
    databases: &Databases,
) -> DeskState {
    let databases = Arc::clone(databases);
    DeskState::new(move || {
        let (location, configured) = (location(), configured.clone());
        let (shared, databases) = (shared.clone(), Arc::clone(&databases));
        Box::pin(async move {
            let (url, options) = location?;
            let store = match shared {
                Some(store) => store,
                None => open_store(&url, options, &databases)
                    .await
                    .map_err(|error| database_trouble::explained(error, &url))?,
            };
            let secret = secret(&url, &configured, &store).await?;
            Ok(OpenState::new(store, secret))
        })
    })
}

async fn secret(url: &DatabaseUrl, configured: &str, store: &Arc<dyn Store>) -> Result<Secret> {
    if !configured.is_empty() {
        return Secret::of_text(configured);
    }
    match url {
        DatabaseUrl::Sqlite(path) => in_file(&path.with_file_name(SECRET)),
        DatabaseUrl::Postgres(_) => in_a_row(store).await,
    }
}

/// The secret in a file that only its owner can read; created if it is missing.
fn in_file(path: &Path) -> Result<Secret> {
    let unusable = |what: &str| {
        Error::new(
            "SECRET_UNUSABLE",
            format!("{} {what}.", path.display()),
        )
        .next("Restore it from a backup. Without it, existing keys are invalid; remove the file to create a new one.")
    };
    for _ in 0..2 {
        match std::fs::read_to_string(path) {
            Ok(text) => {
                return Secret::of_hex(&text).ok_or_else(|| unusable("does not contain a secret"));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(unusable("can't be read").cause(error)),
        }
        // Written to a temporary file and then linked: if two processes start at the
        // same time, one creates it and neither reads half of it.
        let directory = path.parent().unwrap_or(Path::new("."));
        let made = tempfile::NamedTempFile::new_in(directory).and_then(|mut file| {
            writeln!(file, "{}", Secret::random().to_hex())?;
            file.as_file().sync_all()?;
            Ok(file)
        });
        let made = made.map_err(|error| unusable("can't be written").cause(error))?;
        if let Err(error) = made.persist_noclobber(path)
            && error.error.kind() != std::io::ErrorKind::AlreadyExists
        {
            return Err(unusable("can't be written").cause(error.error));
        }
        // Without it all keys are invalid, so it has to outlive a power failure.
        kit::durable::sync_directory(directory)
            .map_err(|error| unusable("can't be written").cause(error))?;
    }
    Err(unusable("keeps disappearing"))
}

async fn in_a_row(store: &Arc<dyn Store>) -> Result<Secret> {
    let made = Secret::random().to_hex();
    let kept = store
        .transaction(Budget::default(), move |sql| {
            sql.execute(
                "INSERT INTO desk_secrets (name, value) VALUES ('desk', $1) ON CONFLICT DO NOTHING",
                &[(&made).into()],
            )?;
            let row = sql.query_one("SELECT value FROM desk_secrets WHERE name = 'desk'", &[])?;
            row.map(|row| row.text(0)).transpose()
        })
        .await?;
    kept.as_deref()
        .and_then(Secret::of_hex)
        .ok_or_else(|| Error::internal("the desk's secret is not one"))
}
