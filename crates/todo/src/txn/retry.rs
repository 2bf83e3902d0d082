//! Calls with an idempotency key. The key and the number that the call got are
//! noted in the ledger before anything is written. A retry finds what the first
//! call created or, if that was killed before it wrote, creates it under the
//! same number.

use kit::Result;

use super::Txn;
use crate::{errors, files::numbers::NumberLedger, model::numbers::Request};

impl Txn<'_> {
    /// The earlier call of this tool with this key.
    pub fn earlier_request(
        &mut self,
        tool: &str,
        key: Option<&str>,
        title: &str,
    ) -> Result<Option<Request>> {
        let Some(key) = self.full_key(tool, key) else {
            return Ok(None);
        };
        let given = NumberLedger::of(&self.folder)
            .look()
            .map_err(|error| errors::ledger(false, error))?;
        let earlier = given.requests.into_iter().find(|other| other.key == key);
        if earlier
            .as_ref()
            .is_some_and(|earlier| earlier.title != title)
        {
            return Err(errors::key_reused());
        }
        self.earlier_change = earlier.as_ref().and_then(|it| it.change_id.clone());
        Ok(earlier)
    }

    pub fn note_request(
        &mut self,
        tool: &str,
        key: Option<&str>,
        title: &str,
        number: u16,
        at: &str,
    ) -> Result<()> {
        let Some(key) = self.full_key(tool, key) else {
            return Ok(());
        };
        self.needs_ledger = true;
        let request = Request {
            key,
            title: title.to_owned(),
            number,
            at: at.to_owned(),
            change_id: Some(self.change_id.clone()),
        };
        self.change_ledger(|issued| issued.note(request))
    }

    /// Keys are separate for each caller and worktree. Models send "" for
    /// arguments that they do not have.
    fn full_key(&self, tool: &str, key: Option<&str>) -> Option<String> {
        let key = key.map(str::trim).filter(|key| !key.is_empty())?;
        let root = self.folder.root.display();
        Some(format!("{tool} {} {root} {key}", self.context.caller.id))
    }
}
