//! A shop for a test: a fresh database, the sample data, an index in memory and a
//! stopped clock.

use std::{
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use kit::{
    BoxFuture, Caller, Context, Store, context::Client, counter::Imported, testing::Harness,
};
use merchant::Settings;
use serde_json::{Value, json};
use store::testing::Scratch;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub const NOON: &str = "2025-10-23T12:00:00Z";

pub struct Shop {
    harness: Harness,
    _scratch: Option<Scratch>,
}

impl Deref for Shop {
    type Target = Harness;

    fn deref(&self) -> &Harness {
        &self.harness
    }
}

impl DerefMut for Shop {
    fn deref_mut(&mut self) -> &mut Harness {
        &mut self.harness
    }
}

/// One shop of each engine, with the sample data.
pub async fn both() -> Vec<Shop> {
    both_with(Settings::default()).await
}

pub async fn both_with(settings: Settings) -> Vec<Shop> {
    let mut shops = Vec::new();
    for scratch in store::testing::both().await {
        shops.push(Shop::with_demo(scratch, settings.clone()).await);
    }
    shops
}

/// One shop of each engine, without products.
pub async fn both_empty() -> Vec<Shop> {
    let mut shops = Vec::new();
    for scratch in store::testing::both().await {
        shops.push(Shop::empty(scratch, Settings::default()).await);
    }
    shops
}

/// One with the sample data, for what has nothing to do with the engine.
pub async fn one() -> Shop {
    with(Settings::default()).await
}

pub async fn with(settings: Settings) -> Shop {
    Shop::with_demo(store::testing::sqlite().await, settings).await
}

impl Shop {
    pub async fn empty(scratch: Scratch, settings: Settings) -> Self {
        let mut shop = Self::on(scratch.database.clone(), settings);
        shop.migrate().await;
        shop._scratch = Some(scratch);
        shop
    }

    pub async fn with_demo(scratch: Scratch, settings: Settings) -> Self {
        let shop = Self::empty(scratch, settings).await;
        shop.load_demo().await;
        shop
    }

    /// Another process on an existing database.
    pub fn on(database: store::Database, settings: Settings) -> Self {
        let store: Arc<dyn Store> = Arc::new(database);
        Self {
            harness: Harness::new(merchant::counter(settings, store).unwrap(), NOON),
            _scratch: None,
        }
    }

    pub async fn migrate(&self) {
        for migrations in [
            kit::lease::MIGRATIONS,
            kit::usage::MIGRATIONS,
            merchant::MIGRATIONS,
        ] {
            self.store().migrate(migrations).await.unwrap();
        }
    }

    pub async fn remove_demo(&self) {
        let demo = self.counter.demo.as_ref().unwrap();
        demo.remove(&self.context).await.unwrap();
    }

    /// The same shop, for a caller who cancels after this many progress reports.
    pub fn stopped_after(&self, progress: u32) -> Harness {
        let client = Arc::new(Impatient {
            left: progress.into(),
            cancel: CancellationToken::new(),
        });
        let clock = self.context.clock.clone();
        let mut context = Context::new(Caller::local_user(), clock, client.clone());
        context.cancel = client.cancel.clone();
        let mut harness = self.for_caller(Caller::local_user());
        harness.context = context;
        harness
    }

    /// What a search for one keyword answers.
    pub async fn find(&self, keyword: &str) -> Value {
        let search = json!({"keywords": [keyword]});
        self.ok("search_products", search).await
    }

    /// The ids that a search answers with.
    pub async fn search(&self, arguments: Value) -> Vec<i64> {
        ids(&self.ok("search_products", arguments).await)
    }

    /// Imports rows that are all valid.
    pub async fn import_rows(&self, rows: Vec<Value>) {
        let folder = Folder::new();
        let file = folder.file("shop.json", Value::from(rows).to_string());
        let imported = self.import(&file).await.unwrap();
        assert_eq!(imported.skipped, 0, "{imported:?}");
    }

    pub async fn import_synonyms(&self, text: &str) -> Imported {
        let folder = Folder::new();
        let file = folder.file("synonyms.txt", text);
        let import = self.counter.import.as_ref().unwrap();
        import.import_synonyms(&self.context, &file).await.unwrap()
    }

    pub async fn inventory(&self, id: i64) -> i64 {
        let ids = json!({"product_ids": [id]});
        let answer = self.ok("check_inventory", ids).await;
        answer["inventory"][id.to_string()].as_i64().unwrap()
    }

    pub async fn set_stock(&self, id: i64, stock: i64) -> Value {
        let change = json!({"product_id": id, "inventory_count": stock});
        self.ok("update_inventory", change).await
    }
}

/// A product of which there is one, as a row of a catalogue.
pub fn row(id: i64, name: &str) -> Value {
    json!({"id": id, "name": name, "price_jpy": 1, "inventory_count": 1})
}

pub fn ids(answer: &Value) -> Vec<i64> {
    let products = answer["products"].as_array().unwrap().iter();
    products
        .map(|product| product["id"].as_i64().unwrap())
        .collect()
}

/// The ids on all pages of a search. `page` answers the page at a cursor.
pub async fn on_all_pages(page: impl AsyncFn(Value) -> Value) -> Vec<i64> {
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let answer = page(cursor).await;
        seen.extend(ids(&answer));
        cursor = answer["next_cursor"].clone();
        if cursor.is_null() {
            return seen;
        }
    }
}

/// A folder for files to import.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

struct Impatient {
    left: AtomicU32,
    cancel: CancellationToken,
}

impl Client for Impatient {
    fn progress<'a>(&'a self, _: f64, _: Option<f64>, _: Option<String>) -> BoxFuture<'a, ()> {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.cancel.cancel();
        }
        Box::pin(std::future::ready(()))
    }
}
