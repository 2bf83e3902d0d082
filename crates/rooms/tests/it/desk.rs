//! A counter on a directory of its own, called as the desk calls it: normalised,
//! held against the published schema, run, and the answer held against its schema.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use kit::{
    BoxFuture, Caller, Context, Counter, Error, Result,
    context::{ClientRequest, NoClient},
    time::Clock,
};
use rooms::Settings;
use serde_json::{Value, json};

pub struct Desk {
    pub counter: Counter,
    pub clock: Clock,
    pub path: PathBuf,
    _directory: Option<Away>,
}

/// A directory that goes away even while counts are still being written into it.
struct Away(tempfile::TempDir);

impl Drop for Away {
    fn drop(&mut self) {
        for _ in 0..50 {
            let _ = std::fs::remove_dir_all(self.0.path());
            if !self.0.path().exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

pub fn settings(path: &Path) -> Settings {
    Settings {
        data_dir: path.to_owned(),
        sends_per_minute: 0,
        ..Settings::default()
    }
}

impl Desk {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// A desk on a new directory.
    pub fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut desk = Self::at(&directory.path().join("data"), change);
        desk._directory = Some(Away(directory));
        desk
    }

    /// Another desk on a directory that is there already.
    pub fn at(path: &Path, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = settings(path);
        change(&mut settings);
        Self {
            counter: rooms::counter(settings),
            clock: Clock::system(),
            path: path.to_owned(),
            _directory: None,
        }
    }

    pub fn beside(&self) -> Self {
        Self::at(&self.path, |_| {})
    }

    pub fn context(&self) -> Context {
        Context::of_the_desk(self.clock.clone())
    }

    /// Of a call over a network: with a key of this id, or without any.
    pub fn remote(&self, key: Option<&str>) -> Context {
        let caller = match key {
            Some(id) => Caller::with_key(id, &format!("{id}'s owner")),
            None => Caller::anonymous(),
        };
        Context::new(caller, self.clock.clone(), Arc::new(NoClient))
    }

    /// The code with which a call over a network is refused, or `ok`.
    pub async fn outcome(&self, key: Option<&str>, tool: &str, arguments: Value) -> String {
        match self.call_in(&self.remote(key), tool, arguments).await {
            Ok(_) => "ok".to_owned(),
            Err(error) => {
                assert!(error.next.is_some(), "{error} says no next step");
                error.code.into_owned()
            }
        }
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value> {
        self.call_in(&self.context(), tool, arguments).await
    }

    pub async fn call_in(&self, context: &Context, tool: &str, arguments: Value) -> Result<Value> {
        let definition = self.counter.tool(tool).unwrap();
        let mut tidied = arguments.clone();
        definition.normalised(context, tidied.as_object_mut().unwrap());
        validate(definition, &tidied)?;
        let answer = kit::testing::call(&self.counter, context, tool, arguments).await?;
        let output = jsonschema::validator_for(definition.output.as_ref().unwrap()).unwrap();
        if let Err(error) = output.validate(&answer) {
            panic!("{tool} broke its output schema: {error}\n{answer}");
        }
        Ok(answer)
    }

    pub async fn ok(&self, tool: &str, arguments: Value) -> Value {
        match self.call(tool, arguments).await {
            Ok(answer) => answer,
            Err(error) => panic!("{tool}: {error} {:?}", error.cause),
        }
    }

    /// The code of the refusal.
    pub async fn no(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments).await {
            Ok(answer) => panic!("{tool} answered {answer}"),
            Err(error) => {
                assert!(error.next.is_some(), "{error} says no next step");
                error.code.into_owned()
            }
        }
    }

    pub async fn create(&self, room: &str) {
        self.ok("create_room", json!({"roomName": room})).await;
    }

    pub async fn enter(&self, room: &str, agent: &str) -> Value {
        let arguments = json!({"roomName": room, "agentName": agent});
        self.ok("enter_room", arguments).await
    }

    /// A room with these agents in it.
    pub async fn room(&self, room: &str, agents: &[&str]) {
        self.create(room).await;
        for agent in agents {
            self.enter(room, agent).await;
        }
    }

    /// Ends what goes on in the background: until the next change nothing but
    /// the test writes to the files. All agents are offline then.
    pub async fn settle(&self) {
        self.counter.background.as_ref().unwrap().stop().await;
    }

    /// Returns the id.
    pub async fn send(&self, room: &str, agent: &str, message: &str) -> String {
        let arguments = json!({"roomName": room, "agentName": agent, "message": message});
        let answer = self.ok("send_message", arguments).await;
        answer["messageId"].as_str().unwrap().to_owned()
    }

    /// The texts of a page, newest first.
    pub async fn texts(&self, room: &str, more: Value) -> Vec<String> {
        let mut arguments = json!({"roomName": room});
        let object = arguments.as_object_mut().unwrap();
        object.extend(more.as_object().unwrap().clone());
        texts(&self.ok("get_messages", arguments).await)
    }

    pub async fn count(&self, room: &str) -> u64 {
        let status = self.ok("get_status", json!({"roomName": room})).await;
        status["totalMessages"].as_u64().unwrap()
    }

    /// What `get_status` says is wrong with the files.
    pub async fn warnings(&self) -> String {
        self.ok("get_status", json!({})).await["warnings"].to_string()
    }

    pub async fn status_of(&self, room: &str, agent: &str) -> Option<String> {
        let answer = self.ok("list_room_users", json!({"roomName": room})).await;
        let users = answer["users"].as_array().unwrap();
        let user = users.iter().find(|user| user["name"] == agent)?;
        user["status"].as_str().map(str::to_owned)
    }

    pub fn file(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.file(path)).unwrap()
    }

    pub fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    /// The files in a folder whose names begin so.
    pub fn files_like(&self, folder: &str, prefix: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.file(folder)).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(prefix)).collect()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.file(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn lines(&self, path: &str) -> Vec<Value> {
        let text = self.read(path);
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

pub fn texts(answer: &Value) -> Vec<String> {
    let messages = answer["messages"].as_array().unwrap();
    let text = |message: &Value| message["message"].as_str().unwrap().to_owned();
    messages.iter().map(text).collect()
}

fn validate(tool: &kit::Tool, arguments: &Value) -> Result<()> {
    let validator = jsonschema::validator_for(&tool.input).unwrap();
    let Some(error) = validator.iter_errors(arguments).next() else {
        return Ok(());
    };
    let path = error.instance_path().to_string();
    let keyword = error.kind().keyword();
    let field = match error.kind() {
        jsonschema::error::ValidationErrorKind::Required { property } => {
            property.as_str().unwrap().to_owned()
        }
        _ => path.split('/').nth(1).unwrap_or_default().to_owned(),
    };
    let rule = tool
        .rules
        .iter()
        .find(|rule| rule.field == field && (rule.keyword == keyword || rule.keyword == "*"));
    let code = rule.map_or("INVALID_ARGUMENT", |rule| rule.code);
    Err(Error::new(code, error.to_string()).next("See the input schema."))
}

/// A client that notes the progress it is told.
#[derive(Default)]
pub struct Listener {
    pub heard: Mutex<Vec<String>>,
}

impl Listener {
    pub fn context(self: &Arc<Self>) -> Context {
        let client: Arc<Self> = Arc::clone(self);
        Context::new(kit::Caller::local_user(), Clock::system(), client)
    }
}

impl kit::context::Client for Listener {
    fn progress<'a>(
        &'a self,
        _: f64,
        _: Option<f64>,
        message: Option<String>,
    ) -> BoxFuture<'a, ()> {
        self.heard.lock().unwrap().push(message.unwrap_or_default());
        Box::pin(std::future::ready(()))
    }

    fn log<'a>(&'a self, _: &'a str, _: Value) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn request<'a>(&'a self, _: ClientRequest) -> BoxFuture<'a, Result<Value>> {
        Box::pin(std::future::ready(Err(Error::cancelled())))
    }

    fn is_stateless(&self) -> bool {
        false
    }

    fn capabilities(&self) -> Value {
        Value::Null
    }

    fn input(&self, _: &str) -> Option<Value> {
        None
    }

    fn state(&self) -> Option<String> {
        None
    }
}
