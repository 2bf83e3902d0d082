//! `agents.json`: who ever entered a room, so that unknown agents can be told from
//! agents that are in another room.

use std::sync::Arc;

use jiff::Timestamp;
use kit::Result;

use super::{cached::Cached, data::DataDir, dir::AGENTS};
use crate::{
    errors,
    model::{
        agents::{Agents, FirstSeen},
        message::written,
    },
};

/// How many agents are remembered; the oldest are forgotten.
const REMEMBERED: usize = 10_000;

pub struct KnownAgents {
    data: Arc<DataDir>,
    file: Cached<Agents>,
}

impl KnownAgents {
    /// Touches no file.
    pub fn new(data: &Arc<DataDir>) -> Self {
        Self {
            data: Arc::clone(data),
            file: Cached::new(AGENTS),
        }
    }

    pub fn load(&self) -> Result<Arc<Agents>> {
        let agents = self.file.load(self.data.dir.root());
        agents.map_err(errors::storage)
    }

    pub fn has(&self, agent: &str) -> Result<bool> {
        Ok(self.load()?.agents.get(agent).is_some())
    }

    pub fn add(&self, agent: &str, now: Timestamp) -> Result<()> {
        if self.has(agent)? {
            return Ok(());
        }
        let _registry = self.data.lock_registry()?;
        if self.has(agent)? {
            return Ok(());
        }
        let mut agents = Agents::clone(&*self.load()?);
        agents.agents.keep_last(REMEMBERED - 1, |_| false);
        let first_seen_at = written(now);
        agents.agents.set(agent, FirstSeen { first_seen_at });
        let saved = self.file.save(self.data.dir.root(), &agents, true);
        saved.map_err(errors::storage)
    }

    /// What is wrong with the file, or was, in words.
    pub fn warnings(&self) -> Result<Vec<String>> {
        let found = self.file.warnings(self.data.dir.root());
        found.map_err(errors::storage)
    }
}
