//! What a crash leaves at the end of a segment.

use std::{fs, sync::Arc};

use super::*;

#[tokio::test]
async fn a_torn_line_is_quarantined_and_reported() {
    quarantines(b"{\"seq\":3,\"prev\":").await;
}

/// Of two records that were not synced, the first block was lost and the second was not.
#[tokio::test]
async fn what_follows_a_hole_after_a_power_loss_is_quarantined_and_reported() {
    quarantines(b"\0\0\0\0,\"hash\":\"\"}\n{\"seq\":4,\"prev\":\"\"}\n").await;
}

async fn quarantines(torn: &[u8]) {
    let desk = Desk::new();
    let killed = desk.trail();
    make(&killed, "1").await;
    let segment = desk.segments().remove(0);
    // As after a crash: a copy of the file without its lock.
    let path = desk.file(&segment);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(torn);
    fs::remove_file(&path).unwrap();
    fs::write(&path, bytes).unwrap();
    assert_eq!(desk.verify().unfinished, std::slice::from_ref(&segment));
    let head = desk.store().durable_head(&segment).unwrap();
    assert_eq!(head.unwrap().seq, 2);
    let trail = Arc::new(desk.trail());
    let store = Arc::clone(&trail.store);
    let completed = blocking(&store, move |_, runtime| recover(&trail, &[], runtime)).await;
    assert_eq!(completed.unwrap(), 0);
    let aside = fs::read(desk.path().join("torn").join(&segment)).unwrap();
    assert_eq!(aside, torn);
    let report = desk.verify();
    assert!(report.ok && report.unfinished.is_empty(), "{report:?}");
    assert_eq!(report.torn, [segment]);
}
