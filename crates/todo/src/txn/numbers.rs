//! Issues the numbers of new tasks and records.

use std::time::Instant;

use kit::Result;

use super::Txn;
use crate::{
    errors,
    files::{self, lock::PATIENCE, numbers::NumberLedger},
    model::{
        MOST, TaskId, adr,
        numbers::{IssuedNumbers, NumberSet},
    },
    task_lookup::live,
};

impl Txn<'_> {
    pub fn new_task_id(&mut self) -> Result<TaskId> {
        let board = self.board()?;
        if board.tasks.len() >= usize::from(MOST) {
            return Err(errors::task_limit());
        }
        let live = live(&board);
        if let Some(number) = self.issued.tasks.reuse(&live) {
            return Ok(TaskId(number));
        }
        let contexts = self.folder.stems(files::CONTEXTS)?;
        let used = contexts
            .iter()
            .filter_map(|stem| TaskId::parse(stem))
            .map(|id| id.0);
        let used: Vec<u16> = used.chain(board.mentioned()).collect();
        let number = self
            .change_ledger(move |issued| {
                issued.tasks.extend(used);
                issued.tasks.issue(&live)
            })?
            .ok_or_else(errors::task_limit)?;
        self.issued.tasks.add(number);
        Ok(TaskId(number))
    }

    pub fn new_adr_number(&mut self) -> Result<u16> {
        let mut live = NumberSet::default();
        let stems = self.adr_stems()?;
        live.extend(stems.iter().filter_map(|stem| adr::number_of(stem)));
        if let Some(number) = self.issued.adrs.reuse(&live) {
            return Ok(number);
        }
        let number = self
            .change_ledger(move |issued| {
                issued.adrs.join(&live);
                issued.adrs.issue(&live)
            })?
            .ok_or_else(errors::adr_limit)?;
        self.issued.adrs.add(number);
        Ok(number)
    }

    /// Never issues the number of a deleted task again while others are free.
    pub fn keep_number(&mut self, id: TaskId) -> Result<()> {
        self.needs_ledger = true;
        self.change_ledger(|issued| issued.tasks.insert(id.0))
    }

    pub(super) fn change_ledger<T>(
        &self,
        change: impl FnOnce(&mut IssuedNumbers) -> T,
    ) -> Result<T> {
        NumberLedger::of(&self.folder)
            .change(Instant::now() + PATIENCE, change)
            .map_err(|error| errors::ledger(true, error))?
            .ok_or_else(|| errors::busy("the ledger of numbers"))
    }
}
