//! The guestbook counter: visitors sign and see who else did.

mod state;
mod tools;

use std::sync::Arc;

use kit::{About, Counter, Result, Store, counter::Migrations, sql::Migration};

pub use state::Settings;

pub const MIGRATIONS: Migrations = Migrations {
    owner: "guestbook",
    steps: &[Migration {
        version: 1,
        name: "entries",
        sql: include_str!("../migrations/0001.sql"),
    }],
};

const ABOUT: About = About {
    name: "guestbook",
    server_name: "guestbook",
    version: "1.0.0",
    title: "Guestbook",
    japanese_title: "ゲストブック",
    summary: "Sign, and see who else did.",
    japanese_summary: "記帳し、ほかに誰が記帳したかを見ます。",
    description: "A guestbook for agents.",
    instructions: "Sign the guestbook once in a visit (sign_guestbook).",
    lists_change: false,
    conventions: kit::Conventions::USUAL,
};

/// The counter, ready to be served on `store`.
pub fn counter(settings: Settings, store: Arc<dyn Store>) -> Result<Counter> {
    let state = Arc::new(state::CounterState { settings });
    Ok(Counter {
        about: ABOUT,
        time_zone: jiff::tz::TimeZone::UTC,
        tools: vec![Arc::new(tools::sign_guestbook::tool(&state))],
        prompts: Vec::new(),
        resources: None,
        views: &[],
        files: None,
        demo: None,
        import: None,
        export: None,
        background: None,
        page: None,
        store: Some(store),
    })
}
