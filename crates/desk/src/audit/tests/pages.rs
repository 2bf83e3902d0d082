//! Pages of the trail: every record once, newest first, within the time there is.

use std::time::{Duration, Instant};

use super::*;

/// Earlier than the files, whose own times tell when they were last written.
const PAST: i64 = 1_700_000_000_000;

impl Desk {
    fn long_ago() -> Self {
        let desk = Self::new();
        desk.clock.set(Timestamp::from_millisecond(PAST).unwrap());
        desk
    }

    /// All pages, and how many there were.
    fn pages(&self, filter: &Filter, size: usize, time: Duration) -> (Vec<FoundRecord>, usize) {
        let (mut all, mut before, mut count) = (Vec::new(), None, 0);
        loop {
            let deadline = Instant::now() + time;
            let got = page(&*self.store(), filter, before, size, deadline).unwrap();
            count += 1;
            all.extend(got.records);
            before = got.next;
            if before.is_none() {
                return (all, count);
            }
        }
    }
}

const PLENTY: Duration = Duration::from_secs(60);

fn numbers(records: &[FoundRecord]) -> Vec<(String, u64)> {
    let number = |it: &FoundRecord| (it.segment.clone(), it.seq);
    records.iter().map(number).collect()
}

async fn call_at(trail: &Trail, at: i64, caller: &str) {
    let AuditEntry::Call(mut call) = entry(trail, "x") else {
        unreachable!()
    };
    call.at = at;
    call.caller = caller.into();
    assert!(write(trail, AuditEntry::Call(call)).await);
}

#[tokio::test]
async fn pages_have_every_record_once_and_newest_first() {
    let desk = Desk::long_ago();
    // A process that ended, and two that take turns.
    desk.process(5).await;
    desk.wait(1000);
    let (one, two) = (desk.trail(), desk.trail());
    for _ in 0..20 {
        desk.wait(7);
        make(&one, "one").await;
        make(&two, "two").await;
    }
    for size in [1, 3, 1000] {
        let (all, pages) = desk.pages(&Filter::default(), size, PLENTY);
        let mut expected = desk.find();
        expected.reverse();
        assert_eq!(numbers(&all), numbers(&expected), "{size} a page");
        assert_eq!(pages, 45usize.div_ceil(size), "{size} a page");
        let arguments = |it: &FoundRecord| it.json["arguments"]["room"] == "dev";
        assert!(all.iter().all(arguments));
    }
}

#[tokio::test]
async fn records_out_of_order_are_on_one_page_each() {
    let desk = Desk::long_ago();
    let (one, two) = (desk.trail(), desk.trail());
    for (nth, late) in [0, 40, 3, 30, 0, 12, 9, 50, 1].into_iter().enumerate() {
        let at = PAST + 5 * nth as i64 + late;
        call_at(&one, at, "k1").await;
        call_at(&two, at + 2, "k1").await;
    }
    let (all, _) = desk.pages(&Filter::default(), 2, PLENTY);
    let mut found = numbers(&all);
    assert_eq!(found.len(), 18);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 18);
}

#[tokio::test]
async fn filters_apply_and_a_search_that_takes_too_long_goes_on_later() {
    let desk = Desk::long_ago();
    let trail = desk.trail();
    for nth in 0..300 {
        let caller = if nth % 100 == 7 { "rare" } else { "k1" };
        call_at(&trail, PAST + nth, caller).await;
    }
    let rare = Filter {
        caller: Some("rare".into()),
        ..Filter::default()
    };
    let (found, pages) = desk.pages(&rare, 50, PLENTY);
    let times: Vec<i64> = found.iter().map(|it| it.at - PAST).collect();
    assert_eq!((times, pages), (vec![207, 107, 7], 1));
    // Without any time, a page is a few lines, and nothing is passed over.
    let (found, pages) = desk.pages(&rare, 50, Duration::ZERO);
    assert_eq!(found.len(), 3);
    assert!(pages > 1);
    let first = page(&*desk.store(), &rare, None, 50, Instant::now()).unwrap();
    assert!(
        first.searched_to.is_some_and(|at| at > PAST + 100),
        "{first:?}"
    );
    let some = Filter {
        since: Some(PAST + 10),
        until: Some(PAST + 20),
        ..Filter::default()
    };
    assert_eq!(desk.pages(&some, 3, PLENTY).0.len(), 10);
}

#[tokio::test]
async fn one_record_is_found_by_its_number() {
    let desk = Desk::long_ago();
    desk.process(40).await;
    let segment = &desk.segments()[0];
    for it in desk.find() {
        let found = record(&*desk.store(), segment, it.seq).unwrap().unwrap();
        assert_eq!((found.at, found.seq), (it.at, it.seq));
        assert_eq!(found.json["personal"]["message"], "my secret wish");
    }
    for (segment, seq) in [(segment.as_str(), 4000), ("no-such-segment", 1)] {
        assert!(record(&*desk.store(), segment, seq).unwrap().is_none());
    }
}

#[tokio::test]
async fn the_last_hour_is_counted_by_minute() {
    let desk = Desk::long_ago();
    let trail = desk.trail();
    let minute = 60_000;
    let now = PAST + 100 * minute;
    for (at, outcome) in [
        (now - 61 * minute, Outcome::Done),
        (now - 2 * minute, Outcome::Refused("SEATS_TAKEN".into())),
        (now - 2 * minute, Outcome::Done),
        (now, Outcome::Failed("x".into())),
    ] {
        let AuditEntry::Call(mut call) = entry(&trail, "x") else {
            unreachable!()
        };
        (call.at, call.outcome) = (at, outcome);
        assert!(write(&trail, AuditEntry::Call(call)).await);
    }
    let deadline = Instant::now() + PLENTY;
    let hour = activity::last_hour(&*desk.store(), now, deadline).unwrap();
    let rooms = &hour.counters["rooms"];
    assert_eq!((rooms.total_calls(), rooms.total_errors()), (3, 2));
    assert_eq!(&rooms.calls[57..], [2, 0, 1]);
    assert_eq!(&rooms.errors[57..], [1, 0, 1]);
    assert_eq!(rooms.quantile(0.95), Some(1.0));
    assert_eq!(hour.complete_since, hour.since);
}

#[tokio::test]
async fn a_full_hour_is_not_read_anew_for_everybody() {
    let desk = Desk::long_ago();
    let trail = desk.trail();
    for _ in 0..20 {
        write(&trail, entry(&trail, "x")).await;
    }
    let at = async |now| trail.activity.get(&desk.store(), now).await.unwrap();
    let first = at(PAST).await;
    assert_eq!(first.counters["rooms"].total_calls(), 20);
    write(&trail, entry(&trail, "x")).await;
    assert!(Arc::ptr_eq(&at(PAST + 1).await, &first));
    let next = at(PAST + 3).await;
    assert_eq!(next.counters["rooms"].total_calls(), 21);
    // A clock that was set back does not keep it.
    assert!(!Arc::ptr_eq(&at(PAST + 2).await, &next));
}

#[tokio::test]
async fn refusals_before_a_tool_was_known_are_found_by_their_outcome() {
    let desk = Desk::long_ago();
    let trail = desk.trail();
    call_at(&trail, PAST, "k1").await;
    assert!(write(&trail, filler(3)).await);
    let found = |outcome: &str| {
        let filter = Filter {
            outcome: Some(outcome.into()),
            ..Filter::default()
        };
        let (paged, _) = desk.pages(&filter, 50, PLENTY);
        let listed = find(&*desk.store(), &filter, None, UNWATCHED).unwrap();
        assert_eq!(numbers(&paged), numbers(&listed), "{outcome}");
        paged.len()
    };
    for (outcome, count) in [
        ("refused", 1),
        ("INVALID_KEY", 1),
        ("done", 1),
        ("asked", 0),
    ] {
        assert_eq!(found(outcome), count, "{outcome}");
    }
}

/// The time of a file may lag behind its records, which must be found all the same.
#[tokio::test]
async fn a_segment_counts_as_changed_for_ten_seconds_more() {
    let desk = Desk::new();
    desk.process(1).await;
    let [segment] = &desk.segments()[..] else {
        panic!("{:?}", desk.segments());
    };
    let changed = fs::metadata(desk.file(segment))
        .unwrap()
        .modified()
        .unwrap();
    let changed = changed.duration_since(std::time::UNIX_EPOCH).unwrap();
    let until = i64::try_from(changed.as_millis()).unwrap() + 10_000;
    let touched = |since| desk.store().touched(since).unwrap();
    assert_eq!(touched(until), [(segment.clone(), until)]);
    assert_eq!(touched(until + 1), []);
}
