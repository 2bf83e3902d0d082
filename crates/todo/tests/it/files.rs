//! The files on disk, and changes to them by others.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::MetadataExt as _,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::project::{READ_AND_WRITE, TestProject, rows};

#[tokio::test]
async fn only_expected_files_are_created() {
    let project = TestProject::bare();
    project.task("a").await;
    project.adr("x").await;
    let mut names: Vec<String> = Vec::new();
    let mut open = vec![project.root.clone()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(&project.root).unwrap();
                names.push(name.to_str().unwrap().to_owned());
            }
        }
    }
    names.sort();
    // One for each change, so that it can be undone.
    let changes = names.extract_if(.., |name| name.starts_with(".todo/.changes/"));
    assert_eq!(changes.count(), 2);
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
async fn a_change_on_disk_is_visible_at_once() {
    let project = TestProject::with("- [ ] a #T001\n");
    for round in 0..50 {
        let (text, status) = match round % 2 {
            0 => ("- [x] a #T001\n", "done"),
            _ => ("- [-] a #T001\n", "in_progress"),
        };
        // Written in place, as some editors do, with the same length.
        fs::write(project.path("task.md"), text).unwrap();
        let listed = project.list().await;
        assert_eq!(listed["tasks"][0]["status"], status, "round {round}");
    }
}

#[tokio::test]
async fn a_write_is_never_based_on_a_stale_read() {
    let project = TestProject::with("- [ ] a #T001\n");
    for round in 1..20 {
        let text = format!("- [ ] a #T001\n\nround {round}\n");
        project.put("task.md", &text);
        project.set_status("T001", "done").await;
        assert_eq!(project.tasks(), text.replace("[ ]", "[x]"));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn symbolic_links_within_the_project_are_followed_and_kept() {
    let project = TestProject::bare();
    fs::create_dir_all(project.root.join("docs")).unwrap();
    fs::create_dir_all(project.root.join(".todo")).unwrap();
    fs::write(project.root.join("docs/board.md"), "- [ ] a #T001\n").unwrap();
    std::os::unix::fs::symlink("../docs/board.md", project.path("task.md")).unwrap();
    project.set_status("T001", "done").await;
    let text = fs::read_to_string(project.root.join("docs/board.md"));
    assert_eq!(text.unwrap(), "- [x] a #T001\n");
    let metadata = fs::symlink_metadata(project.path("task.md")).unwrap();
    assert!(metadata.is_symlink());
}

#[tokio::test]
async fn the_interrupted_change_of_a_killed_process_is_finished() {
    let project = TestProject::with("- [ ] a #T001\n- [ ] b #T002\n");
    project.put("context/T001.md", "old");
    let steps = json!([
        {"name": "task.md", "before": "- [ ] a #T001\n- [ ] b #T002\n", "after": "- [x] a #T001\n- [ ] b #T002\n"},
        {"name": "context/T001.md", "before": "old", "after": "new"},
        {"name": "context/T002.md", "before": "something else", "after": "never"},
        {"name": "../escape.md", "before": null, "after": "no"}
    ]);
    project.put(".journal", steps.to_string());
    project.put("context/.madoguchi-1-1.tmp", "half");
    project.set_status("T002", "done").await;
    assert_eq!(project.tasks(), "- [x] a #T001\n- [x] b #T002\n");
    assert_eq!(project.text("context/T001.md"), "new");
    for gone in [
        ".journal",
        "context/.madoguchi-1-1.tmp",
        "context/T002.md",
        "../escape.md",
    ] {
        assert!(!project.exists(gone), "{gone}");
    }
}

#[tokio::test]
async fn number_items_writes_ids_at_once() {
    let project = TestProject::with("- [ ] a\n- [ ] b #T004\n");
    let settings = todo::Settings {
        number_items: true,
        ..crate::project::settings(&project.root)
    };
    let counter = todo::counter(settings);
    let background = counter.background.as_ref().unwrap();
    background.start(std::sync::Arc::new(|_| {}));
    let becomes = async |wanted: &str| {
        for _ in 0..3_000 {
            if project.tasks() == wanted {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(project.tasks(), wanted);
    };
    becomes("- [ ] a #T005\n- [ ] b #T004\n").await;
    project.put("task.md", project.tasks() + "- [ ] c\n");
    becomes("- [ ] a #T005\n- [ ] b #T004\n- [ ] c #T006\n").await;
    background.stop().await;
}

/// An editor truncates a file, pauses, and rewrites it. The state in between
/// must not be read.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn reads_wait_for_a_file_that_is_being_written() {
    let project = TestProject::with("- [ ] One #T001\n");
    project.list().await;
    // Reads wait only a second for the next part, and a busy machine may take longer.
    let mut was_quick = false;
    while !was_quick {
        let mut editor = fs::File::create(project.path("task.md")).unwrap();
        let began = Instant::now();
        let writing = thread::spawn(move || {
            thread::sleep(Duration::from_millis(250));
            editor.write_all(b"- [ ] One #T001\n- [ ] Tw").unwrap();
            thread::sleep(Duration::from_millis(60));
            editor.write_all(b"o #T002\n").unwrap();
            began.elapsed() < Duration::from_millis(900)
        });
        let listed = project.list().await;
        was_quick = writing.join().unwrap();
        if was_quick {
            assert_eq!(listed["total_count"], 2, "{listed:#}");
            assert_eq!(listed["tasks"][1]["title"], "Two");
        }
    }
    assert_eq!(project.task("Three").await, "T003");
}

/// A program opened the file before it was replaced, and writes afterwards.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn text_written_into_a_replaced_file_is_kept() {
    let project = TestProject::with("# Task\n\n- [ ] One #T001\n\n## Notes\n");
    let (mut round, mut notes) = (0, String::new());
    while round < 3 {
        let path = project.path("task.md");
        let mut late = fs::File::options().append(true).open(&path).unwrap();
        let writing = thread::spawn(move || {
            let opened = late.metadata().unwrap().ino();
            while fs::metadata(&path).unwrap().ino() == opened {
                thread::sleep(Duration::from_millis(1));
            }
            let replaced = Instant::now();
            thread::sleep(Duration::from_millis(50));
            writeln!(late, "note {round}").unwrap();
            replaced.elapsed()
        });
        let status = ["in_progress", "done", "todo"][round];
        project.set_status("T001", status).await;
        // Writers have a second, and a busy machine may take longer.
        if writing.join().unwrap() > Duration::from_millis(500) {
            continue;
        }
        notes.push_str(&format!("note {round}\n"));
        let text = project.tasks();
        assert!(text.contains(&notes), "{text}");
        round += 1;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_place_of_a_file_does_not_block() {
    let project = TestProject::bare();
    fs::create_dir(project.path("")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(project.path("task.md"))
        .status();
    assert!(made.unwrap().success());
    for ([tool], arguments) in rows(READ_AND_WRITE) {
        let code = project.code(tool, arguments).await;
        assert_eq!(code, "FILE_READ_ERROR", "{tool}");
    }
}

#[tokio::test]
async fn a_file_in_place_of_the_directory_is_an_error() {
    let project = TestProject::bare();
    fs::write(project.root.join(".todo"), "x").unwrap();
    let calls = r#"
list_tasks {}
list_adrs {}
search_contexts {"query": "x"}
create_task {"title": "x"}
"#;
    for ([tool], arguments) in rows(calls) {
        let code = project.code(tool, arguments).await;
        assert_eq!(code, "FILE_READ_ERROR", "{tool}");
    }
    assert_eq!(fs::read(project.root.join(".todo")).unwrap(), b"x");
}
