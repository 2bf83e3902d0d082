//! Calls with a key: what such a call is given is noted beside the numbers before
//! anything is written, so that the same call made again finds what the first one
//! made, or, if that was killed before it wrote, makes it under the same number.

use std::time::Instant;

use kit::Result;

use super::Txn;
use crate::{
    errors,
    files::{lock::PATIENCE, numbers::Place},
    model::numbers::Request,
};

impl Txn<'_> {
    /// What an earlier call of that tool with that key was given.
    pub fn earlier(&self, tool: &str, key: Option<&str>, title: &str) -> Result<Option<Request>> {
        let Some(key) = self.full_key(tool, key) else {
            return Ok(None);
        };
        let given = Place::of(&self.folder).look();
        let earlier = given.requests.into_iter().find(|other| other.key == key);
        if earlier
            .as_ref()
            .is_some_and(|earlier| earlier.title != title)
        {
            return Err(errors::key_reused());
        }
        Ok(earlier)
    }

    pub fn note(
        &self,
        tool: &str,
        key: Option<&str>,
        title: &str,
        number: u16,
        at: &str,
    ) -> Result<()> {
        let Some(key) = self.full_key(tool, key) else {
            return Ok(());
        };
        let request = Request {
            key,
            title: title.to_owned(),
            number,
            at: at.to_owned(),
        };
        Place::of(&self.folder)
            .change(Instant::now() + PATIENCE, |given| given.note(request))
            .map_err(|error| errors::io("The ledger of numbers", true, error))?
            .ok_or_else(|| errors::busy("the ledger of numbers"))
    }

    /// A key belongs to its caller, and to one worktree. Models send "" for what
    /// they do not have.
    fn full_key(&self, tool: &str, key: Option<&str>) -> Option<String> {
        let key = key.map(str::trim).filter(|key| !key.is_empty())?;
        let root = self.folder.root.display();
        Some(format!("{tool} {} {root} {key}", self.context.caller.id))
    }
}
