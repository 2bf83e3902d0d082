//! A counter as its tests see it: every call is held against the published
//! schemas, on the way in and out.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use std::{path::Path, sync::Arc};

use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::run::{in_zone, run, store};
use crate::{
    approval::Card,
    arguments::Arguments,
    console::{PageQuery, Section},
    context::{Caller, Context, NoClient},
    counter::{Counter, Imported, InvalidRows},
    error::{Error, INVALID_ARGUMENT, Result},
    resource::{Body, Contents},
    sql::{Budget, Row, Sql, Store},
    time::Clock,
    tool::Tool,
};

/// A counter, and the context in which its tools are called.
#[derive(Clone)]
pub struct Harness {
    pub counter: Counter,
    pub context: Context,
    /// Whether answers may have fields that their output schema does not list.
    pub allows_unlisted_fields: bool,
}

impl Harness {
    /// For the local user, with a clock that stands still at `time`.
    pub fn new(counter: Counter, time: &str) -> Self {
        let clock = Clock::fixed(time.parse().expect("a time such as 2026-11-15T10:00:00Z"));
        Self {
            context: Context::new(Caller::local_user(), clock, Arc::new(NoClient)),
            counter,
            allows_unlisted_fields: false,
        }
    }

    /// The same counter and clock, for another caller.
    pub fn for_caller(&self, caller: Caller) -> Self {
        Self {
            context: Context::new(caller, self.context.clock.clone(), Arc::new(NoClient)),
            ..self.clone()
        }
    }

    pub fn set_clock(&self, time: &str) {
        let time = time.parse().expect("a time such as 2026-11-15T10:00:00Z");
        self.context.clock.set(time);
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        store(&self.counter).expect("a store")
    }

    pub fn tool(&self, name: &str) -> &Arc<Tool> {
        let tool = self.counter.tool(name);
        tool.unwrap_or_else(|| panic!("there is no tool {name}"))
    }

    /// Calls a tool as the desk would.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value> {
        self.call_as(&self.context, tool, arguments).await
    }

    /// The same in another context.
    pub async fn call_as(
        &self,
        context: &Context,
        tool: &str,
        mut arguments: Value,
    ) -> Result<Value> {
        let tool = self.tool(tool);
        let context = in_zone(&self.counter, context);
        normalise(tool, &context, &mut arguments);
        check_input(tool, &arguments)?;
        let answer = run(&self.counter, tool, context, arguments).await?;
        check_output(tool, &answer, self.allows_unlisted_fields);
        Ok(answer)
    }

    /// The answer of a call that must succeed.
    pub async fn ok(&self, tool: &str, arguments: Value) -> Value {
        match self.call(tool, arguments.clone()).await {
            Ok(answer) => answer,
            Err(error) => panic!("{tool} {arguments}: {error} {:?}", error.cause),
        }
    }

    /// The error of a call that must be refused, for a reason that is the caller's.
    pub async fn refused(&self, tool: &str, arguments: Value) -> Error {
        match self.call(tool, arguments.clone()).await {
            Ok(answer) => panic!("{tool} {arguments} was not refused: {answer:#}"),
            Err(error) => {
                assert!(!error.is_internal(), "{tool}: {error} {:?}", error.cause);
                error
            }
        }
    }

    /// The code of that error.
    pub async fn code(&self, tool: &str, arguments: Value) -> String {
        self.refused(tool, arguments).await.code.into_owned()
    }

    /// What a person is shown before a call.
    pub async fn card(&self, tool: &str, mut arguments: Value) -> Result<Card> {
        let tool = Arc::clone(self.tool(tool));
        let context = in_zone(&self.counter, &self.context);
        normalise(&tool, &context, &mut arguments);
        let describe = move |sql: &mut dyn Sql| {
            let card = tool.card.as_ref().expect("the tool has a card");
            card(&context, sql, &arguments)
        };
        self.store().query(Budget::default(), describe).await
    }

    /// The text of a resource; `None` where there is none.
    pub async fn read(&self, uri: &str) -> Option<String> {
        let resources = self.counter.resources.as_ref().expect("resources");
        let context = in_zone(&self.counter, &self.context);
        let read = resources.read(&context, uri).await;
        read.expect(uri).map(|Contents { body, .. }| match body {
            Body::Text(text) | Body::Blob(text) => text,
        })
    }

    /// The sections of its page in the console.
    pub async fn page(&self, query: &[(&str, &str)]) -> Vec<Section> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let query = PageQuery(query.iter().map(owned).collect());
        let page = self.counter.page.as_ref().expect("a page");
        let context = in_zone(&self.counter, &self.context);
        let shown = page.show(&context, &query).await;
        shown.unwrap_or_else(|error| panic!("{error} {:?}", error.cause))
    }

    /// Runs one statement on the counter's store.
    pub async fn sql(&self, statement: &str) -> Vec<Row> {
        let statement = statement.to_owned();
        let query = move |sql: &mut dyn Sql| sql.query(&statement, &[]);
        let rows = self.store().transaction(Budget::default(), query).await;
        rows.unwrap_or_else(|error| panic!("{error} {:?}", error.cause))
    }

    /// How many rows there are: a table, with conditions if need be.
    pub async fn count(&self, rows: &str) -> i64 {
        let counted = self.sql(&format!("SELECT COUNT(*) FROM {rows}")).await;
        let count = counted.first().and_then(|row| row.int(0).ok());
        count.expect("a count")
    }

    pub async fn load_demo(&self) {
        let demo = self.counter.demo.as_ref().expect("demo data");
        let loaded = demo.load(&self.context).await;
        loaded.unwrap_or_else(|error| panic!("{error} {:?}", error.cause));
        self.context.take_changes();
    }

    pub async fn import(&self, file: &Path) -> Result<Imported> {
        let import = self.counter.import.as_ref().expect("an import");
        import
            .import(&self.context, file, InvalidRows::AsUsual)
            .await
    }
}

/// `details` of a refusal.
pub fn details(error: &Error) -> Value {
    error.details.clone().unwrap_or(Value::Null)
}

fn normalise(tool: &Tool, context: &Context, arguments: &mut Value) {
    let arguments = arguments.as_object_mut().expect("arguments are an object");
    tool.normalised(context, arguments);
}

/// As the desk answers a broken schema rule: with the tool's own code, if it has one.
fn check_input(tool: &Tool, arguments: &Value) -> Result<()> {
    let published = tool.input.get("properties").and_then(Value::as_object);
    let given = arguments.as_object().into_iter().flat_map(|it| it.keys());
    let mut unknown = given.filter(|name| published.is_none_or(|it| !it.contains_key(*name)));
    if let Some(error) = unknown.find_map(|name| (tool.explain_unknown)(name)) {
        return Err(error);
    }
    let validator = jsonschema::validator_for(&tool.input).expect(tool.name);
    let Some(broken) = validator.iter_errors(arguments).next() else {
        return Ok(());
    };
    let keyword = broken.kind().keyword();
    let path = broken.instance_path().to_string();
    let field = match broken.kind() {
        ValidationErrorKind::Required { property } => property.as_str().unwrap_or_default(),
        _ => path.split('/').nth(1).unwrap_or_default(),
    };
    let rule = tool
        .rules
        .iter()
        .find(|rule| rule.field == field && (rule.keyword == keyword || rule.keyword == "*"));
    let details = serde_json::json!({ "field": field, "value": broken.instance() });
    let error = match rule {
        Some(rule) => Error::new(rule.code, rule.message),
        None => Error::new(INVALID_ARGUMENT, broken.to_string()),
    };
    Err(error.details(details).next("See the input schema."))
}

/// Tools without an output schema answer with content blocks.
fn check_output(tool: &Tool, answer: &Value, allows_unlisted_fields: bool) {
    let Some(schema) = &tool.output else {
        return;
    };
    let validator = jsonschema::validator_for(schema).expect(tool.name);
    let broken: Vec<String> = validator
        .iter_errors(answer)
        .map(|error| error.to_string())
        .collect();
    assert!(broken.is_empty(), "{}: {broken:?} in {answer:#}", tool.name);
    let published = schema.get("properties").and_then(Value::as_object);
    // A schema that lists nothing but the warnings leaves its fields to another tool's.
    let lists_none = published.is_none_or(|fields| fields.keys().all(|it| it == "warnings"));
    let is_open =
        allows_unlisted_fields || lists_none || schema.get("additionalProperties").is_some();
    for field in answer.as_object().into_iter().flat_map(|it| it.keys()) {
        let is_published = ["today", "time_zone"].contains(&field.as_str())
            || published.is_some_and(|fields| fields.contains_key(field));
        assert!(
            is_open || is_published,
            "{}: {field} is not in the output schema",
            tool.name
        );
    }
}

/// What a step of a tool's normalisation makes of an argument.
pub fn normalised(step: impl FnOnce(&mut Arguments, &str), value: Value) -> Value {
    let mut arguments = Arguments::from_iter([("x".to_owned(), value)]);
    step(&mut arguments, "x");
    arguments.remove("x").expect("the argument is still there")
}
