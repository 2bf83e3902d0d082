//! Policies that a person made stricter than the configuration does. They are rows, so
//! they bind every process on the same data; `watch.rs` notices changes by others.
//!
//! A process that could not read them yet refuses all requests: a tool may be denied.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use kit::{Result, Row, Sql, sql::Budget};

use crate::{
    served_counter::ServedCounter,
    settings::Policy,
    state::{self, DeskState},
};

/// A policy that a person set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TightenedPolicy {
    pub counter: String,
    /// The tool's own name.
    pub tool: String,
    pub policy: Policy,
    /// Who set it, as others read it.
    pub set_by: String,
    /// Milliseconds since 1970.
    pub set_at: i64,
}

pub struct Policies {
    state: Arc<DeskState>,
    counters: Vec<Arc<ServedCounter>>,
    /// The version of the rows that the tools have.
    version: Mutex<Option<i64>>,
    is_known: AtomicBool,
}

impl Policies {
    pub fn new(state: &Arc<DeskState>, counters: &[Arc<ServedCounter>]) -> Self {
        Self {
            state: Arc::clone(state),
            counters: counters.to_vec(),
            version: Mutex::default(),
            is_known: AtomicBool::new(false),
        }
    }

    /// Returns when the policies in force are known. Cheap, because every request asks.
    pub async fn known(&self) -> Result<()> {
        match self.is_known.load(Ordering::Acquire) {
            true => Ok(()),
            false => self.look().await,
        }
    }

    async fn look(&self) -> Result<()> {
        if self.state.opened().is_none() && !self.state.may_have_rows() {
            self.is_known.store(true, Ordering::Release);
            return Ok(());
        }
        self.refresh().await
    }

    /// Opens the rows if another process has made some since this one started.
    pub async fn look_again(&self) -> Result<()> {
        if self.state.opened().is_some() || !self.state.may_have_rows() {
            return Ok(());
        }
        self.is_known.store(false, Ordering::Release);
        self.refresh().await
    }

    pub fn version(&self) -> Option<i64> {
        *self.version.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the rows if they changed.
    pub async fn refresh(&self) -> Result<()> {
        let known = self.version();
        let state = self.state.get().await?;
        let read = move |sql: &mut dyn Sql| {
            let versions = state::versions(sql)?;
            let version = versions.get(state::POLICIES).copied().unwrap_or_default();
            match known == Some(version) {
                true => Ok(None),
                false => Ok(Some((version, all(sql)?))),
            }
        };
        if let Some((version, rows)) = state.store.query(Budget::default(), read).await? {
            self.apply(version, &rows);
        }
        self.is_known.store(true, Ordering::Release);
        Ok(())
    }

    fn apply(&self, version: i64, rows: &[TightenedPolicy]) {
        let mut known = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        // Of two simultaneous readers, the one with older rows must not win.
        if known.is_some_and(|known| known >= version) {
            return;
        }
        for served in &self.counters {
            for tool in &served.tools {
                let of_tool = |row: &&TightenedPolicy| {
                    row.counter == served.counter.about.name && row.tool == tool.tool.name
                };
                let row = rows.iter().find(of_tool);
                tool.tighten(row.map_or(Policy::Allow, |row| row.policy));
            }
        }
        *known = Some(version);
    }

    /// All of them, also those that the configuration has overtaken.
    pub async fn list(&self) -> Result<Vec<TightenedPolicy>> {
        let state = self.state.get().await?;
        state.store.query(Budget::default(), all).await
    }
}

fn all(sql: &mut dyn Sql) -> Result<Vec<TightenedPolicy>> {
    sql.query(
        "SELECT counter, tool, policy, set_by, set_at FROM desk_policies ORDER BY counter, tool",
        &[],
    )?
    .iter()
    .map(stored)
    .collect()
}

fn stored(row: &Row) -> Result<TightenedPolicy> {
    Ok(TightenedPolicy {
        counter: row.text(0)?,
        tool: row.text(1)?,
        policy: in_row(&row.text(2)?),
        set_by: row.text(3)?,
        set_at: row.int(4)?,
    })
}

/// A word that this version does not know was meant to be strict.
fn in_row(word: &str) -> Policy {
    Policy::parse(word).unwrap_or(Policy::Deny)
}

/// The policy that a person set for a tool; `Allow` without one.
pub(crate) fn tightened(sql: &mut dyn Sql, counter: &str, tool: &str) -> Result<Policy> {
    let row = sql.query_one(
        "SELECT policy FROM desk_policies WHERE counter = $1 AND tool = $2",
        &[counter.into(), tool.into()],
    )?;
    row.map_or(Ok(Policy::Allow), |row| Ok(in_row(&row.text(0)?)))
}
