//! The calls of this process that wait, by room and agent.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::model::names::RoomName;

#[derive(Default)]
pub struct WaitingCalls(Mutex<HashMap<(RoomName, String), Calls>>);

#[derive(Default)]
struct Calls {
    count: u32,
    /// The database says that the agent waits.
    is_noted: bool,
}

impl WaitingCalls {
    fn calls(&self) -> MutexGuard<'_, HashMap<(RoomName, String), Calls>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more call of this agent waits.
    pub fn begin(&self, room: &RoomName, agent: &str) {
        let mut calls = self.calls();
        let calls = calls.entry((room.clone(), agent.to_owned())).or_default();
        calls.count += 1;
        calls.is_noted = true;
    }

    /// Whether other calls of this agent wait beside one that ends.
    pub fn others_wait(&self, room: &RoomName, agent: &str) -> bool {
        let calls = self.calls();
        let calls = calls.get(&(room.clone(), agent.to_owned()));
        calls.is_some_and(|calls| calls.count > 1)
    }

    /// The database no longer says that the agent waits.
    pub fn is_cleared(&self, room: &RoomName, agent: &str) {
        if let Some(calls) = self.calls().get_mut(&(room.clone(), agent.to_owned())) {
            calls.is_noted = false;
        }
    }

    /// One call fewer waits. Returns whether the database has to be told so.
    pub fn end(&self, room: &RoomName, agent: &str) -> bool {
        let mut all = self.calls();
        let key = (room.clone(), agent.to_owned());
        let Some(calls) = all.get_mut(&key) else {
            return false;
        };
        calls.count -= 1;
        if calls.count > 0 {
            return false;
        }
        let is_noted = calls.is_noted;
        all.remove(&key);
        is_noted
    }

    /// Whether a call of this agent waits.
    pub fn has(&self, room: &RoomName, agent: &str) -> bool {
        let key = (room.clone(), agent.to_owned());
        self.calls().contains_key(&key)
    }
}
