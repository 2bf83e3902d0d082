//! Copies of a trail: for a backup, and into another store.

use std::{io::Read, time::Duration};

use super::*;

/// Writes a copy to a directory, as a backup and its restore do.
fn unpack(copy: TrailCopy, to: &Path) {
    let (files, _lock) = copy.into_parts();
    for file in files {
        let path = to.join(&file.name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut bytes = Vec::new();
        let opened = fs::File::open(&file.path).unwrap();
        opened.take(file.length).read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, file.length, "{}", file.name);
        fs::write(path, bytes).unwrap();
    }
}

fn verified(directory: &Path) -> Report {
    verify(&Files::new(directory), UNWATCHED).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_of_a_trail_that_grows_are_intact() {
    let desk = Arc::new(Desk::new());
    assert!(copy(&desk.path()).unwrap().is_none());
    desk.process(3).await;
    let writer = {
        let desk = Arc::clone(&desk);
        tokio::spawn(async move {
            // Many short processes: segments begin and are sealed all the time.
            for round in 0..60 {
                desk.process(1 + round % 4).await;
            }
        })
    };
    let mut copies = 0;
    while !writer.is_finished() {
        let to = desk.directory.path().join(format!("copy-{copies}"));
        let made = copy(&desk.path()).unwrap().unwrap();
        unpack(made, &to);
        let report = verified(&to);
        assert!(report.ok, "{report:?}");
        assert!(report.records > 3);
        copies += 1;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    writer.await.unwrap();
    assert!(copies > 3, "{copies}");
    assert!(desk.verify().ok);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_are_not_erased_while_a_copy_is_made() {
    let desk = Desk::new();
    desk.process(3).await;
    let held = copy(&desk.path()).unwrap().unwrap();
    let store = desk.store();
    let erasing = tokio::task::spawn_blocking(move || {
        let scope = ErasureScope {
            caller: Some("k1".into()),
            ..ErasureScope::default()
        };
        erase(&*store, &scope, NOW).unwrap()
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!erasing.is_finished());
    let to = desk.directory.path().join("copy");
    unpack(held, &to);
    assert_eq!(erasing.await.unwrap(), 3);
    let report = verified(&to);
    assert!(report.ok && report.erased == 0, "{report:?}");
    assert_eq!(desk.verify().erased, 3);
}

#[tokio::test]
async fn a_trail_in_another_store_is_the_same_trail() {
    let desk = Desk::new();
    desk.process(3).await;
    let scope = ErasureScope {
        call: Some("call 1".into()),
        ..ErasureScope::default()
    };
    erase(&*desk.store(), &scope, NOW).unwrap();
    // A process that was killed: its segment has no end.
    let killed = desk.trail();
    make(&killed, "call 9").await;
    let to = desk.directory.path().join("moved");
    let records = into_files(&*desk.store(), &to, UNWATCHED).unwrap();
    let (before, mut after) = (desk.verify(), verified(&to));
    assert_eq!(records, before.records);
    assert_eq!((before.live, after.live), (1, 0));
    assert_eq!(after.unfinished.len(), 1);
    assert_eq!(after.without_head, after.unfinished, "heads are not moved");
    after.live = 1;
    after.unfinished.clear();
    after.without_head.clear();
    assert_eq!(before, after);
    let read = |store: &dyn AuditStore| {
        let segments = store.segments().unwrap();
        let read = segments.iter().map(|name| store.read(name).unwrap());
        read.map(|it| it.unwrap().lines).collect::<Vec<_>>()
    };
    assert_eq!(read(&*desk.store()), read(&Files::new(&to)));
    killed.close().await;
}
