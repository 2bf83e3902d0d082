//! Sealed segments are compressed, and the oldest are dropped when the trail is too
//! large.

use super::*;

/// Enough that both files of the segment are worth compressing.
const CALLS: usize = 60;

impl Desk {
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = walk(&self.path())
            .iter()
            .map(|path| {
                path.strip_prefix(self.path())
                    .unwrap()
                    .display()
                    .to_string()
            })
            .filter(|name| !name.starts_with('.') && !name.contains("checkpoints"))
            .collect();
        names.sort();
        names
    }

    fn compress(&self) -> u64 {
        self.store().compress().unwrap()
    }
}

async fn packed() -> (Desk, String) {
    let desk = Desk::new();
    desk.process(CALLS).await;
    let segment = desk.segments().remove(0);
    assert_eq!(desk.compress(), 2);
    let (chain, text) = (
        format!("{segment}.jsonl.gz"),
        format!("text/{segment}.jsonl.gz"),
    );
    assert_eq!(desk.names(), [chain, text]);
    (desk, segment)
}

#[tokio::test]
async fn a_compressed_segment_reads_as_before_and_is_smaller() {
    let desk = Desk::new();
    desk.process(CALLS).await;
    let shown =
        |desk: &Desk| -> Vec<String> { desk.find().iter().map(|it| it.json.to_string()).collect() };
    let (before, bytes) = (shown(&desk), desk.store().bytes().unwrap());
    let touched = desk.store().touched(i64::MIN).unwrap();
    assert_eq!(desk.compress(), 2);
    assert_eq!(desk.compress(), 0, "there is nothing left to do");
    assert_eq!(shown(&desk), before);
    assert_eq!(desk.store().touched(i64::MIN).unwrap(), touched);
    let after = desk.store().bytes().unwrap();
    assert!(after * 2 < bytes, "{bytes} bytes became {after}");
    let report = desk.verify();
    assert!(report.ok, "{report:?}");
    assert_eq!(report.records, CALLS as u64 + 2);
    let head = desk.store().head(&desk.segments()[0]).unwrap().unwrap();
    assert_eq!(head.seq, CALLS as u64 + 2);
    // A later process goes on, and refers to it.
    desk.wait(2000);
    desk.process(1).await;
    assert!(desk.verify().ok);
}

#[tokio::test]
async fn only_sealed_segments_of_some_size_are_compressed() {
    let desk = Desk::new();
    let open = desk.trail();
    for call in 0..CALLS {
        make(&open, &call.to_string()).await;
    }
    desk.process(1).await;
    assert_eq!(desk.compress(), 0);
    open.close().await;
    assert_eq!(desk.compress(), 2);
}

#[tokio::test]
async fn damage_to_a_compressed_segment_is_found() {
    let (desk, segment) = packed().await;
    let chain = desk.path().join(format!("{segment}.jsonl.gz"));
    let text = desk.path().join("text").join(format!("{segment}.jsonl.gz"));
    for path in [chain, text] {
        let good = fs::read(&path).unwrap();
        for damage in [0, 1, 2] {
            let mut bytes = good.clone();
            match damage {
                0 => bytes.truncate(good.len() / 2),
                1 => bytes[good.len() / 2] ^= 1,
                _ => bytes.clear(),
            }
            fs::write(&path, bytes).unwrap();
            assert_eq!(desk.broken().0, segment, "{} {damage}", path.display());
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(desk.broken().0, segment);
        fs::write(&path, good).unwrap();
    }
    assert!(desk.verify().ok);
}

/// What a process leaves that is killed at each step of compressing.
#[tokio::test]
async fn killed_while_compressing_loses_nothing() {
    let desk = Desk::new();
    desk.process(CALLS).await;
    let segment = desk.segments().remove(0);
    let plain = fs::read(desk.file(&segment)).unwrap();
    let unfinished = desk
        .path()
        .join(format!(".{segment}.jsonl.gz.new-abcdefgh"));
    fs::write(&unfinished, "half of it").unwrap();
    assert!(desk.verify().ok);
    assert_eq!(desk.compress(), 2);
    assert!(!unfinished.exists());
    // The compressed file has its name, and the plain one is still there.
    fs::write(desk.file(&segment), &plain).unwrap();
    assert_eq!(desk.segments(), [segment]);
    assert_eq!(desk.find().len(), CALLS);
    assert!(desk.verify().ok);
    assert_eq!(desk.compress(), 1);
    assert_eq!(desk.names().len(), 2);
    assert!(desk.verify().ok);
}

#[tokio::test]
async fn several_processes_compress_at_once() {
    let desk = Desk::new();
    for _ in 0..3 {
        desk.process(CALLS).await;
    }
    let done: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| desk.compress())).collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(done, 6, "each file is compressed by one of them");
    assert_eq!(desk.names().len(), 6);
    assert!(desk.verify().ok);
}

#[tokio::test]
async fn arguments_are_erased_from_compressed_files_too() {
    let (desk, segment) = packed().await;
    let path = desk.path().join("text").join(format!("{segment}.jsonl.gz"));
    // The old file, as a disk would still have it.
    let old = fs::File::open(&path).unwrap();
    // An interrupted process also left the plain chain.
    let which = ErasureScope {
        call: Some("call 7".into()),
        ..ErasureScope::default()
    };
    assert_eq!(erase(&*desk.store(), &which, NOW).unwrap(), 1);
    assert_eq!(erase(&*desk.store(), &which, NOW).unwrap(), 0);
    let report = desk.verify();
    assert!(report.ok && report.erased == 1, "{report:?}");
    let found = desk.find();
    let erased: Vec<_> = found
        .iter()
        .filter(|it| it.json["erased"] == true)
        .collect();
    assert_eq!(erased.len(), 1);
    assert_eq!(erased[0].json["call"], "call 7");
    let mut left = Vec::new();
    std::io::Read::read_to_end(&mut { old }, &mut left).unwrap();
    assert!(
        left.iter().all(|byte| *byte == 0),
        "the old file still has the text"
    );
}

#[tokio::test]
async fn erasing_reaches_a_compressed_file_that_was_left_beside_the_plain_one() {
    let desk = Desk::new();
    desk.process(CALLS).await;
    let segment = desk.segments().remove(0);
    let path = desk.path().join("text").join(format!("{segment}.jsonl"));
    let plain = fs::read(&path).unwrap();
    desk.compress();
    fs::write(&path, plain).unwrap();
    let all = ErasureScope {
        caller: Some("phone".into()),
        ..ErasureScope::default()
    };
    assert_eq!(erase(&*desk.store(), &all, NOW).unwrap(), CALLS as u64);
    assert!(!path.with_extension("jsonl.gz").exists());
    assert_eq!(desk.compress(), 1);
    let report = desk.verify();
    assert!(report.ok && report.erased == CALLS as u64, "{report:?}");
}

#[tokio::test]
async fn the_oldest_segments_of_a_trail_that_is_too_large_are_dropped() {
    let desk = Desk::new();
    for _ in 0..4 {
        desk.process(3).await;
        desk.wait(2000);
    }
    let open = desk.trail();
    make(&open, "open").await;
    let before = desk.segments();
    let (store, now) = (desk.store(), desk.clock.now().as_millisecond());
    let sizes = store.sizes().unwrap();
    let size = |at: usize| sizes[&before[at]];
    let all = store.bytes().unwrap();
    assert_eq!(drop_excess(&*store, 0, now).unwrap(), 0, "0 is no limit");
    assert_eq!(drop_excess(&*store, all, now).unwrap(), 0);
    assert_eq!(desk.segments(), before);
    // One byte too much for one segment, and for two.
    let limit = all - size(0) - 1;
    assert_eq!(drop_excess(&*store, limit, now).unwrap(), 2);
    assert_eq!(desk.segments(), before[2..]);
    let report = desk.verify();
    assert!(report.ok && report.dropped == 2, "{report:?}");
    let said = fs::read_to_string(desk.file("checkpoints")).unwrap();
    assert!(said.contains(&format!("more than {limit} bytes")), "{said}");
    // The open segment stays, however small the limit.
    assert_eq!(drop_excess(&*store, 1, now).unwrap(), 2);
    assert_eq!(desk.segments(), before[4..]);
    make(&open, "still open").await;
    open.close().await;
    assert!(desk.verify().ok);
}

/// Names of segments are only exact to the second, and end in random letters.
#[tokio::test]
async fn segments_of_one_second_are_dropped_in_the_order_of_their_ends() {
    let desk = Desk::new();
    let mut trail = desk.trail();
    trail.process_info.segment_bytes = 2000;
    for call in 0..40 {
        make(&trail, &call.to_string()).await;
        desk.wait(1);
    }
    trail.close().await;
    assert!(desk.segments().len() > 5, "{:?}", desk.segments());
    let store = desk.store();
    let limit = store.bytes().unwrap() / 2;
    drop_excess(&*store, limit, NOW).unwrap();
    let found = desk.find();
    let left: Vec<_> = found.iter().map(|it| it.json["call"].clone()).collect();
    let newest: Vec<_> = (40 - left.len()..40).map(|it| it.to_string()).collect();
    assert!(!left.is_empty() && left.len() < 40);
    assert_eq!(left, newest);
}

#[tokio::test]
async fn a_small_trail_has_small_segments() {
    let desk = Desk::new();
    let trail = desk.trail().bounded(16 * 16 * 1024);
    for call in 0..60 {
        make(&trail, &call.to_string()).await;
    }
    trail.close().await;
    assert!(desk.segments().len() > 1, "{:?}", desk.segments());
}
