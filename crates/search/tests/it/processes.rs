//! Several processes on one directory, and processes that are killed.
//!
//! A child is this test binary again, told by its environment what to do.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use search::{Change, Error, Index, Options};

use crate::shop::{ids, product, search, text};

const DIRECTORY: &str = "SEARCH_TEST_DIRECTORY";
const WORK: &str = "SEARCH_TEST_WORK";

/// Products that one change adds. A commit with only some of them would be
/// incomplete.
const TOGETHER: u64 = 7;

fn options() -> Options {
    Options {
        writer_idle: Duration::from_millis(50),
        ..Options::default()
    }
}

fn change(position: u64) -> Vec<Change> {
    let first = (position - 1) * TOGETHER + 1;
    (first..first + TOGETHER)
        .map(|id| Change::Put(product(id as i64, &format!("急須 {position}号"))))
        .collect()
}

/// The work of a child process. As a test it makes one change.
#[test]
fn child() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = env::var(DIRECTORY).map_or(scratch.path().to_owned(), PathBuf::from);
    let options = Options {
        // Keeps the writer from becoming idle.
        writer_idle: Duration::from_secs(600),
        ..options()
    };
    let index = Index::open(&directory, options).unwrap();
    let mut say = std::io::stdout();
    match env::var(WORK).unwrap_or_default().as_str() {
        "" => {
            index.apply(change(1), 1).unwrap();
            assert_eq!(index.position(), 1);
        }
        "write on and on" => loop {
            let next = index.position() + 1;
            index.apply(change(next), next).unwrap();
            writeln!(say, "committed {next}").unwrap();
        },
        _ => {
            index.apply(change(1), 1).unwrap();
            writeln!(say, "committed 1").unwrap();
            // Holds the lock until it is killed.
            std::thread::sleep(Duration::from_secs(600));
        }
    }
}

struct Process {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Process {
    fn start(directory: &Path, work: &str) -> Process {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "processes::child", "--nocapture"])
            .env(DIRECTORY, directory)
            .env(WORK, work)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Process { child, said }
    }

    /// Waits for the next commit and returns its position.
    fn committed(&mut self) -> u64 {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(
                self.said.read_line(&mut line).unwrap() > 0,
                "the child has ended"
            );
            if let Some((_, position)) = line.split_once("committed ") {
                return position.trim().parse().unwrap();
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // kill -9
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn after_a_kill_the_position_matches_the_content() {
    let directory = tempfile::tempdir().unwrap();
    let mut before = 0;
    for round in 0..4_u64 {
        let mut writer = Process::start(directory.path(), "write on and on");
        let mut acknowledged = 0;
        for _ in 0..=round * 3 {
            acknowledged = writer.committed();
        }
        // Kills it during one of the next changes.
        std::thread::sleep(Duration::from_millis(round * 3));
        drop(writer);

        let index = Index::open(directory.path(), options()).unwrap();
        let position = index.position();
        assert!(position >= acknowledged, "{position} < {acknowledged}");
        assert!(position > before);
        assert_eq!(index.documents(), position * TOGETHER);
        let last = search(&index, &text(&format!("急須 {position}号")));
        assert_eq!(last.total as u64, TOGETHER);
        // Resuming from there and repeating changes is safe.
        index.apply(change(position), position).unwrap();
        index.apply(change(position + 1), position + 1).unwrap();
        assert_eq!(index.documents(), (position + 1) * TOGETHER);
        before = position + 1;
    }
}

#[test]
fn another_process_sees_every_commit_and_cannot_write_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Process::start(directory.path(), "write on and on");
    writer.committed();
    let index = Index::open(directory.path(), options()).unwrap();
    for _ in 0..10 {
        let committed = writer.committed();
        assert!(index.position() >= committed);
        let found = search(&index, &text(&format!("急須 {committed}号")));
        assert_eq!(found.total as u64, TOGETHER);
        assert!(matches!(
            index.apply([Change::Remove(1)], 999_999),
            Err(Error::Busy)
        ));
    }
}

#[test]
fn the_lock_is_free_again_when_its_holder_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let mut holder = Process::start(directory.path(), "hold");
    holder.committed();
    let index = Index::open(directory.path(), options()).unwrap();
    assert!(matches!(index.apply(change(2), 2), Err(Error::Busy)));
    assert_eq!(ids(&index, "急須 1号").len() as u64, TOGETHER);
    drop(holder);
    index.apply(change(2), 2).unwrap();
    assert_eq!(index.position(), 2);
}

#[test]
fn an_idle_writer_lets_another_write() {
    let directory = tempfile::tempdir().unwrap();
    let one = Index::open(directory.path(), options()).unwrap();
    let other = Index::open(directory.path(), options()).unwrap();
    let give_up = Instant::now() + Duration::from_secs(60);
    for position in 1..=6 {
        let index = if position % 2 == 0 { &one } else { &other };
        loop {
            match index.apply(change(position), position) {
                Ok(()) => break,
                Err(Error::Busy) => assert!(Instant::now() < give_up),
                Err(error) => panic!("{error}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(one.position(), position);
        assert_eq!(other.position(), position);
    }
    assert_eq!(one.documents(), 6 * TOGETHER);
}

#[test]
fn searches_go_on_while_another_thread_writes_and_compacts() {
    let directory = tempfile::tempdir().unwrap();
    let index = Index::open(directory.path(), options()).unwrap();
    index.apply(change(1), 1).unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for position in 2..=30 {
                index.apply(change(position), position).unwrap();
                if position % 10 == 0 {
                    index.compact().unwrap();
                }
            }
        });
        while !writing.is_finished() {
            let found = search(&index, &text("急須 1号"));
            assert_eq!(found.total as u64, TOGETHER);
            assert_eq!(index.documents() % TOGETHER, 0);
        }
    });
    assert_eq!(index.documents(), 30 * TOGETHER);
    assert_eq!(index.position(), 30);
}

#[test]
fn an_open_index_survives_the_deletion_of_its_directory() {
    let directory = tempfile::tempdir().unwrap();
    let index = Index::open(directory.path(), options()).unwrap();
    index.apply(change(1), 1).unwrap();
    std::fs::remove_dir_all(directory.path()).unwrap();
    assert_eq!(ids(&index, "急須").len() as u64, TOGETHER);
}
