//! The types and rules of the counter, without I/O.
//!
//! - `message`: a message; `mentions`: whom it addresses; `query`: how it is searched for
//! - `members`: who is in a room and online; `agents`: who ever was; `reads`: who has read
//!   how far; `registry`: which rooms there are; `owners`: whose names and rooms are whose
//! - `names`: what a room or an agent may be called; `uris`: addresses of resources
//! - `forgiving`: files that others write too; `answer_size`, `remember`: bounds

pub mod agents;
pub mod answer_size;
pub mod forgiving;
pub mod members;
pub mod mentions;
pub mod message;
pub mod names;
pub mod owners;
pub mod query;
pub mod reads;
pub mod registry;
pub mod remember;
pub mod uris;
