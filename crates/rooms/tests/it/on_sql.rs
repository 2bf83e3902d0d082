//! What people do in rooms, on a database. The modules are those that run on files, and
//! `two_desks` and `moving` are about databases alone.

#![expect(
    clippy::duplicate_mod,
    reason = "the same tests run on both stores; `desk` tells them apart by its path"
)]

#[path = "bounds.rs"]
mod bounds;
#[path = "console_page.rs"]
mod console_page;
#[path = "desk.rs"]
mod desk;
#[path = "guidance.rs"]
mod guidance;
#[path = "members.rs"]
mod members;
#[path = "messages.rs"]
mod messages;
#[path = "on_sql/moving.rs"]
mod moving;
#[path = "owners.rs"]
mod owners;
#[path = "paging.rs"]
mod paging;
#[path = "resources.rs"]
mod resources;
#[path = "on_sql/two_desks.rs"]
mod two_desks;
#[path = "waiting.rs"]
mod waiting;
