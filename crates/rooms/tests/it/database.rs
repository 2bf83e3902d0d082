//! A database with the tables of rooms.

use std::sync::{Arc, OnceLock};

use kit::Store;
use store::testing::Scratch;
use tokio::runtime::Runtime;

/// A database that is gone after the test. Clones share it.
#[derive(Clone)]
pub struct TestDatabase {
    pub store: Arc<dyn Store>,
    _scratch: Arc<Scratch>,
}

impl TestDatabase {
    /// On PostgreSQL if the environment names a server for tests, unless
    /// `ROOMS_TEST_ENGINE=sqlite`; else on SQLite.
    pub fn new() -> Self {
        static RUNTIME: OnceLock<Runtime> = OnceLock::new();
        let runtime = RUNTIME.get_or_init(|| Runtime::new().unwrap());
        let open = async {
            let engine = std::env::var("ROOMS_TEST_ENGINE");
            let has_server = std::env::var_os("MADOGUCHI_TEST_POSTGRES").is_some();
            let scratch = match has_server && engine.as_deref() != Ok("sqlite") {
                true => store::testing::postgres().await,
                false => store::testing::sqlite().await,
            };
            let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
            store.migrate(rooms::MIGRATIONS).await.unwrap();
            Self {
                store,
                _scratch: Arc::new(scratch),
            }
        };
        // The caller is inside a runtime of its own.
        std::thread::scope(|scope| scope.spawn(|| runtime.block_on(open)).join().unwrap())
    }
}
