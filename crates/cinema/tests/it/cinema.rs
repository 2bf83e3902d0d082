//! A cinema for a test: a fresh database, the sample data, and a clock stopped at
//! ten in the morning.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{
    Caller, Context, Counter, Error, Param, Store,
    context::NoClient,
    sql::{Budget, Row},
    time::Clock,
};
use serde_json::Value;
use store::testing::Scratch;

pub const TODAY: &str = "2026-11-15";
pub const TEN_O_CLOCK: &str = "2026-11-15T10:00:00+09:00";

pub struct Cinema {
    pub counter: Counter,
    pub context: Context,
    pub store: Arc<dyn Store>,
    pub scratch: Scratch,
}

impl Cinema {
    /// Tables, and nothing in them.
    async fn open(scratch: Scratch) -> Self {
        let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
        store.migrate(cinema::MIGRATIONS).await.unwrap();
        let clock = Clock::fixed(TEN_O_CLOCK.parse().unwrap());
        Self {
            counter: cinema::counter(cinema::Settings::default(), Arc::clone(&store)),
            context: Context::new(Caller::local_user(), clock, Arc::new(NoClient)),
            store,
            scratch,
        }
    }

    async fn with_demo(self) -> Self {
        let demo = self.counter.demo.as_ref().unwrap();
        demo.load(&self.context).await.unwrap();
        self.context.take_changes();
        self
    }
}

/// One cinema of each engine, empty.
pub async fn both_empty() -> Vec<Cinema> {
    let mut cinemas = Vec::new();
    for scratch in store::testing::both().await {
        cinemas.push(Cinema::open(scratch).await);
    }
    cinemas
}

/// One cinema of each engine, with the sample data.
pub async fn both() -> Vec<Cinema> {
    let mut cinemas = Vec::new();
    for scratch in store::testing::both().await {
        cinemas.push(Cinema::open(scratch).await.with_demo().await);
    }
    cinemas
}

/// One with the sample data, for what has nothing to do with the engine.
pub async fn one() -> Cinema {
    Cinema::open(store::testing::sqlite().await)
        .await
        .with_demo()
        .await
}

impl Cinema {
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

    pub async fn sql(&self, statement: &'static str) -> Vec<Row> {
        self.store
            .transaction(Budget::default(), move |sql| sql.query(statement, &[]))
            .await
            .unwrap()
    }

    pub async fn count(&self, what: &'static str) -> i64 {
        let statement: &'static str = format!("SELECT COUNT(*) FROM {what}").leak();
        self.sql(statement).await[0].int(0).unwrap()
    }

    /// Frees every seat of a screening.
    pub async fn clear(&self, show: &'static str) {
        self.store
            .transaction(Budget::default(), move |sql| {
                let statement = "DELETE FROM cinema_taken_seats WHERE show_id = $1";
                sql.execute(statement, &[Param::Text(show)])
            })
            .await
            .unwrap();
    }

    pub fn set_clock(&self, time: &str) {
        self.context.clock.set(time.parse::<Timestamp>().unwrap());
    }

    /// Puts a hold on a seat, as somebody who has not decided yet.
    pub async fn hold(&self, show: &'static str, row: &'static str, number: i64, until: &str) {
        let until = until.parse::<Timestamp>().unwrap().as_millisecond();
        self.store
            .transaction(Budget::default(), move |sql| {
                let id = format!("hold_{row}{number}");
                sql.execute(
                    "INSERT INTO cinema_reservations \
                     (id, show_id, seats, status, caller, created_at, expires_at, is_demo) \
                     VALUES ($1, $2, $3, 'held', 'local', 0, $4, 0)",
                    &[
                        Param::Text(&id),
                        Param::Text(show),
                        Param::Text(&format!("{row}{number}")),
                        Param::Int(until),
                    ],
                )?;
                sql.execute(
                    "INSERT INTO cinema_taken_seats VALUES ($1, $2, $3, $4, $5)",
                    &[
                        Param::Text(show),
                        Param::Text(row),
                        Param::Int(number),
                        Param::Text(&id),
                        Param::Int(until),
                    ],
                )
            })
            .await
            .unwrap();
    }
}

/// What the desk does with a broken schema rule: the tool's own code, if it has one.
fn check(tool: &kit::Tool, arguments: &Value) -> Result<(), Error> {
    let validator = jsonschema::validator_for(&tool.input).unwrap();
    let Some(broken) = validator.iter_errors(arguments).next() else {
        return Ok(());
    };
    let keyword = broken.kind().keyword();
    let path = broken.instance_path().to_string();
    let field = match keyword {
        "required" => broken.to_string().split('"').nth(1).unwrap().to_owned(),
        _ => path.split('/').nth(1).unwrap_or_default().to_owned(),
    };
    let rule = tool
        .rules
        .iter()
        .find(|rule| rule.field == field && (rule.keyword == keyword || rule.keyword == "*"));
    Err(match rule {
        Some(rule) => Error::new(rule.code, rule.message),
        None => Error::new(kit::error::INVALID_ARGUMENT, broken.to_string()),
    })
}

/// `details` of a refusal.
pub fn details(error: &Error) -> Value {
    error.details.clone().unwrap_or(Value::Null)
}
