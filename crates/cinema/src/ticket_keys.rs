//! The key that signs tickets: made once, kept in the database.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kit::{Error, Result, Sql};

use crate::{model::ticket::TicketKey, store};

/// The cinema's key for tickets. All processes on one database share it.
#[derive(Default)]
pub struct TicketKeys {
    /// The key that is committed.
    cached: OnceLock<Arc<TicketKey>>,
    /// The last key that a transaction read, with its secret: deriving it again costs more
    /// than the rest of a booking.
    derived: Mutex<Option<(String, Arc<TicketKey>)>>,
}

impl TicketKeys {
    /// For work that only reads; `None` if no key has been made yet.
    pub fn find(&self, sql: &mut dyn Sql) -> Result<Option<Arc<TicketKey>>> {
        let key = self.in_transaction(sql)?;
        // A reader sees only what is committed, so this key is final.
        Ok(key.map(|key| Arc::clone(self.cached.get_or_init(|| key))))
    }

    /// As [`TicketKeys::find`], in a transaction. It reads the secret each time, because the
    /// transaction that made the key may not have been committed.
    pub fn in_transaction(&self, sql: &mut dyn Sql) -> Result<Option<Arc<TicketKey>>> {
        if let Some(key) = self.cached.get() {
            return Ok(Some(Arc::clone(key)));
        }
        let Some(secret) = store::ticket_secret(sql)? else {
            return Ok(None);
        };
        let mut derived = self.derived.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, key)) = &*derived
            && *of == secret
        {
            return Ok(Some(Arc::clone(key)));
        }
        let key = TicketKey::from_secret(&secret);
        let key = key.ok_or_else(|| Error::internal("the ticket key is broken"))?;
        let key = Arc::new(key);
        *derived = Some((secret, Arc::clone(&key)));
        Ok(Some(key))
    }

    /// The key, in a transaction, which makes one if there is none.
    pub fn ensure(&self, sql: &mut dyn Sql, now: i64) -> Result<Arc<TicketKey>> {
        if let Some(key) = self.in_transaction(sql)? {
            return Ok(key);
        }
        let secret = TicketKey::new_secret();
        let secret = secret.ok_or_else(|| Error::internal("the system has no random numbers"))?;
        store::keep_ticket_secret(sql, &secret, now)?;
        let key = self.in_transaction(sql)?;
        key.ok_or_else(|| Error::internal("the ticket key was not kept"))
    }
}
