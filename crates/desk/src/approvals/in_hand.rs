//! Which calls of this process use an approval, or have used it; the rows follow.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

/// By the approval's id.
#[derive(Debug, Clone, Default)]
pub struct Calls(Arc<Mutex<HashMap<String, Vec<Call>>>>);

#[derive(Debug)]
struct Call {
    /// Tells it from others that use the same approval.
    number: u64,
    client: CancellationToken,
    /// Its answer has left.
    answered: bool,
    /// Cancelled when the call is over.
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

/// Who has an approval in hand.
#[derive(Debug)]
pub enum Holder {
    Nobody,
    /// A call whose client waits for the answer, or has it: the identical call
    /// is a new one.
    Waits,
    /// A call whose client has gone away: the answer is for the identical call,
    /// once this token is cancelled.
    Gone(CancellationToken),
}

/// An approval that a call uses. Meanwhile the identical call is a new one; when
/// this is dropped, because the call failed or its client went away, it is not.
#[derive(Debug)]
pub struct InHand {
    pub id: String,
    number: u64,
    calls: Calls,
}

impl InHand {
    /// The answer is on its way.
    pub fn answered(self) -> String {
        if let Some(calls) = self.calls.lock().get_mut(&self.id) {
            let own = calls.iter_mut().find(|call| call.number == self.number);
            own.into_iter().for_each(|call| call.answered = true);
        }
        self.id.clone()
    }
}

impl Drop for InHand {
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

impl Calls {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<Call>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn take(&self, id: &str, client: &CancellationToken) -> InHand {
        let mut all = self.lock();
        let calls = all.entry(id.to_owned()).or_default();
        let number = calls.iter().map(|call| call.number + 1).max().unwrap_or(0);
        calls.push(Call::new(number, client));
        self.hand(id, number)
    }

    pub fn take_if_free(&self, id: &str, client: &CancellationToken) -> Option<InHand> {
        match self.lock().entry(id.to_owned()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(free) => {
                free.insert(vec![Call::new(0, client)]);
                Some(self.hand(id, 0))
            }
        }
    }

    fn hand(&self, id: &str, number: u64) -> InHand {
        InHand {
            id: id.to_owned(),
            number,
            calls: self.clone(),
        }
    }

    pub fn holder(&self, id: &str) -> Holder {
        let all = self.lock();
        let calls = all.get(id).map(Vec::as_slice).unwrap_or_default();
        let waits = |call: &Call| call.answered || !call.client.is_cancelled();
        match calls {
            [] => Holder::Nobody,
            calls if calls.iter().any(waits) => Holder::Waits,
            [first, ..] => Holder::Gone(first.over.clone()),
        }
    }

    /// The rows say now what is noted here.
    pub fn forget(&self, id: &str) {
        let calls = self.lock().remove(id).unwrap_or_default();
        calls.iter().for_each(|call| call.over.cancel());
    }
}
