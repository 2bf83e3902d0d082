//! Several processes and an editor work in one directory. The other processes
//! are this test program again.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Write,
    os::unix::fs::MetadataExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::project::TestProject;

const WORKERS: usize = 4;
const ROUNDS: usize = 15;

/// Starts the test `worker` below in another process.
pub fn spawn(role: &str, root: &Path, number: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::worker", "--nocapture"])
        .env("TODO_WORKER", role)
        .env("TODO_ROOT", root)
        .env("TODO_NUMBER", number.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// What `spawn` starts. As a test it is one agent in a project of its own.
#[tokio::test]
async fn worker() {
    let variable = |name: &str| std::env::var(name).ok();
    let project = match variable("TODO_ROOT") {
        Some(root) => TestProject::at(Path::new(&root)),
        None => TestProject::bare(),
    };
    let number = variable("TODO_NUMBER").map_or(0, |number| number.parse().unwrap());
    match variable("TODO_WORKER").as_deref() {
        Some("agent") => agent(&project, number).await,
        Some("victim") => crate::crash::victim(&project, number).await,
        Some(other) => panic!("{other}"),
        None => {
            agent(&project, number).await;
            check(&project, 1).await;
        }
    }
}

async fn agent(project: &TestProject, number: usize) {
    for round in 0..ROUNDS {
        let title = format!("w{number}-{round}");
        let new = json!({"title": title, "category": format!("C{number}")});
        let made = project.ok("create_task", new).await;
        let id = made["task_id"].as_str().unwrap();
        project.set_status(id, "done").await;
        let note = json!({"task_id": id, "content": title, "append": true});
        project.ok("update_context", note).await;
        if round % 5 == 0 {
            let up = json!({"task_id": id, "position": "first"});
            project.ok("reorder_task", up).await;
        }
    }
}

/// Checks that every change of every agent is present once.
async fn check(project: &TestProject, workers: usize) {
    let text = project.tasks();
    let mut ids = BTreeSet::new();
    for number in 0..workers {
        for round in 0..ROUNDS {
            let title = format!("w{number}-{round} ");
            let lines: Vec<&str> = text.lines().filter(|line| line.contains(&title)).collect();
            assert_eq!(lines.len(), 1, "{title} in {text}");
            assert!(lines[0].starts_with("- [x] "), "{}", lines[0]);
            let id = lines[0].split('#').nth(1).unwrap().to_owned();
            let context = project.text(&format!("context/{id}.md"));
            assert!(context.ends_with(&format!("\n{}\n", title.trim())));
            assert!(ids.insert(id));
        }
    }
    let listed = project.ok("list_tasks", json!({"limit": 1})).await;
    assert!(listed.get("warnings").is_none(), "{listed:#}");
    let leftovers: Vec<_> = fs::read_dir(project.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tmp") || name == ".journal")
        .collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

/// Whether all of them succeeded.
fn wait(children: Vec<Child>) -> bool {
    let mut well = true;
    for mut child in children {
        well &= child.wait().unwrap().success();
    }
    well
}

/// Saves a file as editors do, each time in another way. It holds the lock, so
/// that the editor does not overwrite changes that it has not seen.
fn edit(project: &TestProject, round: usize) {
    let lock = File::open(project.path("")).unwrap();
    lock.lock().unwrap();
    let text = project.tasks();
    let (_, rest) = text.split_once('\n').unwrap();
    let new = format!("<!-- saved {round} -->\n{rest}");
    match round % 3 {
        0 => project.put("task.md", &new),
        1 => {
            // Truncates the file, then writes it in two halves,
            // with pauses in which others can read it.
            let mut file = File::create(project.path("task.md")).unwrap();
            let (one, two) = new.as_bytes().split_at(new.len() / 2);
            thread::sleep(Duration::from_millis(40));
            file.write_all(one).unwrap();
            thread::sleep(Duration::from_millis(40));
            file.write_all(two).unwrap();
        }
        _ => {
            // Moves the file away, then creates it again.
            fs::rename(project.path("task.md"), project.path("task.md~")).unwrap();
            fs::write(project.path("task.md"), &new).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_and_an_editor_lose_nothing() {
    let project = TestProject::with("<!-- saved -->\n# Task\n\nprose stays\n");
    let children: Vec<Child> = (0..WORKERS)
        .map(|n| spawn("agent", &project.root, n))
        .collect();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1.. {
                edit(&project, round);
                thread::sleep(Duration::from_millis(15));
                if done.load(Ordering::Relaxed) {
                    fs::write(project.path("rounds"), round.to_string()).unwrap();
                    break;
                }
            }
        });
        scope.spawn(|| {
            // A reader never sees less than before.
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap();
            let reader = TestProject::at(&project.root);
            let mut seen = 0;
            while !done.load(Ordering::Relaxed) {
                let listed = runtime.block_on(reader.list());
                // There is no file for a moment.
                let count = listed["total_count"].as_u64().unwrap();
                assert!(count >= seen || count == 0, "{count} after {seen}");
                seen = seen.max(count);
            }
        });
        let well = wait(children);
        done.store(true, Ordering::Relaxed);
        assert!(well);
    });
    check(&project, WORKERS).await;
    let text = project.tasks();
    let rounds = project.text("rounds");
    assert!(
        text.starts_with(&format!("<!-- saved {rounds} -->\n# Task\n\nprose stays\n")),
        "{text}"
    );
}

/// Somebody appends without taking a lock: `echo note >> task.md`.
#[tokio::test(flavor = "multi_thread")]
async fn agents_keep_lines_that_others_append() {
    let project = TestProject::with("# Task\n");
    let children: Vec<Child> = (0..WORKERS)
        .map(|n| spawn("agent", &project.root, n))
        .collect();
    let mut notes = Vec::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut count, mut kept) = (0, Vec::new());
            while !done.load(Ordering::Relaxed) {
                let mut file = File::options()
                    .append(true)
                    .open(project.path("task.md"))
                    .unwrap();
                // A file that is replaced while it is being
                // opened cannot be detected. Any later, the
                // note has to be kept.
                let opened = Instant::now();
                let same = |file: &fs::Metadata| (file.dev(), file.ino());
                let now = fs::metadata(project.path("task.md")).unwrap();
                let is_same = same(&file.metadata().unwrap()) == same(&now);
                thread::sleep(Duration::from_millis(count % 4));
                writeln!(file, "\n## Notes {count}\n\nnote {count} end\n").unwrap();
                drop(file);
                // Agents wait a second for whoever has a replaced file open. A busy
                // machine may take longer between two of these lines.
                if is_same && opened.elapsed() < Duration::from_millis(500) {
                    kept.push(count);
                }
                count += 1;
                thread::sleep(Duration::from_millis(40));
            }
            kept
        });
        let well = wait(children);
        done.store(true, Ordering::Relaxed);
        notes = writer.join().unwrap();
        assert!(well);
    });
    check(&project, WORKERS).await;
    let text = project.tasks();
    for number in notes {
        assert!(
            text.contains(&format!("note {number} end\n")),
            "note {number} is lost"
        );
    }
}
