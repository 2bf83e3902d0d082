//! A shop for a test: a fresh database, the sample data, an index in memory and a
//! stopped clock.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use jiff::Timestamp;
use kit::{
    BoxFuture, Caller, Context, Counter, Error, Store,
    context::{Client, NoClient},
    sql::{Budget, Row},
    time::Clock,
};
use merchant::Settings;
use serde_json::{Value, json};
use store::testing::Scratch;
use tokio_util::sync::CancellationToken;

pub const NOON: &str = "2025-10-23T12:00:00Z";

pub struct Shop {
    pub counter: Counter,
    pub context: Context,
    pub store: Arc<dyn Store>,
    _scratch: Option<Scratch>,
}

impl Shop {
    pub async fn open(scratch: Scratch, settings: Settings) -> Self {
        let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
        store.migrate(kit::lease::MIGRATIONS).await.unwrap();
        store.migrate(kit::usage::MIGRATIONS).await.unwrap();
        store.migrate(merchant::MIGRATIONS).await.unwrap();
        let mut shop = Self::on(scratch.database.clone(), settings);
        shop._scratch = Some(scratch);
        shop
    }

    /// Another process on an existing database.
    pub fn on(database: store::Database, settings: Settings) -> Self {
        let store: Arc<dyn Store> = Arc::new(database);
        let clock = Clock::fixed(NOON.parse().unwrap());
        Self {
            counter: merchant::counter(settings, Arc::clone(&store)).unwrap(),
            context: Context::new(Caller::local_user(), clock, Arc::new(NoClient)),
            store,
            _scratch: None,
        }
    }

    /// The same shop, for another caller.
    pub fn for_caller(&self, caller: Caller) -> Self {
        let clock = self.context.clock.clone();
        self.with_context(Context::new(caller, clock, Arc::new(NoClient)))
    }

    fn with_context(&self, context: Context) -> Self {
        Self {
            counter: self.counter.clone(),
            context,
            store: Arc::clone(&self.store),
            _scratch: None,
        }
    }

    /// The same shop, for a caller who cancels after this many progress reports.
    pub fn stopped_after(&self, progress: u32) -> Self {
        let client = Arc::new(Impatient {
            left: progress.into(),
            cancel: Default::default(),
        });
        let mut context = Context::new(
            Caller::local_user(),
            self.context.clock.clone(),
            client.clone(),
        );
        context.cancel = client.cancel.clone();
        self.with_context(context)
    }

    pub async fn with_demo(self) -> Self {
        let demo = self.counter.demo.as_ref().unwrap();
        demo.load(&self.context).await.unwrap();
        self
    }
}

/// One shop of each engine, with the sample data.
pub async fn both() -> Vec<Shop> {
    both_with(Settings::default()).await
}

pub async fn both_with(settings: Settings) -> Vec<Shop> {
    let mut shops = Vec::new();
    for scratch in store::testing::both().await {
        let shop = Shop::open(scratch, settings.clone()).await;
        shops.push(shop.with_demo().await);
    }
    shops
}

/// One shop of each engine, without products.
pub async fn both_empty() -> Vec<Shop> {
    let mut shops = Vec::new();
    for scratch in store::testing::both().await {
        shops.push(Shop::open(scratch, Settings::default()).await);
    }
    shops
}

/// One with the sample data, for what has nothing to do with the engine.
pub async fn one() -> Shop {
    with(Settings::default()).await
}

pub async fn with(settings: Settings) -> Shop {
    Shop::open(store::testing::sqlite().await, settings)
        .await
        .with_demo()
        .await
}

impl Shop {
    /// Calls a tool as the desk would: normalised, checked against the
    /// published schemas on the way in and out.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Error> {
        let definition = self.counter.tool(tool).unwrap();
        let mut normal = arguments;
        definition.normalised(&self.context, normal.as_object_mut().unwrap());
        check(definition, &normal)?;
        let answer = kit::testing::call(&self.counter, &self.context, tool, normal).await?;
        let schema = definition.output.as_ref().unwrap();
        let validator = jsonschema::validator_for(schema).unwrap();
        let broken: Vec<String> = validator
            .iter_errors(&answer)
            .map(|e| e.to_string())
            .collect();
        assert!(broken.is_empty(), "{tool}: {broken:?} in {answer:#}");
        Ok(answer)
    }

    pub async fn ok(&self, tool: &str, arguments: Value) -> Value {
        match self.call(tool, arguments.clone()).await {
            Ok(answer) => answer,
            Err(error) => panic!("{tool} {arguments}: {error} {:?}", error.cause),
        }
    }

    pub async fn refused(&self, tool: &str, arguments: Value) -> Error {
        match self.call(tool, arguments.clone()).await {
            Ok(answer) => panic!("{tool} {arguments} was not refused: {answer:#}"),
            Err(error) => error,
        }
    }

    pub async fn code(&self, tool: &str, arguments: Value) -> String {
        self.refused(tool, arguments).await.code.into_owned()
    }

    /// The ids that a search answers with.
    pub async fn search(&self, arguments: Value) -> Vec<i64> {
        ids(&self.ok("search_products", arguments).await)
    }

    /// Imports rows that are all valid.
    pub async fn import_json(&self, json: &str) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shop.json");
        std::fs::write(&file, json).unwrap();
        let import = self.counter.import.as_ref().unwrap();
        let imported = import.import(&self.context, &file).await.unwrap();
        assert_eq!(imported.skipped, 0, "{imported:?}");
    }

    pub async fn inventory(&self, id: i64) -> i64 {
        let answer = self
            .ok("check_inventory", json!({ "product_ids": [id] }))
            .await;
        answer["inventory"][id.to_string()].as_i64().unwrap()
    }

    pub async fn sql(&self, statement: &'static str) -> Vec<Row> {
        self.store
            .transaction(Budget::default(), move |sql| sql.query(statement, &[]))
            .await
            .unwrap()
    }

    pub fn set_clock(&self, time: &str) {
        self.context.clock.set(time.parse::<Timestamp>().unwrap());
    }
}

/// What the desk does with a broken schema rule: the tool's own code, if it has one.
fn check(tool: &kit::Tool, arguments: &Value) -> Result<(), Error> {
    let validator = jsonschema::validator_for(&tool.input).unwrap();
    let Some(broken) = validator.iter_errors(arguments).next() else {
        return Ok(());
    };
    let (keyword, path) = (broken.kind().keyword(), broken.instance_path().to_string());
    let field = path.split('/').nth(1).unwrap_or_default();
    let mut rules = tool.rules.iter();
    let rule = rules.find(|rule| rule.field == field && [keyword, "*"].contains(&rule.keyword));
    let code = rule.map_or(kit::error::INVALID_ARGUMENT, |rule| rule.code);
    Err(Error::new(code, broken.to_string()))
}

pub fn ids(answer: &Value) -> Vec<i64> {
    answer["products"]
        .as_array()
        .unwrap()
        .iter()
        .map(|product| product["id"].as_i64().unwrap())
        .collect()
}

/// `details` of a refusal.
pub fn details(error: &Error) -> Value {
    error.details.clone().unwrap_or(Value::Null)
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
