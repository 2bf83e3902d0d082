//! The cinema counter: a box office in which an agent finds a film and a
//! screening, sees the seats and reserves them. No payment is taken.
//!
//! Which file to open: the rules are in `model`, the rows in `store`, which
//! film or screening somebody means in `find`, which screenings of a day fit in
//! `programme`, why an answer is empty in `reasons`, and each tool in a file of its own
//! under `tools`.

mod answers;
mod background;
mod booking;
mod console_page;
mod demo;
mod errors;
mod export;
mod find;
mod ids;
mod import;
mod model;
mod programme;
mod prompts;
mod quote;
mod reasons;
mod resources;
mod settings;
mod state;
mod store;
mod ticket_keys;
mod tickets;
mod tools;
mod uris;
mod views;
mod waiting;

use std::sync::Arc;

use kit::{About, Counter, Store, counter::Migrations, sql::Migration};

pub use settings::Settings;

/// The counter's tables.
pub const MIGRATIONS: Migrations = Migrations {
    owner: "cinema",
    steps: &[
        Migration {
            version: 1,
            name: "films, halls, screenings, reservations",
            sql: include_str!("../migrations/0001.sql"),
        },
        Migration {
            version: 2,
            name: "readings and English titles",
            sql: include_str!("../migrations/0002.sql"),
        },
        Migration {
            version: 3,
            name: "holds, exchanges and the waiting list",
            sql: include_str!("../migrations/0003.sql"),
        },
        Migration {
            version: 4,
            name: "prices and the place",
            sql: include_str!("../migrations/0004.sql"),
        },
        Migration {
            version: 5,
            name: "tickets",
            sql: include_str!("../migrations/0005.sql"),
        },
        Migration {
            version: 6,
            name: "locks for callers",
            sql: include_str!("../migrations/0006.sql"),
        },
        Migration {
            version: 7,
            name: "bookings at the console",
            sql: include_str!("../migrations/0007.sql"),
        },
    ],
};

const ABOUT: About = About {
    name: "cinema",
    server_name: "cinema",
    version: "1.0.0",
    title: "Cinema box office",
    japanese_title: "映画館の窓口",
    summary: "Find a film, a screening and the best seats, hold, book, exchange and cancel them.",
    japanese_summary: "映画や上映、おすすめの席を探し、座席の仮押さえ、予約、変更、取り消しをします。",
    description: "映画館窓口業務を行うエージェントのMCPツール群",
    instructions: "You are at the box office of a cinema. get_show_schedule without a film is the \
        programme of a day, with filters for time, genre, age class and seats together. Find a \
        film (get_movie_list), its screenings (get_show_schedule) and their free seats \
        (get_seat_availability), or the best seats for a party at once (find_best_seats); hold them \
        (hold_seats) while the customer decides, confirm, then reserve (reserve_seats). \
        cancel_reservation and exchange_seats change a booking; join_waiting_list waits for a full \
        screening. No payment is taken. get_show_schedule \
        has the prices; cinema://place says how to get here. Dates are YYYY-MM-DD and times HH:MM in the cinema's time zone; 25:30 is \
        01:30 of the next day. When a call is refused, details.candidates or \
        details.nearest_free_block say what to offer instead; when an answer is empty, message \
        says why.",
    lists_change: false,
    conventions: kit::Conventions::USUAL,
};

/// The counter, ready to be served on `store`.
pub fn counter(settings: Settings, store: Arc<dyn Store>) -> Counter {
    let state = Arc::new(state::CounterState::new(settings, &store));
    Counter {
        about: ABOUT,
        time_zone: state.zone.clone(),
        tools: vec![
            Arc::new(tools::get_movie_list::tool(&state)),
            Arc::new(tools::get_show_schedule::tool(&state)),
            Arc::new(tools::get_seat_availability::tool(&state)),
            Arc::new(tools::reserve_seats::tool(&state)),
            Arc::new(tools::get_reservation_details::tool(&state)),
            Arc::new(tools::find_best_seats::tool(&state)),
            Arc::new(tools::hold_seats::tool(&state)),
            Arc::new(tools::cancel_reservation::tool(&state)),
            Arc::new(tools::exchange_seats::tool(&state)),
            Arc::new(tools::join_waiting_list::tool(&state)),
            Arc::new(tools::get_ticket::tool(&state)),
            Arc::new(tools::check_ticket::tool(&state)),
        ],
        prompts: vec![Arc::new(prompts::box_office_clerk(&state))],
        resources: Some(Arc::new(resources::CinemaResources::new(&state, &store))),
        views: views::ALL,
        files: None,
        demo: Some(Arc::new(demo::DemoData::new(&state, &store))),
        import: Some(Arc::new(import::CinemaImport::new(&state, &store))),
        export: Some(Arc::new(export::CinemaExport::new(&state, &store))),
        background: Some(Arc::new(background::BackgroundWork::new(&state))),
        page: Some(Arc::new(console_page::CinemaPage::new(&state, &store))),
        store: Some(store),
    }
}
