//! Which calls of this process use or have used an approval. The rows are updated
//! later.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

/// The calls that use each approval, by its id.
#[derive(Debug, Clone, Default)]
pub struct CallsByApproval(Arc<Mutex<HashMap<String, Vec<Call>>>>);

#[derive(Debug)]
struct Call {
    /// Differs between calls that use the same approval.
    number: u64,
    client: CancellationToken,
    /// Its answer was sent.
    answered: bool,
    /// Cancelled when the call ends.
    over: CancellationToken,
}

impl Call {
    fn new(number: u64, client: &CancellationToken) -> Self {
        Self {
            number,
            client: client.clone(),
            answered: false,
            over: CancellationToken::new(),
        }
    }
}

/// Who uses an approval.
#[derive(Debug)]
pub enum ApprovalHolder {
    None,
    /// A call whose client waits for the answer or has it. Another identical call
    /// needs a new approval.
    Waiting,
    /// A call whose client disconnected. The next identical call gets its answer,
    /// once this token is cancelled.
    Disconnected(CancellationToken),
}

/// An approval that a call uses. While this exists, an identical call needs a new
/// approval. It is dropped when the call fails or its client disconnects; then an
/// identical call may use the same approval.
#[derive(Debug)]
pub struct ApprovalInUse {
    pub id: String,
    number: u64,
    calls: CallsByApproval,
}

impl ApprovalInUse {
    /// The answer was sent.
    pub fn answered(self) -> String {
        if let Some(calls) = self.calls.lock().get_mut(&self.id) {
            let own = calls.iter_mut().find(|call| call.number == self.number);
            own.into_iter().for_each(|call| call.answered = true);
        }
        self.id.clone()
    }
}

impl Drop for ApprovalInUse {
    fn drop(&mut self) {
        let mut all = self.calls.lock();
        let Some(calls) = all.get_mut(&self.id) else {
            return;
        };
        calls.retain(|call| {
            let stays = call.number != self.number || call.answered;
            if !stays {
                call.over.cancel();
            }
            stays
        });
        if calls.is_empty() {
            all.remove(&self.id);
        }
    }
}

impl CallsByApproval {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<Call>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn take(&self, id: &str, client: &CancellationToken) -> ApprovalInUse {
        let mut all = self.lock();
        let calls = all.entry(id.to_owned()).or_default();
        let number = calls.iter().map(|call| call.number + 1).max().unwrap_or(0);
        calls.push(Call::new(number, client));
        self.hand(id, number)
    }

    pub fn start_use_if_free(&self, id: &str, client: &CancellationToken) -> Option<ApprovalInUse> {
        match self.lock().entry(id.to_owned()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(free) => {
                free.insert(vec![Call::new(0, client)]);
                Some(self.hand(id, 0))
            }
        }
    }

    fn hand(&self, id: &str, number: u64) -> ApprovalInUse {
        ApprovalInUse {
            id: id.to_owned(),
            number,
            calls: self.clone(),
        }
    }

    pub fn holder(&self, id: &str) -> ApprovalHolder {
        let all = self.lock();
        let calls = all.get(id).map(Vec::as_slice).unwrap_or_default();
        let waits = |call: &Call| call.answered || !call.client.is_cancelled();
        match calls {
            [] => ApprovalHolder::None,
            calls if calls.iter().any(waits) => ApprovalHolder::Waiting,
            [first, ..] => ApprovalHolder::Disconnected(first.over.clone()),
        }
    }

    /// The row is up to date, so this is no longer needed.
    pub fn forget(&self, id: &str) {
        let calls = self.lock().remove(id).unwrap_or_default();
        calls.iter().for_each(|call| call.over.cancel());
    }
}
