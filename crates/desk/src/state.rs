//! What the desk itself keeps: its rows (keys, approvals, limits) and its secret.
//!
//! Opened when it is first needed, so that a process that serves files to the
//! user who started it opens no database at all.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use hmac::{Hmac, KeyInit, Mac};
use kit::{BoxFuture, Error, Result, Sql, Store};
use sha2::Sha256;
use tokio::sync::OnceCell;

pub use crate::digest::{hex, parse_hex};

/// The store and the secret behind it.
pub struct State {
    pub store: Arc<dyn Store>,
    pub secret: Secret,
    /// What keys are digested with: worked out once, for it is used in every call.
    pub keys: Keyed,
}

impl State {
    pub fn new(store: Arc<dyn Store>, secret: Secret) -> Self {
        Self {
            keys: secret.keyed("key"),
            store,
            secret,
        }
    }
}

type Open = Box<dyn Fn() -> BoxFuture<'static, Result<State>> + Send + Sync>;

pub struct DeskState {
    open: Open,
    opened: OnceCell<State>,
    limits: Option<PathBuf>,
}

impl DeskState {
    pub fn new(
        open: impl Fn() -> BoxFuture<'static, Result<State>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            open: Box::new(open),
            opened: OnceCell::new(),
            limits: None,
        }
    }

    /// Counts callers' requests in files of this directory, instead of in rows.
    pub fn with_limits_in(mut self, directory: PathBuf) -> Self {
        self.limits = Some(directory);
        self
    }

    /// `None`: they are counted in rows.
    pub fn limits_directory(&self) -> Option<&Path> {
        self.limits.as_deref()
    }

    /// A desk that keeps nothing.
    pub fn none() -> Self {
        Self::new(|| {
            Box::pin(std::future::ready(Err(Error::internal(
                "this desk keeps no rows",
            ))))
        })
    }

    pub async fn get(&self) -> Result<&State> {
        self.opened.get_or_try_init(|| (self.open)()).await
    }

    /// What is open already.
    pub fn opened(&self) -> Option<&State> {
        self.opened.get()
    }
}

/// 256 bits that only desks on this data know. Each use has a key of its own
/// derived from it.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl Secret {
    pub fn random() -> Self {
        use rand::RngExt;
        Self(rand::rng().random())
    }

    /// Of what an operator configured: any text, long enough not to be guessed.
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

    /// A keyed digest; `purpose` keeps one use apart from another.
    pub fn mac(&self, purpose: &str, data: &[u8]) -> [u8; 32] {
        self.keyed(purpose).mac(data)
    }

    /// The same for many digests of one purpose.
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
        Self(Hmac::<Sha256>::new_from_slice(key).expect("any length will do"))
    }

    pub fn mac(&self, data: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(data);
        mac.finalize().into_bytes().into()
    }
}

/// What other processes on the same rows watch for.
pub const KEYS: &str = "keys";
pub const APPROVALS: &str = "approvals";

/// Says, inside the transaction that changes them, that these rows changed.
pub fn touch(sql: &mut dyn Sql, what: &str) -> Result<()> {
    sql.execute(
        "INSERT INTO desk_versions (name, version) VALUES ($1, 1)
         ON CONFLICT (name) DO UPDATE SET version = desk_versions.version + 1",
        &[what.into()],
    )?;
    Ok(())
}

pub fn versions(sql: &mut dyn Sql) -> Result<HashMap<String, i64>> {
    sql.query("SELECT name, version FROM desk_versions", &[])?
        .iter()
        .map(|row| Ok((row.text(0)?, row.int(1)?)))
        .collect()
}
