//! Erased arguments are gone, and missing arguments are found unless erased.

use super::{
    chain::Chain,
    ranges::RecordRanges,
    record::{NOTHING, Record, segment_name},
    *,
};

fn call(id: &str) -> ErasureScope {
    ErasureScope {
        call: Some(id.into()),
        ..ErasureScope::default()
    }
}

impl Desk {
    fn text(&self, segment: &str) -> PathBuf {
        self.path().join("text").join(format!("{segment}.jsonl"))
    }

    /// Edits the stored arguments of a segment, one line per record.
    fn edit_text(&self, segment: &str, edit: impl FnOnce(&mut Vec<String>)) {
        edit_lines(&self.text(segment), edit);
    }

    /// Records an erasure as earlier versions did.
    fn described_erasure(&self, what: &str) {
        let mut chain = Chain::after(NOTHING);
        let record = |kind: &'static str| Record {
            kind: kind.into(),
            what: Some(what.to_owned().into()),
            count: Some(1),
            ..Record::default()
        };
        let [start, erased] = ["start", "erased"].map(|kind| chain.add(record(kind), NOW).unwrap());
        let mut writer = self.store().begin(&segment_name(NOW), &start).unwrap();
        writer.append(&[erased], true).unwrap();
    }
}

#[tokio::test]
async fn erased_arguments_are_gone_and_the_chain_holds() {
    let desk = Desk::new();
    let trail = desk.trail();
    make(&trail, "1").await;
    make(&trail, "2").await;
    // The room with what is before it, since an id may contain its letters by chance.
    let told = ["secret wish", r#":\"dev"#];
    let are_in = |file: &Path| {
        let text = fs::read_to_string(file).unwrap();
        told.map(|word| text.contains(word))
    };
    assert!(
        walk(&desk.path())
            .iter()
            .any(|file| are_in(file) == [true; 2])
    );
    let which = ErasureScope {
        call: Some("1".into()),
        ..ErasureScope::default()
    };
    assert_eq!(erase(&*desk.store(), &which, NOW).unwrap(), 1);
    assert_eq!(erase(&*desk.store(), &which, NOW).unwrap(), 0, "only once");
    // The process continues to add to the same files.
    make(&trail, "3").await;
    trail.close().await;
    let report = desk.verify();
    assert!(report.ok, "{report:?}");
    assert_eq!((report.erased, report.without_arguments), (1, 0));
    let which = ErasureScope {
        caller: Some("phone".into()),
        ..ErasureScope::default()
    };
    assert_eq!(erase(&*desk.store(), &which, NOW).unwrap(), 2);
    assert_eq!(desk.verify().erased, 3);
    for file in walk(&desk.path()) {
        assert_eq!(are_in(&file), [false; 2], "{}", file.display());
    }
}

#[tokio::test]
async fn arguments_that_were_changed_are_found() {
    let desk = Desk::new();
    desk.process(1).await;
    let segment = desk.segments().remove(0);
    let path = desk.path().join("text").join(format!("{segment}.jsonl"));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("my secret", "no secret")).unwrap();
    let (named, line, what) = desk.broken();
    assert_eq!((named, line), (segment, 2));
    assert!(what.contains("arguments"), "{what}");
}

/// Like `erase`, but without a checkpoint.
#[tokio::test]
async fn arguments_that_were_erased_by_hand_are_found() {
    let desk = Desk::new();
    desk.process(2).await;
    let segment = desk.segments().remove(0);
    desk.edit_text(&segment, |lines| {
        let length = lines[1].len();
        lines[1] = format!("{:<length$}", "{\"seq\":3,\"erased\":true}");
    });
    let (named, line, what) = desk.broken();
    assert_eq!((named, line), (segment.clone(), 3));
    assert_eq!(
        what,
        "its arguments were erased, but no erasure is recorded"
    );
    // An erasure of another record does not excuse it.
    assert_eq!(erase(&*desk.store(), &call("call 0"), NOW).unwrap(), 1);
    assert_eq!(desk.broken().1, 3);
}

#[tokio::test]
async fn arguments_that_were_removed_are_found() {
    let desk = Desk::new();
    desk.process(2).await;
    let segment = desk.segments().remove(0);
    let good = fs::read(desk.text(&segment)).unwrap();
    desk.edit_text(&segment, |lines| drop(lines.remove(0)));
    let (named, line, what) = desk.broken();
    assert_eq!((named, line), (segment.clone(), 2));
    assert_eq!(
        what,
        "its arguments are missing, but no erasure is recorded"
    );
    fs::remove_file(desk.text(&segment)).unwrap();
    assert_eq!(desk.broken().1, 2);
    // A copy of the chains alone has no arguments.
    fs::remove_dir(desk.path().join("text")).unwrap();
    let report = desk.verify();
    assert!(report.ok, "{report:?}");
    assert_eq!(report.without_arguments, 2);
    fs::create_dir(desk.path().join("text")).unwrap();
    fs::write(desk.text(&segment), good).unwrap();
    assert!(desk.verify().ok);
}

#[tokio::test]
async fn forged_arguments_are_found() {
    let desk = Desk::new();
    let trail = desk.trail();
    make(&trail, "1").await;
    assert!(write(&trail, filler(1)).await);
    trail.close().await;
    let segment = desk.segments().remove(0);
    let good = fs::read(desk.text(&segment)).unwrap();
    let forged = "\"arguments\":{\"salt\":\"00\",\"text\":\"{}\"}";
    // For a record without arguments, and for an erased one.
    for (line, forged) in [
        (3, format!("{{\"seq\":3,{forged}}}")),
        (3, "{\"seq\":3,\"erased\":true}".to_owned()),
        (2, format!("{{\"seq\":2,\"erased\":true,{forged}}}")),
    ] {
        desk.edit_text(&segment, |lines| lines.push(forged.clone()));
        let (_, at, what) = desk.broken();
        assert_eq!(at, line, "{forged}");
        assert!(what.contains("do not match"), "{what}");
        fs::write(desk.text(&segment), &good).unwrap();
    }
}

#[tokio::test]
async fn removing_the_record_of_an_erasure_is_found() {
    let desk = Desk::new();
    desk.process(2).await;
    assert_eq!(erase(&*desk.store(), &call("call 1"), NOW).unwrap(), 1);
    let found = desk.find();
    let erased: Vec<_> = found
        .iter()
        .filter(|it| it.json["kind"] == "erased")
        .collect();
    assert_eq!(erased.len(), 1);
    assert_eq!(erased[0].json["what"], "call call 1");
    assert_eq!(erased[0].json["records"], serde_json::json!([[3, 3]]));
    desk.wait(1000);
    desk.process(1).await;
    assert!(desk.verify().ok);
    desk.edit("checkpoints", |lines| drop(lines.remove(1)));
    assert_eq!(desk.broken().0, "checkpoints");
}

/// The process died after it recorded the erasure, or in the middle of it.
#[tokio::test]
async fn an_interrupted_erasure_is_reported_and_finished() {
    let desk = Desk::new();
    desk.process(4).await;
    let segment = desk.segments().remove(0);
    let erasure = Record {
        kind: "erased".into(),
        segment: Some(segment.clone().into()),
        records: Some(RecordRanges::of(&[2, 3, 4].into())),
        count: Some(3),
        what: Some("caller phone".into()),
        ..Record::default()
    };
    desk.store().checkpoint(vec![(erasure, NOW)], None).unwrap();
    assert_eq!(desk.verify().not_yet_erased, 3);
    // One line was erased, and the first half of the next.
    let mut bytes = fs::read(desk.text(&segment)).unwrap();
    let lines: Vec<usize> = bytes
        .split_inclusive(|it| *it == b'\n')
        .map(<[u8]>::len)
        .collect();
    let blank =
        |seq: u64, length: usize| format!("{:<length$}", record::StoredArguments::erased(seq));
    bytes[..lines[0] - 1].copy_from_slice(blank(2, lines[0] - 1).as_bytes());
    bytes[lines[0]..][..60].copy_from_slice(blank(3, 60).as_bytes());
    fs::write(desk.text(&segment), bytes).unwrap();
    let report = desk.verify();
    assert!(report.ok, "{report:?}");
    assert_eq!((report.erased, report.not_yet_erased), (1, 2));

    assert_eq!(finish_erasures(&*desk.store()).unwrap(), 2);
    assert_eq!(finish_erasures(&*desk.store()).unwrap(), 0);
    let report = desk.verify();
    assert!(report.ok, "{report:?}");
    assert_eq!((report.erased, report.not_yet_erased), (3, 0));
    let text = fs::read_to_string(desk.text(&segment)).unwrap();
    assert_eq!(text.matches("secret wish").count(), 1);
}

#[tokio::test]
async fn erasures_by_earlier_versions_are_recognised() {
    for (what, holds) in [
        ("call call 0", true),
        ("caller phone", true),
        ("caller k1, until 2030-01-01T00:00:00.000Z", true),
        ("call call 1", false),
        ("caller tablet", false),
        ("caller phone, until 2026-01-01T00:00:00.000Z", false),
        ("", false),
    ] {
        let desk = Desk::new();
        desk.process(2).await;
        let segment = desk.segments().remove(0);
        desk.store()
            .erase(&segment, &RecordRanges::of(&[2].into()))
            .unwrap();
        assert_eq!(desk.broken().1, 2);
        desk.described_erasure(what);
        let report = desk.verify();
        assert_eq!(report.ok, holds, "{what}: {report:?}");
    }
}

/// More ranges than one checkpoint names.
#[tokio::test]
async fn an_erasure_of_many_records_is_recorded_in_short_lines() {
    let desk = Desk::new();
    let trail = desk.trail();
    let all = 2_500;
    for at in 0..all {
        reserve(&trail).await;
        let AuditEntry::Call(mut entry) = entry(&trail, "call") else {
            panic!("it is a call");
        };
        entry.caller = ["even", "odd"][at % 2].into();
        trail.push(AuditEntry::Call(entry));
    }
    trail.close().await;
    let which = ErasureScope {
        caller: Some("odd".into()),
        ..ErasureScope::default()
    };
    assert_eq!(erase(&*desk.store(), &which, NOW).unwrap(), 1_250);
    let report = desk.verify();
    assert!(report.ok, "{report:?}");
    assert_eq!(report.erased, 1_250);
    let checkpoints = desk.store().checkpoints().unwrap();
    assert_eq!(checkpoints.len(), 3, "a seal and two parts of the erasure");
    assert!(checkpoints.iter().all(|line| line.len() < 20_000));
}
