use std::sync::Arc;

use kit::{Context, Store, testing::call, time::Clock};
use serde_json::json;

use super::*;

/// `docs/adding-a-counter.md` shows this line; a test compares the two.
#[tokio::test]
async fn the_counter_of_the_guide_opens_with_its_one_line() {
    #[rustfmt::skip]
    let list = [
        Registration::with_store("guestbook", guestbook::MIGRATIONS, guestbook::counter),
    ];
    let [registration] = list;
    let scratch = store::testing::sqlite().await;
    let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
    store
        .migrate(registration.migrations.unwrap())
        .await
        .unwrap();
    let settings = (registration.default_settings)();
    let counter = registration.open(settings, Some(store)).unwrap();
    let context = Context::of_the_desk(Clock::system());
    let arguments = json!({ "name": "Mei", "greeting": "Good morning" });
    let answer = call(&counter, &context, "sign_guestbook", arguments).await;
    assert_eq!(answer.unwrap()["message"], "Thank you, Mei.");
}

#[test]
fn no_two_counters_share_a_name_a_port_or_a_flag() {
    let mut taken = std::collections::BTreeSet::new();
    for counter in all() {
        let port = counter
            .own_port
            .iter()
            .map(|own| own.port.number.to_string());
        let flags = counter.flags.iter().map(|flag| format!("--{}", flag.name));
        for name in port.chain(flags).chain([counter.name.to_owned()]) {
            assert!(taken.insert(name.clone()), "{name} is taken twice");
        }
    }
}

/// Desks of two versions may share a database, so what older programs use stays, unless
/// a step says what it needs.
#[test]
fn steps_add_to_tables_or_say_what_they_need() {
    let of_counters = all().iter().filter_map(|counter| counter.migrations);
    for migrations in of_counters.chain(desk::tables::TABLES) {
        for step in migrations.steps {
            let text = step.sql.to_uppercase();
            let needs_newer = text.trim_start().starts_with("-- NEEDS STEP ");
            let takes_away = ["DROP ", "RENAME ", "ALTER COLUMN", "SET NOT NULL"];
            let takes_away = takes_away.iter().any(|words| text.contains(words));
            // A row that an older program inserts has no value for such a column.
            let demands = |statement: &str| {
                let adds = statement.contains("ADD COLUMN") && statement.contains("NOT NULL");
                adds && !statement.contains("DEFAULT")
            };
            let demands = text.split(';').any(demands);
            let (owner, version) = (migrations.owner, step.version);
            assert!(
                needs_newer || !(takes_away || demands),
                "step {version} of {owner} must begin with `-- needs step N`"
            );
        }
    }
}
