//! A project for a test: a new directory, and a clock fixed at ten in the
//! morning.

use std::{
    fs,
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
};

use kit::{Caller, testing::Harness};
use serde_json::{Value, json};
use tempfile::TempDir;

pub const TEN_O_CLOCK: &str = "2026-11-15T10:00:00+09:00";

pub struct TestProject {
    harness: Harness,
    pub root: PathBuf,
    /// Deleted when dropped.
    _directory: Option<TempDir>,
}

impl Deref for TestProject {
    type Target = Harness;

    fn deref(&self) -> &Harness {
        &self.harness
    }
}

impl DerefMut for TestProject {
    fn deref_mut(&mut self) -> &mut Harness {
        &mut self.harness
    }
}

pub fn settings(root: &Path) -> todo::Settings {
    todo::Settings {
        root: root.to_str().unwrap().into(),
        time_zone: "Asia/Tokyo".into(),
        ..todo::Settings::default()
    }
}

impl TestProject {
    /// A project without a `.todo/`.
    pub fn bare() -> Self {
        let directory = TempDir::new().unwrap();
        let root = directory.path().canonicalize().unwrap();
        Self {
            _directory: Some(directory),
            ..Self::at(&root)
        }
    }

    /// The same project as another process would open it.
    pub fn at(root: &Path) -> Self {
        let mut harness = Harness::new(todo::counter(settings(root)), TEN_O_CLOCK);
        harness.allows_unlisted_fields = true;
        Self {
            harness,
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

    /// Another caller of the same process.
    pub fn other_caller(&self) -> Harness {
        self.for_caller(Caller::new("other", "other"))
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

    /// Creates a task and returns its id.
    pub async fn task(&self, title: &str) -> String {
        let made = self.ok("create_task", json!({ "title": title })).await;
        made["task_id"].as_str().unwrap().to_owned()
    }

    pub async fn set_status(&self, id: &str, status: &str) -> Value {
        let change = json!({ "task_id": id, "status": status });
        self.ok("update_task", change).await
    }

    pub async fn delete(&self, id: &str) -> Value {
        self.ok("delete_task", json!({ "task_id": id })).await
    }

    /// All tasks as `list_tasks` answers them.
    pub async fn list(&self) -> Value {
        self.ok("list_tasks", json!({})).await
    }

    pub async fn adr(&self, title: &str) -> i64 {
        let made = self.ok("create_adr", adr(title)).await;
        made["adr_number"].as_i64().unwrap()
    }
}

/// A call that reads and one that writes.
pub const READ_AND_WRITE: &str = r#"
list_tasks {}
create_task {"title": "x"}
"#;

/// The arguments of `create_adr`.
pub fn adr(title: &str) -> Value {
    json!({ "title": title, "context": "c", "decision": "d", "rationale": "r" })
}

/// The rows of a table: some words, then JSON.
pub fn rows<const N: usize>(table: &str) -> impl Iterator<Item = ([&str; N], Value)> {
    let lines = table.lines().filter(|line| !line.is_empty());
    lines.map(|line| {
        let mut parts = line.splitn(N + 1, ' ');
        let words = std::array::from_fn(|_| parts.next().unwrap());
        (words, serde_json::from_str(parts.next().unwrap()).unwrap())
    })
}

/// One field of each item of a list; `-` where it is missing.
pub fn column(items: &Value, field: &str) -> Vec<String> {
    let items = items.as_array().unwrap().iter();
    items
        .map(|item| item[field].as_str().unwrap_or("-").to_owned())
        .collect()
}
