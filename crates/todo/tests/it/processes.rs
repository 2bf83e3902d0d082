//! Several processes and an editor at once in one directory. The test's own
//! program plays the other processes.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Write,
    os::unix::fs::MetadataExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::json;

use crate::yard::{Yard, context};

const WORKERS: usize = 4;
const ROUNDS: usize = 15;

/// Starts the test `worker` below in a process of its own.
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

/// Not a test of its own: does nothing unless it was started by another.
#[tokio::test]
async fn worker() {
    let Ok(role) = std::env::var("TODO_WORKER") else {
        return;
    };
    let root = std::env::var("TODO_ROOT").unwrap();
    let number: usize = std::env::var("TODO_NUMBER").unwrap().parse().unwrap();
    let yard = Yard::at(Path::new(&root));
    match role.as_str() {
        "agent" => agent(&yard, number).await,
        "victim" => crate::crash::victim(&yard, number).await,
        other => panic!("{other}"),
    }
}

async fn agent(yard: &Yard, number: usize) {
    for round in 0..ROUNDS {
        let title = format!("w{number}-{round}");
        let made = yard
            .ok(
                "create_task",
                json!({"title": title, "category": format!("C{number}")}),
            )
            .await;
        let id = made["task_id"].clone();
        yard.ok("update_task", json!({"task_id": id, "status": "done"}))
            .await;
        yard.ok(
            "update_context",
            json!({"task_id": id, "content": title, "append": true}),
        )
        .await;
        if round % 5 == 0 {
            yard.ok("reorder_task", json!({"task_id": id, "position": "first"}))
                .await;
        }
    }
}

/// Everything every agent did is there, once.
async fn check(yard: &Yard) {
    let text = yard.tasks();
    let mut ids = BTreeSet::new();
    for number in 0..WORKERS {
        for round in 0..ROUNDS {
            let title = format!("w{number}-{round} ");
            let lines: Vec<&str> = text.lines().filter(|line| line.contains(&title)).collect();
            assert_eq!(lines.len(), 1, "{title} in {text}");
            assert!(lines[0].starts_with("- [x] "), "{}", lines[0]);
            let id = lines[0].split('#').nth(1).unwrap().to_owned();
            assert!(
                yard.text(&format!("context/{id}.md"))
                    .ends_with(&format!("\n{}\n", title.trim()))
            );
            assert!(ids.insert(id));
        }
    }
    let listed = yard.ok("list_tasks", json!({"limit": 1})).await;
    assert!(listed.get("warnings").is_none(), "{listed:#}");
    let leftovers: Vec<_> = fs::read_dir(yard.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tmp") || name == ".journal")
        .collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

/// Whether all of them did what they should.
fn wait(children: Vec<Child>) -> bool {
    let mut well = true;
    for mut child in children {
        well &= child.wait().unwrap().success();
    }
    well
}

/// Saves a file as editors do, each time in another way. It holds the lock, so
/// that it is not the editor who overwrites what it has not seen.
fn edit(yard: &Yard, round: usize) {
    let lock = File::open(yard.path("")).unwrap();
    lock.lock().unwrap();
    let text = yard.tasks();
    let (_, rest) = text.split_once('\n').unwrap();
    let new = format!("<!-- saved {round} -->\n{rest}");
    match round % 3 {
        0 => yard.put("task.md", &new),
        1 => {
            // Truncated, then written in two halves, with pauses in which others
            // have the time to look.
            let mut file = File::create(yard.path("task.md")).unwrap();
            let (one, two) = new.as_bytes().split_at(new.len() / 2);
            thread::sleep(Duration::from_millis(40));
            file.write_all(one).unwrap();
            thread::sleep(Duration::from_millis(40));
            file.write_all(two).unwrap();
        }
        _ => {
            // Moved away, then made anew.
            fs::rename(yard.path("task.md"), yard.path("task.md~")).unwrap();
            fs::write(yard.path("task.md"), &new).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_and_an_editor() {
    let yard = Yard::with("<!-- saved -->\n# Task\n\nprose stays\n");
    let children: Vec<Child> = (0..WORKERS)
        .map(|n| spawn("agent", &yard.root, n))
        .collect();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1.. {
                edit(&yard, round);
                thread::sleep(Duration::from_millis(15));
                if done.load(Ordering::Relaxed) {
                    fs::write(yard.path("rounds"), round.to_string()).unwrap();
                    break;
                }
            }
        });
        scope.spawn(|| {
            // Whoever looks meanwhile never sees less than before.
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap();
            let reader = Yard::at(&yard.root);
            let mut seen = 0;
            while !done.load(Ordering::Relaxed) {
                let listed =
                    runtime.block_on(reader.call_as(&context("reader"), "list_tasks", json!({})));
                // Between moving away and making anew there is no file.
                let count = listed.unwrap()["total_count"].as_u64().unwrap();
                assert!(count >= seen || count == 0, "{count} after {seen}");
                seen = seen.max(count);
            }
        });
        let well = wait(children);
        done.store(true, Ordering::Relaxed);
        assert!(well);
    });
    check(&yard).await;
    let text = yard.tasks();
    let rounds = yard.text("rounds");
    assert!(
        text.starts_with(&format!("<!-- saved {rounds} -->\n# Task\n\nprose stays\n")),
        "{text}"
    );
}

/// Somebody appends without asking anybody: `echo note >> task.md`.
#[tokio::test(flavor = "multi_thread")]
async fn agents_and_somebody_who_appends() {
    let yard = Yard::with("# Task\n");
    let children: Vec<Child> = (0..WORKERS)
        .map(|n| spawn("agent", &yard.root, n))
        .collect();
    let mut notes = Vec::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut count, mut kept) = (0, Vec::new());
            while !done.load(Ordering::Relaxed) {
                let mut file = File::options()
                    .append(true)
                    .open(yard.path("task.md"))
                    .unwrap();
                // A file that is replaced while it is being opened is known to
                // nobody; any later, and the note has to be kept.
                let same = |file: &fs::Metadata| (file.dev(), file.ino());
                let now = fs::metadata(yard.path("task.md")).unwrap();
                if same(&file.metadata().unwrap()) == same(&now) {
                    kept.push(count);
                }
                thread::sleep(Duration::from_millis(count % 4));
                writeln!(file, "\n## Notes {count}\n\nnote {count} end\n").unwrap();
                drop(file);
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
    check(&yard).await;
    let text = yard.tasks();
    for number in notes {
        assert!(
            text.contains(&format!("note {number} end\n")),
            "note {number} is lost"
        );
    }
}
