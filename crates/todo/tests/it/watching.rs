//! What people and other processes write is noticed.

use std::{
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};

use kit::context::Change;
use serde_json::json;

use crate::yard::Yard;

struct Watched {
    yard: Yard,
    heard: Arc<Mutex<Vec<Change>>>,
}

impl Watched {
    async fn start(yard: Yard) -> Self {
        let heard: Arc<Mutex<Vec<Change>>> = Arc::default();
        let ears = Arc::clone(&heard);
        yard.counter
            .background
            .as_ref()
            .unwrap()
            .start(Arc::new(move |change| {
                ears.lock().unwrap().push(change);
            }));
        tokio::time::sleep(Duration::from_millis(100)).await;
        Self { yard, heard }
    }

    /// Waits for this to be announced.
    async fn hear(&self, name: &str) {
        let wanted = Change::Resource(format!("file://.todo/{name}"));
        for _ in 0..300 {
            if self.heard.lock().unwrap().contains(&wanted) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{name} was not announced: {:?}", self.heard.lock().unwrap());
    }

    async fn quiet(&self) -> Vec<Change> {
        tokio::time::sleep(Duration::from_millis(300)).await;
        std::mem::take(&mut *self.heard.lock().unwrap())
    }
}

#[tokio::test]
async fn saves_of_every_kind_are_announced() {
    let watched = Watched::start(Yard::with("- [ ] a #T001\n")).await;
    let yard = &watched.yard;
    watched.quiet().await;
    yard.put("task.md", "- [x] a #T001\n");
    watched.hear("task.md").await;
    watched.hear("index.md").await;
    assert!(
        yard.text("index.md").contains("| 0 | 0 | 1 | 0 |"),
        "the index follows"
    );
    watched.quiet().await;
    fs::write(yard.path("task.md"), "- [-] a #T001\n").unwrap();
    watched.hear("task.md").await;
    yard.put("context/T001.md", "x");
    watched.hear("context/T001.md").await;
    yard.put("adr/adr-001-x.md", "# 1. x\n");
    watched.hear("adr/adr-001-x.md").await;
    assert!(watched.quiet().await.contains(&Change::ResourceList));
    fs::remove_file(yard.path("context/T001.md")).unwrap();
    watched.hear("context/T001.md").await;
    assert!(watched.quiet().await.contains(&Change::ResourceList));
    yard.counter.background.as_ref().unwrap().stop().await;
    yard.put("task.md", "- [ ] a #T001\n");
    assert!(watched.quiet().await.is_empty());
}

#[tokio::test]
async fn a_call_is_not_announced_twice_and_others_calls_are() {
    let watched = Watched::start(Yard::with("- [ ] a #T001\n")).await;
    watched.quiet().await;
    watched
        .yard
        .ok("update_task", json!({"task_id": "T001", "status": "done"}))
        .await;
    watched.yard.ok("create_task", json!({"title": "x"})).await;
    let heard = watched.quiet().await;
    let resources: Vec<&Change> = heard
        .iter()
        .filter(|change| matches!(change, Change::Resource(_)))
        .collect();
    assert!(resources.is_empty(), "{resources:?}");
    let other = Yard::at(&watched.yard.root);
    other
        .ok("update_task", json!({"task_id": "T001", "status": "todo"}))
        .await;
    watched.hear("task.md").await;
    watched
        .yard
        .counter
        .background
        .as_ref()
        .unwrap()
        .stop()
        .await;
}

#[tokio::test]
async fn a_directory_that_comes_later_is_watched_too() {
    let watched = Watched::start(Yard::bare()).await;
    watched.yard.put("task.md", "- [ ] a #T001\n");
    watched.hear("task.md").await;
    watched.quiet().await;
    fs::remove_dir_all(watched.yard.path("")).unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    watched.quiet().await;
    watched.yard.put("task.md", "- [ ] b #T001\n");
    watched.hear("task.md").await;
    watched.quiet().await;
    watched.yard.put("task.md", "- [ ] c #T001\n");
    watched.hear("task.md").await;
    watched
        .yard
        .counter
        .background
        .as_ref()
        .unwrap()
        .stop()
        .await;
}

#[tokio::test]
async fn search_follows_what_is_watched() {
    let watched = Watched::start(Yard::with("")).await;
    let yard = &watched.yard;
    let count = async |query: &str| {
        let answer = yard.ok("search_contexts", json!({"query": query})).await;
        answer["total_matches"].as_i64().unwrap()
    };
    yard.put("notes/a.md", "alpha");
    assert_eq!(count("alpha").await, 1);
    for (text, query) in [("beta", "beta"), ("gamma", "gamma")] {
        yard.put("notes/a.md", text);
        let mut seen = 0;
        for _ in 0..200 {
            seen = count(query).await;
            if seen == 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(seen, 1, "{query}");
    }
    fs::create_dir_all(yard.path("new")).unwrap();
    yard.put("new/b.md", "delta");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(count("delta").await, 1);
    yard.counter.background.as_ref().unwrap().stop().await;
}
