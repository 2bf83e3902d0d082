//! The counter's tools, one file each: input, output, description, handler.

mod arguments;
pub mod calendar_cancel;
pub mod calendar_create;
pub mod calendar_list;
pub mod calendar_update;
pub mod contacts_search;
mod first_step;
pub mod message_cancel;
pub mod message_list;
pub mod message_send;
pub mod reminder_cancel;
pub mod reminder_create;
pub mod reminder_list;
pub mod reminder_update;

use kit::Hints;

/// A tool that only looks.
const LOOKS: Hints = Hints {
    read_only: true,
    destructive: false,
    idempotent: true,
    open_world: false,
};

/// A tool that makes something new.
const MAKES: Hints = Hints {
    read_only: false,
    destructive: false,
    idempotent: false,
    open_world: true,
};

/// A tool that changes or takes back something.
const CHANGES: Hints = Hints {
    read_only: false,
    destructive: true,
    idempotent: true,
    open_world: false,
};

/// 100 bits: nobody finds one by trying.
const ID_LENGTH: usize = 20;

const OK: &str = "ok";
