//! The desk's own data: its rows (keys, approvals, limits) and its secret.
//!
//! Opened when first needed, so that a process that serves only files opens no
//! database.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use hmac::{Hmac, KeyInit, Mac};
use kit::{BoxFuture, Error, Result, Sql, Store};
use sha2::Sha256;
use tokio::sync::OnceCell;

use crate::digest::{hex, parse_hex};

/// The store of the desk's rows, and its secret.
pub struct OpenState {
    pub store: Arc<dyn Store>,
    pub secret: Secret,
    /// Makes the digests of keys. Derived once, because every call uses it.
    pub keys: Keyed,
}

impl OpenState {
    pub fn new(store: Arc<dyn Store>, secret: Secret) -> Self {
        Self {
            keys: secret.keyed("key"),
            store,
            secret,
        }
    }
}

type Open = Box<dyn Fn() -> BoxFuture<'static, Result<OpenState>> + Send + Sync>;

pub struct DeskState {
    open: Open,
    opened: OnceCell<OpenState>,
    limits: Option<PathBuf>,
    rows: RowsIn,
}

enum RowsIn {
    /// A file, which may not exist yet.
    File(PathBuf),
    Server,
    Nowhere,
}

impl DeskState {
    pub fn new(
        open: impl Fn() -> BoxFuture<'static, Result<OpenState>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            open: Box::new(open),
            opened: OnceCell::new(),
            limits: None,
            rows: RowsIn::Server,
        }
    }

    /// The rows are in this file, which may not exist yet.
    pub fn in_file(mut self, file: PathBuf) -> Self {
        self.rows = RowsIn::File(file);
        self
    }

    /// Whether there may be rows. If not, nothing needs to be opened to read them.
    pub fn may_have_rows(&self) -> bool {
        match &self.rows {
            RowsIn::File(file) => file.exists(),
            RowsIn::Server => true,
            RowsIn::Nowhere => false,
        }
    }

    /// Counts callers' requests in files in this directory, instead of in rows.
    pub fn with_limits_in(mut self, directory: PathBuf) -> Self {
        self.limits = Some(directory);
        self
    }

    /// `None`: requests are counted in rows.
    pub fn limits_directory(&self) -> Option<&Path> {
        self.limits.as_deref()
    }

    /// For a desk without rows of its own.
    pub fn none() -> Self {
        let mut none = Self::new(|| {
            Box::pin(std::future::ready(Err(Error::internal(
                "this desk has no rows of its own",
            ))))
        });
        none.rows = RowsIn::Nowhere;
        none
    }

    pub async fn get(&self) -> Result<&OpenState> {
        self.opened.get_or_try_init(|| (self.open)()).await
    }

    /// The state, if it was opened before.
    pub fn opened(&self) -> Option<&OpenState> {
        self.opened.get()
    }
}

/// 256 bits known only to the desks on this data. Each purpose has its own key,
/// derived from them.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl Secret {
    pub fn random() -> Self {
        use rand::RngExt;
        Self(rand::rng().random())
    }

    /// From the configured text, which must be long enough not to be guessed.
    pub fn of_text(text: &str) -> Result<Self> {
        if text.chars().count() < 32 {
            return Err(Error::new(
                "INVALID_CONFIG",
                "The secret in [identity] is shorter than 32 characters.",
            )
            .next("Make one with: openssl rand -hex 32"));
        }
        Ok(Self(
            Self(Default::default()).mac("configured", text.as_bytes()),
        ))
    }

    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    pub fn of_hex(text: &str) -> Option<Self> {
        parse_hex(text.trim()).map(Self)
    }

    /// A keyed digest. Digests of different purposes never match.
    pub fn mac(&self, purpose: &str, data: &[u8]) -> [u8; 32] {
        self.keyed(purpose).mac(data)
    }

    /// Makes many digests for one purpose.
    pub fn keyed(&self, purpose: &str) -> Keyed {
        Keyed::new(&Keyed::new(&self.0).mac(purpose.as_bytes()))
    }
}

/// Makes keyed digests.
#[derive(Clone)]
pub struct Keyed(Hmac<Sha256>);

impl Keyed {
    fn new(key: &[u8; 32]) -> Self {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        Self(Hmac::<Sha256>::new_from_slice(key).expect("any length is valid"))
    }

    pub fn mac(&self, data: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(data);
        mac.finalize().into_bytes().into()
    }
}

/// Names in `desk_versions`, which other processes watch.
pub const KEYS: &str = "keys";
pub const APPROVALS: &str = "approvals";
pub const POLICIES: &str = "policies";

/// Notifies other processes that rows changed. Call it in the same transaction.
pub fn touch(sql: &mut dyn Sql, what: &str) -> Result<()> {
    sql.execute(
        "INSERT INTO desk_versions (name, version) VALUES ($1, 1)
         ON CONFLICT (name) DO UPDATE SET version = desk_versions.version + 1",
        &[what.into()],
    )?;
    Ok(())
}

/// Begins the topics of the desk's own announcements.
pub const TOPICS: &str = "desk/";

/// Tells other processes to look at once. Call it after the commit.
pub fn announce(store: &Arc<dyn Store>, what: &str) {
    store.announce(&format!("{TOPICS}{what}"));
}

pub fn versions(sql: &mut dyn Sql) -> Result<HashMap<String, i64>> {
    sql.query("SELECT name, version FROM desk_versions", &[])?
        .iter()
        .map(|row| Ok((row.text(0)?, row.int(1)?)))
        .collect()
}
