//! What is on disk, and what happens when it changes under our feet.

use std::{fs, io::Write as _, os::unix::fs::MetadataExt as _, thread, time::Duration};

use serde_json::json;

use crate::yard::Yard;

#[tokio::test]
async fn only_what_belongs_there() {
    let yard = Yard::bare();
    yard.task("a").await;
    yard.adr("x").await;
    let mut names: Vec<String> = Vec::new();
    let mut open = vec![yard.root.clone()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                names.push(
                    path.strip_prefix(&yard.root)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    names.sort();
    assert_eq!(
        names,
        [
            ".todo/.numbers",
            ".todo/adr/adr-001-x.md",
            ".todo/context/T001.md",
            ".todo/index.md",
            ".todo/task.md"
        ]
    );
}

#[tokio::test]
async fn a_change_on_disk_is_seen_at_once() {
    let yard = Yard::with("- [ ] a #T001\n");
    for round in 0..50 {
        let (text, status) = match round % 2 {
            0 => ("- [x] a #T001\n", "done"),
            _ => ("- [-] a #T001\n", "in_progress"),
        };
        // Written in place, as some editors do: same file, same length.
        fs::write(yard.path("task.md"), text).unwrap();
        let listed = yard.ok("list_tasks", json!({})).await;
        assert_eq!(listed["tasks"][0]["status"], status, "round {round}");
    }
}

#[tokio::test]
async fn a_write_is_never_based_on_a_stale_read() {
    let yard = Yard::with("- [ ] a #T001\n");
    for round in 1..20 {
        let text = format!("- [ ] a #T001\n\nround {round}\n");
        yard.put("task.md", &text);
        yard.ok("update_task", json!({"task_id": "T001", "status": "done"}))
            .await;
        assert_eq!(yard.tasks(), text.replace("[ ]", "[x]"));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_within_the_project_are_followed_and_stay() {
    let yard = Yard::bare();
    fs::create_dir_all(yard.root.join("docs")).unwrap();
    fs::create_dir_all(yard.root.join(".todo")).unwrap();
    fs::write(yard.root.join("docs/board.md"), "- [ ] a #T001\n").unwrap();
    std::os::unix::fs::symlink("../docs/board.md", yard.path("task.md")).unwrap();
    yard.ok("update_task", json!({"task_id": "T001", "status": "done"}))
        .await;
    assert_eq!(
        fs::read_to_string(yard.root.join("docs/board.md")).unwrap(),
        "- [x] a #T001\n"
    );
    assert!(
        fs::symlink_metadata(yard.path("task.md"))
            .unwrap()
            .is_symlink()
    );
}

#[tokio::test]
async fn what_a_killed_process_left_is_finished_and_cleared_up() {
    let yard = Yard::with("- [ ] a #T001\n- [ ] b #T002\n");
    yard.put("context/T001.md", "old");
    let steps = json!([
        {"name": "task.md", "before": "- [ ] a #T001\n- [ ] b #T002\n", "after": "- [x] a #T001\n- [ ] b #T002\n"},
        {"name": "context/T001.md", "before": "old", "after": "new"},
        {"name": "context/T002.md", "before": "something else", "after": "never"},
        {"name": "../escape.md", "before": null, "after": "no"}
    ]);
    yard.put(".journal", steps.to_string());
    yard.put("context/.madoguchi-1-1.tmp", "half");
    yard.ok("update_task", json!({"task_id": "T002", "status": "done"}))
        .await;
    assert_eq!(yard.tasks(), "- [x] a #T001\n- [x] b #T002\n");
    assert_eq!(yard.text("context/T001.md"), "new");
    for gone in [
        ".journal",
        "context/.madoguchi-1-1.tmp",
        "context/T002.md",
        "../escape.md",
    ] {
        assert!(!yard.exists(gone), "{gone}");
    }
}

#[tokio::test]
async fn numbers_are_given_at_once_when_set_so() {
    let yard = Yard::with("- [ ] a\n- [ ] b #T004\n");
    let settings = todo::Settings {
        number_items: true,
        ..crate::yard::settings(&yard.root)
    };
    let counter = todo::counter(settings);
    let background = counter.background.as_ref().unwrap();
    background.start(std::sync::Arc::new(|_| {}));
    for _ in 0..200 {
        if yard.tasks() == "- [ ] a #T005\n- [ ] b #T004\n" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    yard.put("task.md", yard.tasks() + "- [ ] c\n");
    for _ in 0..200 {
        if yard.tasks().ends_with("c #T006\n") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    background.stop().await;
    assert_eq!(
        yard.tasks(),
        "- [ ] a #T005\n- [ ] b #T004\n- [ ] c #T006\n"
    );
}

/// An editor that empties a file, thinks, and writes it anew. What was there in
/// between was never meant to be read.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_being_written_is_waited_for() {
    let yard = Yard::with("- [ ] One #T001\n");
    yard.ok("list_tasks", json!({})).await;
    let mut editor = fs::File::create(yard.path("task.md")).unwrap();
    let writing = thread::spawn(move || {
        thread::sleep(Duration::from_millis(250));
        editor.write_all(b"- [ ] One #T001\n- [ ] Tw").unwrap();
        thread::sleep(Duration::from_millis(60));
        editor.write_all(b"o #T002\n").unwrap();
    });
    let listed = yard.ok("list_tasks", json!({})).await;
    assert_eq!(listed["total_count"], 2, "{listed:#}");
    assert_eq!(listed["tasks"][1]["title"], "Two");
    writing.join().unwrap();
    assert_eq!(yard.task("Three").await, "T003");
}

/// Whoever opened the file before it was replaced, and writes afterwards.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_into_a_replaced_file_is_kept() {
    let yard = Yard::with("# Task\n\n- [ ] One #T001\n\n## Notes\n");
    for round in 0..3 {
        let path = yard.path("task.md");
        let mut late = fs::File::options().append(true).open(&path).unwrap();
        let writing = thread::spawn(move || {
            let opened = late.metadata().unwrap().ino();
            while fs::metadata(&path).unwrap().ino() == opened {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(50));
            writeln!(late, "note {round}").unwrap();
        });
        let status = ["in_progress", "done", "todo"][round];
        yard.ok("update_task", json!({"task_id": "T001", "status": status}))
            .await;
        writing.join().unwrap();
        assert!(
            yard.tasks().contains(&format!("note {round}\n")),
            "{}",
            yard.tasks()
        );
    }
    assert_eq!(
        yard.tasks(),
        "# Task\n\n- [ ] One #T001\n\n## Notes\nnote 0\nnote 1\nnote 2\n"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let yard = Yard::bare();
    fs::create_dir(yard.path("")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(yard.path("task.md"))
        .status();
    assert!(made.unwrap().success());
    assert_eq!(yard.code("list_tasks", json!({})).await, "FILE_READ_ERROR");
    let create = json!({"title": "x"});
    assert_eq!(yard.code("create_task", create).await, "FILE_READ_ERROR");
}

#[tokio::test]
async fn a_file_in_the_place_of_the_directory_is_an_error() {
    let yard = Yard::bare();
    fs::write(yard.root.join(".todo"), "x").unwrap();
    for (tool, arguments) in [
        ("list_tasks", json!({})),
        ("list_adrs", json!({})),
        ("search_contexts", json!({"query": "x"})),
        ("create_task", json!({"title": "x"})),
    ] {
        assert_eq!(
            yard.code(tool, arguments).await,
            "FILE_READ_ERROR",
            "{tool}"
        );
    }
    assert_eq!(fs::read(yard.root.join(".todo")).unwrap(), b"x");
}
