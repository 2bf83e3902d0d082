//! Who calls?
//!
//! A key made by `madoguchi keys create` is looked up by its public id and compared
//! as a keyed digest. A key from the configuration is compared with every digest
//! there. Both take the same time for every guess. Stored keys are cached in memory
//! and reloaded when they change: within a quarter of a second, or at once for an
//! unknown key.

mod configured_keys;
mod identified;
mod keyring;
mod stored_keys;

pub use configured_keys::configured_caller;
pub use identified::{Credentials, Identified, Key, Scope, Unidentified, allows};
pub use keyring::Keyring;
