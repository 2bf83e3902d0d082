//! Who calls?
//!
//! A key made by `madoguchi keys create` is looked up by its public id and
//! compared as a keyed digest; one from the configuration is compared with every
//! digest there. Either takes the same time however near a guess came. The rows
//! are read into memory and read again when somebody changed them: within a
//! quarter of a second, and at once when a key is unknown.

mod configured;
mod identified;
mod keyring;
mod stored;

pub use identified::{Credentials, Identified, Key, Scope, allows};
pub use keyring::Keyring;
