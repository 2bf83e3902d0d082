//! A project for a test: a new directory, and a clock fixed at ten in the
//! morning.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::{Caller, Context, Counter, Error, context::NoClient, time::Clock};
use serde_json::{Value, json};
use tempfile::TempDir;

pub const TEN_O_CLOCK: &str = "2026-11-15T10:00:00+09:00";

pub struct TestProject {
    pub counter: Counter,
    pub context: Context,
    pub root: PathBuf,
    /// Deleted when dropped.
    _directory: Option<TempDir>,
}

pub fn settings(root: &Path) -> todo::Settings {
    todo::Settings {
        root: root.to_str().unwrap().into(),
        time_zone: "Asia/Tokyo".into(),
        ..todo::Settings::default()
    }
}

pub fn context(caller: &str) -> Context {
    let clock = Clock::fixed(TEN_O_CLOCK.parse().unwrap());
    Context::new(Caller::new(caller, caller), clock, Arc::new(NoClient))
}

impl TestProject {
    /// A project without a `.todo/`.
    pub fn bare() -> Self {
        let directory = TempDir::new().unwrap();
        let root = directory.path().canonicalize().unwrap();
        Self {
            counter: todo::counter(settings(&root)),
            context: context("agent"),
            root,
            _directory: Some(directory),
        }
    }

    /// The same project as another process would open it.
    pub fn at(root: &Path) -> Self {
        Self {
            counter: todo::counter(settings(root)),
            context: context("agent"),
            root: root.to_owned(),
            _directory: None,
        }
    }

    /// A project with this `task.md`.
    pub fn with(tasks: &str) -> Self {
        let project = Self::bare();
        project.put("task.md", tasks);
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(".todo").join(name)
    }

    /// Writes a file as an editor would: beside it, then over it.
    pub fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let beside = path.with_extension("editor");
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, &path).unwrap();
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).unwrap()).unwrap()
    }

    pub fn tasks(&self) -> String {
        self.text("task.md")
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Calls a tool as the desk would: normalised, checked against the
    /// published schemas on the way in and out.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Error> {
        self.call_as(&self.context, tool, arguments).await
    }

    pub async fn call_as(
        &self,
        context: &Context,
        tool: &str,
        arguments: Value,
    ) -> Result<Value, Error> {
        let definition = self.counter.tool(tool).unwrap();
        let mut normal = arguments;
        definition.normalised(context, normal.as_object_mut().unwrap());
        check(definition, &normal)?;
        let answer = kit::testing::call(&self.counter, context, tool, normal).await?;
        let schema = definition.output.as_ref().unwrap();
        let validator = jsonschema::validator_for(schema).unwrap();
        let broken: Vec<String> = validator
            .iter_errors(&answer)
            .map(|e| e.to_string())
            .collect();
        assert!(broken.is_empty(), "{tool}: {broken:?} in {answer:#}");
        let known = &schema["properties"];
        for field in answer.as_object().unwrap().keys() {
            assert!(
                known.get(field).is_some(),
                "{tool}: {field} is not in its schema"
            );
        }
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

    /// Creates a task and returns its id.
    pub async fn task(&self, title: &str) -> String {
        let made = self.ok("create_task", json!({ "title": title })).await;
        made["task_id"].as_str().unwrap().to_owned()
    }

    pub async fn adr(&self, title: &str) -> i64 {
        let made = self
            .ok(
                "create_adr",
                json!({ "title": title, "context": "c", "decision": "d", "rationale": "r" }),
            )
            .await;
        made["adr_number"].as_i64().unwrap()
    }
}

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
    let details = json!({ "field": field, "value": broken.instance() });
    Err(match rule {
        Some(rule) => Error::new(rule.code, rule.message).details(details),
        None => Error::new(kit::error::INVALID_ARGUMENT, broken.to_string()).details(details),
    })
}

pub fn details(error: &Error) -> Value {
    error.details.clone().unwrap_or(Value::Null)
}
