//! Many changes at once.

use std::time::Duration;

use search::{Bulk, Change, Index, Options};

use crate::shop::{ids, product};

fn put(id: i64, name: &str) -> Change {
    Change::Put(product(id, name))
}

/// Two batches, in which products come again, change and go.
fn apply(bulk: &mut Bulk) {
    let all = (1..=20).map(|id| put(id, "急須"));
    bulk.apply(all, 1).unwrap();
    let later = [
        put(-5, "湯呑"),
        put(3, "湯呑"),
        Change::Remove(4),
        put(21, "急須"),
        Change::Remove(21),
        put(4, "湯呑"),
        Change::Remove(5),
    ];
    bulk.apply(later, 2).unwrap();
}

fn is_right(index: &Index) {
    let mut pots = ids(index, "急須");
    pots.sort_unstable();
    let left = (1..=20).filter(|id| ![3, 4, 5].contains(id));
    assert_eq!(pots, left.collect::<Vec<_>>());
    let mut cups = ids(index, "湯呑");
    cups.sort_unstable();
    assert_eq!(cups, [-5, 3, 4]);
    assert_eq!(index.documents(), 20);
    assert_eq!(index.position(), 2);
}

#[test]
fn many_changes_have_the_same_effect_as_few() {
    let directory = tempfile::tempdir().unwrap();
    let on_disk = Index::open(directory.path(), Options::default()).unwrap();
    for index in [on_disk, Index::in_memory()] {
        apply(&mut index.bulk());
        index.compact().unwrap();
        is_right(&index);
        // What was there before is replaced.
        apply(&mut index.bulk());
        index.compact().unwrap();
        is_right(&index);
    }
    let again = Index::open(directory.path(), Options::default()).unwrap();
    is_right(&again);
}

/// It is not merged, but all of it is there.
#[test]
fn a_bulk_that_was_given_up_is_continued_by_the_next_change() {
    let directory = tempfile::tempdir().unwrap();
    let index = Index::open(directory.path(), Options::default()).unwrap();
    apply(&mut index.bulk());
    is_right(&index);
    index.apply([put(1, "急須")], 2).unwrap();
    is_right(&index);
}

/// Another process writes between two batches, as soon as the writer is idle.
#[test]
fn what_another_process_put_meanwhile_is_replaced_not_doubled() {
    let directory = tempfile::tempdir().unwrap();
    let options = || Options {
        writer_idle: Duration::from_millis(10),
        ..Options::default()
    };
    let [one, other] = [(); 2].map(|()| Index::open(directory.path(), options()).unwrap());
    let mut bulk = one.bulk();
    bulk.apply([put(1, "急須"), put(2, "急須")], 1).unwrap();
    while let Err(error) = other.apply([put(3, "急須"), Change::Remove(1)], 2) {
        assert!(matches!(error, search::Error::Busy), "{error}");
    }
    let mut batch = || bulk.apply([put(3, "湯呑"), put(2, "湯呑"), put(1, "湯呑")], 3);
    while let Err(error) = batch() {
        assert!(matches!(error, search::Error::Busy), "{error}");
    }
    for index in [&one, &other] {
        let mut cups = ids(index, "湯呑");
        cups.sort_unstable();
        assert_eq!(cups, [1, 2, 3]);
        assert_eq!(index.documents(), 3);
    }
}
