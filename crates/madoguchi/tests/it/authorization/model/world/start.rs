//! From a case to two desks on an empty store.

use std::sync::Arc;

use desk::{
    Desk, Settings, audit, key_change, keys,
    state::{DeskState, OpenState, Secret},
    tables::TABLES,
};
use jiff::Timestamp;
use kit::{Caller, Sql, Store, sql::Budget, time::Clock};
use store::testing::Scratch;

use super::{
    super::{
        case::Case,
        counter::{self, COUNTERS, Log},
        rules::MINUTE,
    },
    World,
};

/// Empties what an earlier case left. Tables of both engines have these names.
async fn clear(store: &Arc<dyn Store>) {
    let clear = |sql: &mut dyn Sql| {
        for table in [
            "model_executions",
            "desk_approvals",
            "desk_grants",
            "desk_redemptions",
            "desk_replies",
            "desk_writes",
            "desk_keys",
        ] {
            sql.execute(&format!("DELETE FROM {table}"), &[])?;
        }
        Ok(())
    };
    store.transaction(Budget::default(), clear).await.unwrap();
}

fn settings(case: &Case) -> Settings {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut settings = Settings::default();
    settings.approval.hold_seconds = if case.hold { 600 } else { 0 };
    let policies = case.policies.iter();
    let policies = policies.map(|(name, policy)| (format!("{}.{name}", COUNTERS[0]), *policy));
    settings.approval.tools = policies.collect();
    settings.tools.read_only = case.offer.read_only;
    settings.tools.only = owned(&case.offer.only);
    settings.tools.exclude = owned(&case.offer.exclude);
    settings
}

/// Brings a new database up to date.
pub async fn prepare(scratch: &Scratch) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
    for migrations in TABLES.into_iter().chain([counter::MIGRATIONS]) {
        store.migrate(migrations).await.unwrap();
    }
    store
}

impl World {
    pub async fn open(case: &Case, store: &Arc<dyn Store>, now: i64) -> Self {
        clear(store).await;
        let directory = tempfile::tempdir().unwrap();
        let clock = Clock::fixed(Timestamp::from_millisecond(now).unwrap());
        let (log, secret) = (Arc::new(Log::default()), Secret::random());
        let mut desks = Vec::new();
        for _ in 0..2 {
            let (rows, secret) = (Arc::clone(store), secret.clone());
            let state = Arc::new(DeskState::new(move || {
                let state = OpenState::new(Arc::clone(&rows), secret.clone());
                Box::pin(std::future::ready(Ok(state)))
            }));
            let place = match store.engine() {
                "sqlite" => audit::AuditLocation::Directory(directory.path().join("audit")),
                _ => audit::AuditLocation::Table(Arc::clone(&state)),
            };
            let counters = COUNTERS
                .map(|name| counter::counter(name, store, &log))
                .into();
            let desk = Desk::new(counters, settings(case), clock.clone(), state).unwrap();
            desks.push(Arc::new(desk.audited(&place).unwrap()));
        }
        let mut world = Self {
            desks,
            store: Arc::clone(store),
            log,
            clock,
            keys: Vec::new(),
            seen: Vec::new(),
            _directory: directory,
        };
        for (index, key) in case.keys.iter().enumerate() {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let wanted = keys::NewKey {
                name: format!("key {index}"),
                counters: owned(&key.counters),
                tools: owned(&key.tools),
                read_only: key.read_only,
                trust_client_prompts: key.trusts_prompts,
                expires_at: key.expires_minutes.map(|it| now + it * MINUTE),
                file: None,
            };
            let created = key_change::create(&world.desks[0], Caller::local_user(), wanted);
            let (kept, secret) = created.await.unwrap();
            world.keys.push((kept.id, secret));
        }
        world.read_keys().await;
        world
    }
}
