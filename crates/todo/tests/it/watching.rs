//! Changes by people and other processes are noticed.

use std::{
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};

use kit::context::Change;
use serde_json::json;

use crate::project::TestProject;

struct Watched {
    project: TestProject,
    heard: Arc<Mutex<Vec<Change>>>,
}

impl Watched {
    async fn start(project: TestProject) -> Self {
        let heard: Arc<Mutex<Vec<Change>>> = Arc::default();
        let ears = Arc::clone(&heard);
        let announce = Arc::new(move |change| ears.lock().unwrap().push(change));
        project.counter.background.as_ref().unwrap().start(announce);
        tokio::time::sleep(Duration::from_millis(100)).await;
        Self { project, heard }
    }

    /// Waits for this to be announced.
    async fn hear(&self, name: &str) {
        let wanted = Change::Resource(format!("file://.todo/{name}"));
        for _ in 0..3_000 {
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

    async fn stop(&self) {
        let background = self.project.counter.background.as_ref().unwrap();
        background.stop().await;
    }
}

#[tokio::test]
async fn every_kind_of_save_is_announced() {
    let watched = Watched::start(TestProject::with("- [ ] a #T001\n")).await;
    let project = &watched.project;
    watched.quiet().await;
    project.put("task.md", "- [x] a #T001\n");
    watched.hear("task.md").await;
    watched.hear("index.md").await;
    assert!(
        project.text("index.md").contains("| 0 | 0 | 1 | 0 |"),
        "the index follows"
    );
    watched.quiet().await;
    fs::write(project.path("task.md"), "- [-] a #T001\n").unwrap();
    watched.hear("task.md").await;
    project.put("context/T001.md", "x");
    watched.hear("context/T001.md").await;
    project.put("adr/adr-001-x.md", "# 1. x\n");
    watched.hear("adr/adr-001-x.md").await;
    assert!(watched.quiet().await.contains(&Change::ResourceList));
    fs::remove_file(project.path("context/T001.md")).unwrap();
    watched.hear("context/T001.md").await;
    assert!(watched.quiet().await.contains(&Change::ResourceList));
    watched.stop().await;
    project.put("task.md", "- [ ] a #T001\n");
    assert!(watched.quiet().await.is_empty());
}

#[tokio::test]
async fn own_calls_are_announced_once_and_calls_of_other_processes_too() {
    let watched = Watched::start(TestProject::with("- [ ] a #T001\n")).await;
    watched.quiet().await;
    watched.project.set_status("T001", "done").await;
    watched.project.task("x").await;
    let mut heard = watched.quiet().await;
    heard.retain(|change| matches!(change, Change::Resource(_)));
    assert!(heard.is_empty(), "{heard:?}");
    let other = TestProject::at(&watched.project.root);
    other.set_status("T001", "todo").await;
    watched.hear("task.md").await;
    watched.stop().await;
}

#[tokio::test]
async fn a_directory_created_later_is_watched_too() {
    let watched = Watched::start(TestProject::bare()).await;
    for (title, delete) in [("a", true), ("b", false), ("c", false)] {
        let text = format!("- [ ] {title} #T001\n");
        watched.project.put("task.md", text);
        watched.hear("task.md").await;
        watched.quiet().await;
        if delete {
            fs::remove_dir_all(watched.project.path("")).unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
            watched.quiet().await;
        }
    }
    watched.stop().await;
}

#[tokio::test]
async fn search_sees_watched_changes() {
    let watched = Watched::start(TestProject::with("")).await;
    let project = &watched.project;
    let count = async |query: &str| {
        let answer = project.ok("search_contexts", json!({"query": query})).await;
        answer["total_matches"].as_i64().unwrap()
    };
    project.put("notes/a.md", "alpha");
    assert_eq!(count("alpha").await, 1);
    for (text, query) in [("beta", "beta"), ("gamma", "gamma")] {
        project.put("notes/a.md", text);
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
    fs::create_dir_all(project.path("new")).unwrap();
    project.put("new/b.md", "delta");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(count("delta").await, 1);
    watched.stop().await;
}

/// By hand, in every way, in so many files that a search relies on reports.
#[tokio::test]
async fn a_search_finds_what_was_saved_right_before_it() {
    let project = TestProject::with("- [ ] a #T001\n");
    for number in 0..300 {
        project.put(&format!("notes/{number}.md"), "nothing");
    }
    let watched = Watched::start(project).await;
    let project = &watched.project;
    let count = async |word: &str| {
        let answer = project.ok("search", json!({ "query": word })).await;
        answer["total_matches"].as_u64().unwrap()
    };
    assert_eq!(count("nothing").await, 300);
    for round in 0..30 {
        let word = |kind: &str| format!("{kind}{round}x");
        fs::write(project.path("notes/1.md"), word("written")).unwrap();
        assert_eq!(count(&word("written")).await, 1, "{round}");
        fs::write(project.path("notes/.new"), word("renamed")).unwrap();
        fs::rename(project.path("notes/.new"), project.path("notes/2.md")).unwrap();
        assert_eq!(count(&word("renamed")).await, 1, "{round}");
        let folder = format!("more{round}/inside");
        project.put(&format!("{folder}/1.md"), word("folder"));
        assert_eq!(count(&word("folder")).await, 1, "{round}");
        project.put(&format!("{folder}/2.md"), word("folder"));
        assert_eq!(count(&word("folder")).await, 2, "{round}");
        fs::remove_dir_all(project.path(&format!("more{round}"))).unwrap();
        assert_eq!(count(&word("folder")).await, 0, "{round}");
        let text = json!({ "task_id": "T001", "content": word("tool") });
        project.ok("update_context", text).await;
        assert_eq!(count(&word("tool")).await, 1, "{round}");
    }
    watched.stop().await;
}
