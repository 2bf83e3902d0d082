//! What the heads reveal that processes keep apart from their records, and those that
//! are stored elsewhere.

use std::time::Duration;

use super::*;

const KEPT: &str = "the head that its process kept saw";

impl Desk {
    /// As after a crash: copies of the files, without their locks.
    fn kill(&self) {
        for path in walk(&self.path()) {
            let bytes = fs::read(&path).unwrap();
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
        }
    }

    fn kept(&self) -> Vec<u64> {
        let heads = self.store().kept_heads().unwrap();
        heads.iter().map(|head| head.seq).collect()
    }

    async fn recover(&self) -> u64 {
        let trail = Arc::new(self.trail());
        let store = Arc::clone(&trail.store);
        let recovered = blocking(&store, move |_, runtime| recover(&trail, &[], runtime));
        recovered.await.unwrap()
    }

    fn head(&self) -> TrailHead {
        TrailHead::read(&*self.store(), NOW).unwrap()
    }

    fn compared(&self, head: &TrailHead) -> Report {
        verify_against(&*self.store(), std::slice::from_ref(head), UNWATCHED).unwrap()
    }
}

/// A process that was killed after three calls, and its segment.
async fn killed() -> (Desk, String) {
    let desk = Desk::new();
    let trail = desk.trail();
    for call in ["1", "2", "3"] {
        make(&trail, call).await;
    }
    desk.kill();
    let segment = desk.segments().remove(0);
    (desk, segment)
}

#[tokio::test]
async fn records_missing_at_the_end_of_the_newest_segment_are_noticed() {
    let (desk, segment) = killed().await;
    let report = desk.verify();
    assert!(report.ok && report.without_head.is_empty(), "{report:?}");
    assert_eq!(report.unfinished, std::slice::from_ref(&segment));
    let good = fs::read(desk.file(&segment)).unwrap();
    let cut = |bytes: &[u8]| {
        fs::write(desk.file(&segment), bytes).unwrap();
        desk.broken()
    };
    let at = |line: u64, what: String| (segment.clone(), line, what);
    let ends = format!("it ends here, but {KEPT} 4 records");
    // A part of the last line, the whole of it, all lines but the first.
    assert_eq!(cut(&good[..good.len() - 1]), at(4, ends.clone()));
    let lines: Vec<usize> = (0..good.len()).filter(|at| good[*at] == b'\n').collect();
    assert_eq!(cut(&good[..=lines[2]]), at(4, ends.clone()));
    assert_eq!(cut(&good[..=lines[0]]), at(2, ends));
    fs::remove_file(desk.file(&segment)).unwrap();
    let missing = format!("the segment is missing: {KEPT} it with 4 records");
    assert_eq!(desk.broken(), at(1, missing));
    fs::write(desk.file(&segment), good).unwrap();
    assert!(desk.verify().ok);
}

#[tokio::test]
async fn lost_records_are_still_reported_after_recovery() {
    let (desk, segment) = killed().await;
    desk.edit(&segment, |lines| lines.truncate(2));
    desk.recover().await;
    let (named, line, what) = desk.broken();
    assert_eq!((named, line), (segment, 3));
    assert_eq!(what, "it ends here, but was sealed with 4 records");
    // The next ones are recorded as ever.
    desk.process(1).await;
    assert_eq!(desk.broken().1, 3);
}

#[tokio::test]
async fn a_whole_segment_is_recovered_and_its_head_is_not_kept_any_longer() {
    let (desk, _) = killed().await;
    assert_eq!(desk.kept(), [4]);
    desk.recover().await;
    assert!(desk.verify().ok);
    assert!(desk.kept().is_empty());
    desk.process(2).await;
    assert!(desk.kept().is_empty(), "it ended in order");
}

/// A power loss may leave an old head, a damaged one or none. That is not an alarm.
#[tokio::test]
async fn an_old_or_damaged_head_is_no_false_alarm() {
    let desk = Desk::new();
    let trail = desk.trail();
    make(&trail, "1").await;
    let path = desk
        .path()
        .join("heads")
        .join(desk.segments().remove(0) + ".json");
    let old = fs::read(&path).unwrap();
    make(&trail, "2").await;
    desk.kill();
    let new = fs::read(&path).unwrap();
    assert_eq!((old.len(), new.len()), (256, 256), "one replaces the other");
    fs::write(&path, &old).unwrap();
    let report = desk.verify();
    assert!(report.ok && report.without_head.is_empty(), "{report:?}");
    let damaged = [&b""[..], &[0; 256], &new[..100], b"{}"];
    for bytes in damaged {
        fs::write(&path, bytes).unwrap();
        let report = desk.verify();
        assert!(report.ok, "{report:?}");
        assert_eq!(report.without_head, report.unfinished);
        assert_eq!(report.without_head.len(), 1);
    }
}

#[tokio::test]
async fn a_head_names_only_what_is_on_disk() {
    let desk = Desk::new();
    let mut trail = desk.trail();
    trail.process_info.sync_after = Duration::from_secs(60);
    make(&trail, "1").await;
    assert_eq!(desk.kept(), [2]);
    reserve(&trail).await;
    trail.push(filler(1));
    while desk.find().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(desk.kept(), [2], "nobody has synced the third record");
    make(&trail, "2").await;
    assert_eq!(desk.kept(), [4]);
}

#[tokio::test]
async fn records_that_nobody_waits_for_are_synced_after_a_while() {
    let desk = Desk::new();
    let mut trail = desk.trail();
    trail.process_info.sync_after = Duration::from_millis(10);
    reserve(&trail).await;
    trail.push(filler(1));
    until_kept(&desk, 2).await;
}

#[tokio::test]
async fn records_of_changes_are_in_the_file_at_once_and_synced_soon() {
    let desk = Desk::new();
    let mut trail = desk.trail();
    trail.process_info.sync_after = Duration::from_secs(3600);
    make(&trail, "1").await;
    for call in ["2", "3"] {
        reserve(&trail).await;
        assert_eq!(trail.push_written(entry(&trail, call)).await, Ok(true));
    }
    assert_eq!(desk.find().len(), 3);
    until_kept(&desk, 4).await;
    assert!(desk.verify().ok);
}

/// Waits until the head names this record.
async fn until_kept(desk: &Desk, seq: u64) {
    let begun = std::time::Instant::now();
    while desk.kept() != [seq] {
        let kept = desk.kept();
        assert!(begun.elapsed() < Duration::from_secs(20), "{kept:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Somebody removes records and everything on this machine that vouches for them.
#[tokio::test]
async fn a_head_that_is_stored_elsewhere_reveals_what_the_trail_itself_can_not() {
    let desk = Desk::new();
    desk.process(2).await;
    desk.wait(2000);
    let trail = desk.trail();
    make(&trail, "1").await;
    make(&trail, "2").await;
    let head = desk.head();
    assert_eq!(head.checkpoints.as_ref().unwrap().seq, 1);
    assert_eq!(head.segments[0].seq, 3);
    assert!(desk.compared(&head).ok);
    make(&trail, "3").await;
    let report = desk.compared(&head);
    assert!(report.ok && report.heads == 1, "{report:?}");
    desk.kill();
    let segment = desk.segments().remove(1);
    fs::remove_dir_all(desk.path().join("heads")).unwrap();
    desk.edit(&segment, |lines| lines.truncate(2));
    assert!(desk.verify().ok, "the trail itself can't tell");
    let broken = desk.compared(&head).broken.unwrap();
    assert_eq!((broken.segment, broken.line), (segment.clone(), 3));
    let at = &head.at;
    assert_eq!(
        broken.what,
        format!("it ends here, but the head of {at} saw 3 records")
    );
    // Everything is removed.
    fs::remove_dir_all(desk.path()).unwrap();
    assert!(desk.verify().ok);
    let broken = desk.compared(&head).broken.unwrap();
    assert_eq!((&*broken.segment, broken.line), ("checkpoints", 1));
}

#[tokio::test]
async fn a_stored_head_accepts_that_old_segments_were_dropped() {
    let desk = Desk::new();
    let trail = desk.trail();
    make(&trail, "1").await;
    let head = desk.head();
    trail.close().await;
    desk.wait(100 * DAY);
    let now = desk.clock.now().as_millisecond();
    assert_eq!(drop_old(&*desk.store(), 90, now).unwrap(), 1);
    let report = desk.compared(&head);
    assert!(report.ok && report.dropped == 1, "{report:?}");
}
