//! The trail in files, with a clock that the tests set.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::Timestamp;
use kit::time::Clock;
use tempfile::TempDir;

use super::{
    entry::{AuditEntry, CallEntry, Outcome, RefusedCount},
    files::Files,
    queue::Reservation,
    redact::RedactedArguments,
    *,
};

mod copying;
mod erasure;
mod heads;
mod packing;
mod pages;
mod torn;

const DAY: i64 = 24 * 60 * 60 * 1000;
const NOW: i64 = 1_800_000_000_000;

struct Desk {
    directory: TempDir,
    clock: Clock,
}

impl Desk {
    fn new() -> Self {
        let now = Timestamp::from_millisecond(NOW).unwrap();
        Self {
            directory: tempfile::tempdir().unwrap(),
            clock: Clock::fixed(now),
        }
    }

    fn store(&self) -> Arc<dyn AuditStore> {
        Arc::new(Files::new(&self.path()))
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("audit")
    }

    /// One process.
    fn trail(&self) -> Trail {
        let process = kit::ids::random("", 8);
        Trail::new(self.store(), self.clock.clone(), process, Vec::new())
    }

    fn wait(&self, ms: i64) {
        let now = self.clock.now().as_millisecond() + ms;
        self.clock.set(Timestamp::from_millisecond(now).unwrap());
    }

    /// A process that makes some calls and stops.
    async fn process(&self, calls: usize) {
        let trail = self.trail();
        for call in 0..calls {
            make(&trail, &format!("call {call}")).await;
        }
        trail.close().await;
    }

    fn verify(&self) -> Report {
        // Every segment is reported, in order.
        let reported = std::cell::Cell::new(0);
        let watch = |at: TrailProgress| {
            assert_eq!(at.segments_done, reported.get());
            reported.set(at.segments_done + 1);
        };
        let report = verify(&*self.store(), &watch).unwrap();
        assert!(!report.ok || reported.get() as u64 == report.segments);
        report
    }

    #[track_caller]
    fn broken(&self) -> (String, u64, String) {
        let broken = self.verify().broken.expect("the damage was not found");
        (broken.segment, broken.line, broken.what)
    }

    fn segments(&self) -> Vec<String> {
        self.store().segments().unwrap()
    }

    fn file(&self, segment: &str) -> PathBuf {
        self.path().join(format!("{segment}.jsonl"))
    }

    fn edit(&self, segment: &str, edit: impl FnOnce(&mut Vec<String>)) {
        edit_lines(&self.file(segment), edit);
    }

    fn find(&self) -> Vec<FoundRecord> {
        find(&*self.store(), &Filter::default(), None, UNWATCHED).unwrap()
    }
}

fn edit_lines(path: &Path, edit: impl FnOnce(&mut Vec<String>)) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    edit(&mut lines);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(path, text).unwrap();
}

async fn make(trail: &Trail, call: &str) {
    assert!(write(trail, entry(trail, call)).await);
}

/// Whether the entry is on disk.
async fn write(trail: &Trail, entry: AuditEntry) -> bool {
    reserve(trail).await;
    trail.push_durable(entry).await.unwrap()
}

async fn reserve(trail: &Trail) {
    assert_eq!(trail.reserve().await, Reservation::Reserved);
}

fn entry(trail: &Trail, call: &str) -> AuditEntry {
    AuditEntry::Call(Box::new(CallEntry {
        at: trail.now(),
        call: call.into(),
        caller: "k1".into(),
        caller_name: "phone".into(),
        counter: "rooms",
        tool: "send_message",
        outcome: Outcome::Done,
        ms: 1.0,
        waited_ms: 0.0,
        approval: Some("a1".into()),
        arguments: RedactedArguments {
            arguments: "{\"room\":\"dev\"}".into(),
            personal: "{\"message\":\"my secret wish\"}".into(),
        },
    }))
}

/// A record without arguments.
fn filler(count: u64) -> AuditEntry {
    AuditEntry::Refused(Box::new(RefusedCount {
        at: NOW,
        caller: "k1".into(),
        caller_name: None,
        counter: "rooms",
        code: "INVALID_KEY",
        count,
    }))
}

/// A change needs a segment, or nobody could tell whose it was if its process died.
#[tokio::test]
async fn a_segment_exists_before_the_first_change() {
    let desk = Desk::new();
    let trail = desk.trail();
    trail.begin(true).await;
    assert_eq!(desk.segments().len(), 1);
    trail.begin(true).await;
    make(&trail, "1").await;
    assert_eq!(desk.segments().len(), 1);
    trail.close().await;
    assert!(desk.verify().ok);
}

#[tokio::test]
async fn a_process_without_calls_leaves_no_files() {
    let desk = Desk::new();
    let trail = desk.trail();
    trail.tidy().await;
    trail.close().await;
    assert!(!desk.path().exists());
    assert!(desk.verify().ok);
}

#[tokio::test]
async fn a_segment_begins_ends_and_is_sealed() {
    let desk = Desk::new();
    desk.process(3).await;
    let report = desk.verify();
    assert!(report.ok, "{report:?}");
    assert_eq!((report.segments, report.records, report.live), (1, 5, 0));
    assert!(report.unfinished.is_empty());
    let found = desk.find();
    assert_eq!(found.len(), 3);
    assert_eq!(found[0].json["approval"], "a1");
    assert_eq!(found[0].json["arguments"]["room"], "dev");
    assert_eq!(found[0].json.get("personal"), None);
}

#[tokio::test]
async fn any_change_to_a_record_is_found_and_located() {
    let desk = Desk::new();
    desk.process(4).await;
    let segment = desk.segments().remove(0);
    let good = fs::read(desk.file(&segment)).unwrap();
    let at = |line: u64, what: &str| (segment.clone(), line, what.to_owned());

    desk.edit(&segment, |lines| {
        lines[2] = lines[2].replace("done", "dine")
    });
    assert_eq!(desk.broken(), at(3, "its content does not match its hash"));
    fs::write(desk.file(&segment), &good).unwrap();

    desk.edit(&segment, |lines| drop(lines.remove(3)));
    assert_eq!(desk.broken(), at(4, "record 5 is where 4 should be"));
    fs::write(desk.file(&segment), &good).unwrap();

    desk.edit(&segment, |lines| lines.swap(1, 2));
    assert_eq!(desk.broken(), at(2, "record 3 is where 2 should be"));
    fs::write(desk.file(&segment), &good).unwrap();

    desk.edit(&segment, |lines| lines.truncate(4));
    assert_eq!(
        desk.broken(),
        at(5, "it ends here, but was sealed with 6 records")
    );
    fs::write(desk.file(&segment), &good[..good.len() - 5]).unwrap();
    assert_eq!(desk.broken().1, 6);

    let mut more = good.clone();
    more.extend_from_slice(b"{}");
    fs::write(desk.file(&segment), more).unwrap();
    assert_eq!(desk.broken().1, 7);

    fs::remove_file(desk.file(&segment)).unwrap();
    let missing = "the segment is missing: a checkpoint sealed it";
    assert_eq!(desk.broken(), at(1, missing));
    fs::write(desk.file(&segment), &good).unwrap();
    assert!(desk.verify().ok);
}

/// Somebody recomputes all hashes of a chain. The first record of a later process
/// still reveals it.
#[tokio::test]
async fn a_rewritten_chain_is_found_by_what_others_saw() {
    let desk = Desk::new();
    desk.process(2).await;
    desk.process(1).await;
    let checkpoints = fs::read_to_string(desk.file("checkpoints")).unwrap();
    let mut chain = chain::Chain::after(record::NOTHING);
    let made: String = checkpoints
        .lines()
        .map(|line| {
            let mut record = record::parse(line).unwrap();
            let at = record.at_ms();
            record.head = record.head.map(|_| record::NOTHING.into());
            chain.add(record, at).unwrap().record + "\n"
        })
        .collect();
    fs::write(desk.file("checkpoints"), made).unwrap();
    let (segment, line, what) = desk.broken();
    assert_eq!((segment.as_str(), line), ("checkpoints", 1));
    assert!(what.contains("saw a checkpoint 1"), "{what}");
}

#[tokio::test]
async fn records_removed_from_an_unsealed_segment_are_missed() {
    let desk = Desk::new();
    let killed = desk.trail();
    make(&killed, "1").await;
    make(&killed, "2").await;
    desk.wait(2000);
    desk.process(1).await;
    let segment = desk.segments().remove(0);
    let report = desk.verify();
    assert!(report.ok && report.live == 1, "{report:?}");
    desk.edit(&segment, |lines| drop(lines.pop()));
    let (named, line, what) = desk.broken();
    assert_eq!((named, line), (segment.clone(), 3));
    assert!(what.contains("saw 3 records"), "{what}");
    fs::remove_file(desk.file(&segment)).unwrap();
    let (named, _, what) = desk.broken();
    assert_eq!(named, segment);
    assert!(what.contains("saw it with 3 records"), "{what}");
}

fn walk(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => walk(&path),
            false => vec![path],
        })
        .collect()
}

#[tokio::test]
async fn a_new_day_begins_a_new_segment_that_continues_the_old() {
    let desk = Desk::new();
    let trail = desk.trail();
    make(&trail, "1").await;
    desk.wait(DAY);
    make(&trail, "2").await;
    // Without further calls, the segment ends when its day is over.
    desk.wait(DAY);
    trail.tidy().await;
    let [first, second] = &desk.segments()[..] else {
        panic!("{:?}", desk.segments());
    };
    let report = desk.verify();
    assert!(report.ok && report.live == 0, "{report:?}");
    let start = record::parse(&desk.store().first(second).unwrap().unwrap()).unwrap();
    assert_eq!(start.continues.as_deref(), Some(first.as_str()));
    fs::remove_file(desk.file(first)).unwrap();
    assert_eq!(desk.broken().0, *first);
}

#[tokio::test]
async fn a_full_segment_is_followed_by_another() {
    let desk = Desk::new();
    let mut trail = desk.trail();
    trail.process_info.segment_bytes = 2000;
    for call in 0..20 {
        make(&trail, &call.to_string()).await;
    }
    trail.close().await;
    assert!(desk.segments().len() > 3, "{:?}", desk.segments());
    let report = desk.verify();
    assert!(report.ok, "{report:?}");
    let found = desk.find();
    assert_eq!(found.len(), 20);
}

#[tokio::test]
async fn old_segments_are_dropped_and_verify_accepts_it() {
    let desk = Desk::new();
    desk.process(2).await;
    desk.wait(60 * DAY);
    desk.process(1).await;
    desk.wait(40 * DAY);
    let now = desk.clock.now().as_millisecond();
    let store = desk.store();
    assert_eq!(
        drop_old(&*store, 0, now).unwrap(),
        0,
        "0 keeps them for ever"
    );
    assert_eq!(drop_old(&*store, 90, now).unwrap(), 1);
    assert_eq!(drop_old(&*store, 90, now).unwrap(), 0);
    assert_eq!(desk.segments().len(), 1);
    assert_eq!(walk(&desk.path().join("text")).len(), 1);
    let report = desk.verify();
    assert!(report.ok && report.dropped == 1, "{report:?}");
    // Removing one by hand is tampering.
    let segment = desk.segments().remove(0);
    fs::remove_file(desk.file(&segment)).unwrap();
    assert_eq!(desk.broken().0, segment);
}

/// A file where the directory should be, in place of a full disk.
#[tokio::test]
async fn records_that_cannot_be_written_are_written_later() {
    let desk = Desk::new();
    fs::write(desk.path(), "in the way").unwrap();
    let trail = desk.trail();
    assert!(!write(&trail, filler(1)).await);
    assert!(trail.is_failing());
    fs::remove_file(desk.path()).unwrap();
    assert!(write(&trail, filler(2)).await);
    assert!(!trail.is_failing());
    trail.close().await;
    let found = desk.find();
    let counts: Vec<_> = found.iter().map(|it| it.json["count"].clone()).collect();
    assert_eq!(counts, [1, 2]);
    assert!(desk.verify().ok);
}

/// While the trail can be written, no record is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_records_than_the_queue_holds_are_all_written() {
    let desk = Desk::new();
    let trail = Arc::new(desk.trail());
    let all = queue::CAPACITY + 4096;
    for _ in 0..all {
        reserve(&trail).await;
        trail.push(filler(1));
    }
    // Waits for all before it; closing alone has a time limit.
    make(&trail, "last").await;
    trail.close().await;
    let report = desk.verify();
    assert!(report.ok, "{report:?}");
    assert_eq!(report.records, all as u64 + 3);
}

/// The trail can't be written until the queue is full too.
#[tokio::test]
async fn lost_records_are_counted_in_the_trail() {
    let desk = Desk::new();
    fs::write(desk.path(), "in the way").unwrap();
    let trail = desk.trail();
    assert!(!write(&trail, filler(1)).await);
    let mut held = 0;
    while trail.try_reserve() == Reservation::Reserved {
        held += 1;
    }
    for _ in 0..3 {
        assert_eq!(
            trail.reserve().await,
            Reservation::Full,
            "it would wait for ever"
        );
        trail.count_lost();
    }
    fs::remove_file(desk.path()).unwrap();
    trail.queue.release(held);
    while trail.is_failing() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    reserve(&trail).await;
    trail.push(filler(1));
    trail.close().await;
    let report = desk.verify();
    assert!(report.ok, "{report:?}");
    assert_eq!((report.lost, report.records), (3, 5));
}

/// The next process must find what the call still changes, so the segment stays
/// unsealed.
#[tokio::test]
async fn a_segment_is_not_sealed_while_a_call_is_in_flight() {
    let desk = Desk::new();
    let trail = desk.trail();
    make(&trail, "1").await;
    reserve(&trail).await;
    trail.close().await;
    while desk.verify().live > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let report = desk.verify();
    assert!(report.ok, "{report:?}");
    assert_eq!(report.unfinished.len(), 1);
}
