//! A counter on a directory of its own, called as the desk calls it, and the
//! arguments that many calls share. In `on_sql` the same desk keeps its rooms in a
//! database.

#![allow(
    dead_code,
    reason = "the tests on files and those in `on_sql` use parts of it"
)]

use std::{
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use kit::{
    BoxFuture, Caller, Context, Error, Store,
    context::{Client, NoClient},
    testing::Harness,
    time::Clock,
};
use rooms::Settings;
use serde_json::{Value, json};

use crate::database::TestDatabase;

pub fn room(room: &str) -> Value {
    json!({"roomName": room})
}

pub fn member(room: &str, agent: &str) -> Value {
    json!({"roomName": room, "agentName": agent})
}

pub fn message(room: &str, agent: &str, text: &str) -> Value {
    json!({"roomName": room, "agentName": agent, "message": text})
}

pub fn confirmed(room: &str) -> Value {
    json!({"roomName": room, "confirm": true})
}

/// Arguments with some more.
pub fn with(mut arguments: Value, more: Value) -> Value {
    let Value::Object(more) = more else {
        panic!("{more} is not an object");
    };
    arguments.as_object_mut().unwrap().extend(more);
    arguments
}

pub struct Desk {
    harness: Harness,
    pub path: PathBuf,
    pub settings: Settings,
    database: Option<TestDatabase>,
    _directory: Option<TestDirectory>,
}

/// Whether rooms are kept in files here.
pub fn in_files() -> bool {
    !module_path!().contains("on_sql")
}

impl Deref for Desk {
    type Target = Harness;

    fn deref(&self) -> &Harness {
        &self.harness
    }
}

impl DerefMut for Desk {
    fn deref_mut(&mut self) -> &mut Harness {
        &mut self.harness
    }
}

/// A directory that is removed even while counts are still being written into it.
struct TestDirectory(tempfile::TempDir);

impl Drop for TestDirectory {
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

impl Desk {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// A desk on a new directory.
    pub fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let desk = Self::on_files(change);
        match in_files() {
            true => desk,
            false => desk.on_database(TestDatabase::new()),
        }
    }

    /// A desk on a new directory, wherever rooms are kept here.
    pub fn on_files(change: impl FnOnce(&mut Settings)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut desk = Self::at(&directory.path().join("data"), change);
        desk._directory = Some(TestDirectory(directory));
        desk
    }

    /// The same rooms as these, which are in files, where they are kept here.
    pub async fn moved_here(self) -> Self {
        if in_files() {
            return self;
        }
        self.settle().await;
        let database = TestDatabase::new();
        let store = Arc::clone(&database.store);
        rooms::copy_to_database(&self.settings, store, false)
            .await
            .unwrap();
        self.on_database(database)
    }

    /// This desk with its rooms in a database.
    fn on_database(mut self, database: TestDatabase) -> Self {
        let store = Arc::clone(&database.store);
        let counter = rooms::counter(self.settings.clone(), Some(store));
        let context = self.harness.context.clone();
        self.harness = Harness::new(counter, "2026-11-15T09:00:00Z");
        self.harness.context = context;
        self.database = Some(database);
        self
    }

    /// One whose clock stands at `time`.
    pub fn at_time(time: &str, change: impl FnOnce(&mut Settings)) -> Self {
        let mut desk = Self::with(change);
        desk.context.clock = Clock::fixed(time.parse().unwrap());
        desk
    }

    /// Another desk on a directory that is there already.
    pub fn at(path: &Path, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings {
            data_dir: path.to_owned(),
            sends_per_minute: 0,
            // A slow machine holds locks for long.
            lock_timeout_ms: 60_000,
            ..Settings::default()
        };
        change(&mut settings);
        let counter = rooms::counter(settings.clone(), None);
        let mut harness = Harness::new(counter, "2026-11-15T09:00:00Z");
        harness.context = Context::of_the_desk(Clock::system());
        Self {
            harness,
            path: path.to_owned(),
            settings,
            database: None,
            _directory: None,
        }
    }

    pub fn store_of_rooms(&self) -> Arc<dyn Store> {
        Arc::clone(&self.database.as_ref().unwrap().store)
    }

    /// Another desk on these rooms, with the same clock.
    pub fn beside(&self) -> Self {
        self.beside_with(|_| {})
    }

    /// The same with other settings.
    pub fn beside_with(&self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut beside = Self::at(&self.path, change);
        beside.context.clock = self.context.clock.clone();
        match &self.database {
            Some(database) => beside.on_database(database.clone()),
            None => beside,
        }
    }

    /// A context of its own, to cancel or to see what a call changed.
    pub fn new_context(&self) -> Context {
        Context::of_the_desk(self.context.clock.clone())
    }

    /// Of a call over a network: with a key of this id, or without any.
    pub fn remote(&self, key: Option<&str>) -> Context {
        let caller = match key {
            Some(id) => Caller::with_key(id, &format!("{id}'s owner")),
            None => Caller::anonymous(),
        };
        Context::new(caller, self.context.clock.clone(), Arc::new(NoClient))
    }

    /// The code with which a call over a network is refused, or `ok`.
    pub async fn outcome(&self, key: Option<&str>, tool: &str, arguments: Value) -> String {
        match self.call_as(&self.remote(key), tool, arguments).await {
            Ok(_) => "ok".to_owned(),
            Err(error) => {
                assert!(error.next.is_some(), "{error} has no next step");
                error.code.into_owned()
            }
        }
    }

    /// Asserts that a call is refused with this code, and what to do next. Returns
    /// the error.
    pub async fn refuses(&self, tool: &str, arguments: Value, code: &str) -> Error {
        let error = self.refused(tool, arguments.clone()).await;
        assert_eq!(error.code, code, "{tool} {arguments:.100}: {error}");
        assert!(error.next.is_some(), "{error} has no next step");
        error
    }

    pub async fn create(&self, name: &str) {
        self.ok("create_room", room(name)).await;
    }

    pub async fn delete(&self, room: &str) -> Value {
        self.ok("delete_room", confirmed(room)).await
    }

    pub async fn enter(&self, room: &str, agent: &str) -> Value {
        self.ok("enter_room", member(room, agent)).await
    }

    pub async fn leave(&self, room: &str, agent: &str) {
        self.ok("leave_room", member(room, agent)).await;
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
    pub async fn send(&self, room: &str, agent: &str, text: &str) -> String {
        let answer = self.ok("send_message", message(room, agent, text)).await;
        answer["messageId"].as_str().unwrap().to_owned()
    }

    /// The texts of a page, newest first.
    pub async fn texts(&self, name: &str, more: Value) -> Vec<String> {
        texts(&self.ok("get_messages", with(room(name), more)).await)
    }

    pub async fn count(&self, name: &str) -> u64 {
        let status = self.ok("get_status", room(name)).await;
        status["totalMessages"].as_u64().unwrap()
    }

    /// All rooms, or those of an agent.
    pub async fn rooms(&self, agent: Option<&str>) -> Vec<Value> {
        let answer = self.ok("list_rooms", json!({"agentName": agent})).await;
        answer["rooms"].as_array().unwrap().clone()
    }

    pub async fn users(&self, name: &str) -> Vec<Value> {
        let answer = self.ok("list_room_users", room(name)).await;
        answer["users"].as_array().unwrap().clone()
    }

    /// The names of a room's members, sorted.
    pub async fn members(&self, room: &str) -> Vec<String> {
        let users = self.users(room).await;
        let name = |user: &Value| user["name"].as_str().unwrap().to_owned();
        let mut names: Vec<String> = users.iter().map(name).collect();
        names.sort();
        names
    }

    /// What `get_status` says is wrong with the files.
    pub async fn warnings(&self) -> String {
        let status = self.ok("get_status", json!({})).await;
        status.get("warnings").unwrap_or(&json!([])).to_string()
    }

    /// Asserts that `get_status` warns of something.
    pub async fn warns_of(&self, what: &str) {
        let warnings = self.warnings().await;
        assert!(warnings.contains(what), "{what} is not in {warnings}");
    }

    /// Empty for somebody who is not a member.
    pub async fn status_of(&self, room: &str, agent: &str) -> String {
        let users = self.users(room).await;
        let user = users.iter().find(|user| user["name"] == agent);
        user.map_or("", |user| user["status"].as_str().unwrap())
            .to_owned()
    }

    /// Returns once `agent` waits for messages.
    pub async fn until_waiting(&self, room: &str, agent: &str) {
        while !is_waiting(&self.users(room).await, agent) {
            tokio::task::yield_now().await;
        }
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

    /// Changes a JSON file as another program would.
    pub fn edit(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let mut value = self.json(path);
        change(&mut value);
        self.write(path, &value.to_string());
    }

    pub fn lines(&self, path: &str) -> Vec<Value> {
        let text = self.read(path);
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

pub fn is_waiting(users: &[Value], agent: &str) -> bool {
    let mut users = users.iter();
    users.any(|user| user["name"] == agent && user["waiting"] == true)
}

pub fn texts(answer: &Value) -> Vec<String> {
    let messages = answer["messages"].as_array().unwrap();
    let text = |message: &Value| message["message"].as_str().unwrap().to_owned();
    messages.iter().map(text).collect()
}

/// A room `a` with the ids of its messages m0 to m5, one each hour from 10:00 on, every
/// other one for `y`. The last one, `late`, has the time 11:30. Some are archived.
pub async fn hourly_messages() -> (Desk, Vec<String>) {
    let mut desk = Desk::on_files(|settings| {
        settings.max_messages = 3.try_into().unwrap();
    });
    desk.context.clock = Clock::fixed("2026-11-15T09:00:00Z".parse().unwrap());
    desk.room("a", &["x", "y"]).await;
    let mut ids = Vec::new();
    for n in 0..6 {
        desk.set_clock(&format!("2026-11-15T1{n}:00:00Z"));
        let mention = if n % 2 == 0 { " @y" } else { "" };
        ids.push(desk.send("a", "x", &format!("m{n}{mention}")).await);
    }
    let late =
        r#"{"id":"late","agentName":"x","message":"late","timestamp":"2026-11-15T11:30:00Z"}"#;
    let log = desk.read("rooms/a/messages.jsonl");
    desk.write("rooms/a/messages.jsonl", &format!("{log}{late}\n"));
    (desk.moved_here().await, ids)
}

/// Calls `done` until it returns `true`, for up to ten seconds.
pub async fn eventually(mut done: impl AsyncFnMut() -> bool) -> bool {
    for _ in 0..500 {
        if done().await {
            return true;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    false
}

/// A client that notes the progress it is told.
#[derive(Default)]
pub struct Listener {
    pub heard: Mutex<Vec<String>>,
}

impl Listener {
    pub fn context(self: &Arc<Self>) -> Context {
        let client: Arc<Self> = Arc::clone(self);
        Context::new(Caller::local_user(), Clock::system(), client)
    }
}

impl Client for Listener {
    fn progress<'a>(
        &'a self,
        _: f64,
        _: Option<f64>,
        message: Option<String>,
    ) -> BoxFuture<'a, ()> {
        self.heard.lock().unwrap().push(message.unwrap_or_default());
        Box::pin(std::future::ready(()))
    }
}
