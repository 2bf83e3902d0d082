//! The one list of counters. A new counter is a folder of its own and a line
//! here; `docs/adding-a-counter.md` shows both.

#[cfg(feature = "fixture")]
mod fixture;
mod registration;
mod rooms_command;
mod rooms_files;

use std::sync::LazyLock;

pub use registration::{
    CommandContext, FolderFiles, FrozenFolder, OnPostgres, OwnCommand, OwnPort, Registration,
};
use registration::{Flag, Port};

/// Every counter, in the order in which commands and documents show them.
pub fn all() -> &'static [Registration] {
    static ALL: LazyLock<Vec<Registration>> = LazyLock::new(list);
    &ALL
}

fn list() -> Vec<Registration> {
    vec![
        Registration::with_store("cinema", cinema::MIGRATIONS, |settings, store| {
            Ok(cinema::counter(settings, store))
        })
        .in_short("films, seats, tickets", "映画・座席・チケット")
        .imports(
            "a JSON or CSV file, or a directory of them: films, halls, shows, prices, place, \
             reservations",
        ),
        Registration::with_store("innervoice", innervoice::MIGRATIONS, innervoice::counter)
            .in_short(
                "calendar, messages, reminders",
                "予定・メッセージ・リマインダー",
            )
            .imports("contacts: vCard, CSV with a header, or JSON")
            .port(Port {
                number: 7777,
                host: Some("mcp.innervoice.app"),
                assets: false,
                only_websocket: true,
            }),
        Registration::with_store("merchant", merchant::MIGRATIONS, merchant::counter)
            .in_short("products, stock, carts", "商品・在庫・カート")
            .port(Port {
                number: 8011,
                host: Some("merchant_agent_mcp"),
                assets: true,
                only_websocket: false,
            })
            .variables(merchant::SEED_VARIABLES)
            .own_database("database_url")
            .inside_data("index_dir", "search")
            .imports("products: a JSON array, a JSON object on each line, or CSV with a header"),
        Registration::on_files_or_postgres("rooms", ROOMS_ON_POSTGRES, rooms::counter)
            .in_short("agents talk to each other", "エージェント同士の会話")
            .variables(rooms::SEED_VARIABLES)
            .folder("data_dir", "rooms")
            .folder_files(rooms_files::FILES)
            .command(rooms_command::COMMAND),
        Registration::on_files("todo", todo::counter)
            .in_short(
                "tasks and decisions of a project",
                "プロジェクトのタスクと決定",
            )
            .flag(Flag {
                name: "root",
                value: "DIR",
                key: "root",
                is_project: true,
                help: "The project whose `.todo/` is served [default: the current directory]",
            }),
    ]
}

const ROOMS_ON_POSTGRES: OnPostgres = OnPostgres {
    migrations: rooms::MIGRATIONS,
    check: |settings, store| {
        Box::pin(async move {
            let settings = registration::typed("rooms", settings)?;
            rooms::refuse_left_files(&settings, store).await
        })
    },
};

/// The counter that tests talk to, in a build that has it.
pub fn fixture() -> Option<&'static Registration> {
    #[cfg(feature = "fixture")]
    return Some(fixture::registration());
    #[cfg(not(feature = "fixture"))]
    None
}

/// The ports that the configuration has a section for.
pub fn ports(counters: &[Registration]) -> impl Iterator<Item = &OwnPort> {
    counters
        .iter()
        .filter_map(|counter| counter.own_port.as_ref())
}

#[cfg(test)]
mod tests;
