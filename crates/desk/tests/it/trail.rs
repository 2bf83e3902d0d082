//! Reading, erasing, dropping and moving the trail, in files and in rows.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use desk::audit::{
    self, Activity, AuditLocation, AuditStore, ErasureScope, Filter, RecentActivity, Report,
    ToolFilter, Trail, UNWATCHED,
};
use kit::{Result, Sql, sql::Budget};
use serde_json::json;
use store::testing;
use tokio::runtime::Handle;

use crate::{
    counter::NAME,
    office::{DAY, NOW, Office},
};

const MINUTE: i64 = 60_000;

impl Office {
    async fn on_trail<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn AuditStore) -> Result<T> + Send + 'static,
    ) -> T {
        let store = Arc::clone(&self.desk.audit.trail.as_ref().unwrap().store);
        let work = move |store: &dyn AuditStore, _: &Handle| work(store);
        audit::blocking(&store, work).await.unwrap()
    }

    async fn last_hour(&self, now: i64) -> Arc<Activity> {
        let trail = self.desk.audit.trail.as_ref().unwrap();
        let recent = RecentActivity::default();
        recent.get(&trail.store, now).await.unwrap()
    }

    async fn verified(&self) -> Report {
        let report = self.on_trail(|store| audit::verify(store, UNWATCHED)).await;
        assert!(report.ok, "{report:?}");
        report
    }

    /// Four calls in three minutes. When the last is answered, all are recorded.
    async fn busy(self) -> Self {
        self.anonymous().ok("look", json!({ "word": "a" })).await;
        self.pass(MINUTE);
        self.local_user().ok("look", json!({ "word": "b" })).await;
        self.pass(MINUTE);
        self.anonymous().refused("breaks", json!({ "n": 0 })).await;
        self.anonymous()
            .ok("notes.add", json!({ "text": "c" }))
            .await;
        self
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// The tools of a page, and whether there are older ones.
async fn page(
    office: &Office,
    filter: Filter,
    before: Option<audit::Position>,
    size: usize,
) -> (Vec<String>, Option<audit::Position>) {
    let page = move |store: &dyn AuditStore| audit::page(store, &filter, before, size, soon());
    let page = office.on_trail(page).await;
    assert_eq!(page.searched_to, None);
    let tool = |found: &audit::FoundRecord| found.json["tool"].as_str().unwrap().to_owned();
    (page.records.iter().map(tool).collect(), page.next)
}

async fn pages_show_the_newest_first(office: Office) {
    let all = Filter::default;
    let (first, next) = page(&office, all(), None, 3).await;
    assert_eq!(first, ["notes.add", "breaks", "look"]);
    let (rest, end) = page(&office, all(), next, 3).await;
    assert_eq!(rest, ["look"]);
    assert_eq!(end, None);
    let (exactly, end) = page(&office, all(), None, 4).await;
    assert_eq!((exactly.len(), end), (4, None));
    let text = |text: &str| Some(text.to_owned());
    for (filter, tools) in [
        (
            Filter {
                caller: text("local user"),
                ..all()
            },
            &["look"][..],
        ),
        (
            Filter {
                outcome: text("failed"),
                ..all()
            },
            &["breaks"],
        ),
        (
            Filter {
                tool: Some(ToolFilter::new("loo", std::iter::empty())),
                ..all()
            },
            &["look", "look"],
        ),
        (
            Filter {
                counter: text("other"),
                ..all()
            },
            &[],
        ),
        (
            Filter {
                until: Some(NOW + MINUTE),
                ..all()
            },
            &["look"],
        ),
        (
            Filter {
                since: Some(NOW + MINUTE),
                ..all()
            },
            &["notes.add", "breaks", "look"],
        ),
    ] {
        let shown = format!("{filter:?}");
        assert_eq!(page(&office, filter, None, 10).await.0, tools, "{shown}");
    }
    a_record_and_the_last_hour_are_found(&office).await;
    office.close().await;
}

/// Records of several processes arrive a little out of order, so the last minute is read again.
/// Not in files: whether to read one is decided by the system's clock.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn new_records_in_rows_are_found_once() {
    let office = Office::on(testing::postgres().await, |_| {}).await;
    let office = office.busy().await;
    let look = |store: &dyn AuditStore| {
        let mut seen = HashSet::new();
        let from = NOW + MINUTE + MINUTE / 2;
        let new = audit::find_new(store, &Filter::default(), &mut seen, from)?;
        let again = audit::find_new(store, &Filter::default(), &mut seen, from)?;
        Ok((new.len(), again.len(), seen.len()))
    };
    assert_eq!(office.on_trail(look).await, (3, 0, 3));
}

async fn a_record_and_the_last_hour_are_found(office: &Office) {
    let first = |store: &dyn AuditStore| {
        let found = audit::find(store, &Filter::default(), Some(1), UNWATCHED)?;
        let [newest] = found.as_slice() else {
            panic!("{found:?}");
        };
        let again = audit::record(store, &newest.segment, newest.seq)?.unwrap();
        assert!(audit::record(store, &newest.segment, newest.seq + 9)?.is_none());
        Ok((newest.json["tool"].clone(), again.json))
    };
    let (tool, again) = office.on_trail(first).await;
    assert_eq!(tool, "notes.add");
    assert_eq!(again["personal"], json!({ "text": "c" }));
    let now = office.now();
    let hour = office.last_hour(now).await;
    let calls = &hour.counters[NAME];
    assert_eq!((calls.total_calls(), calls.total_errors()), (4, 1));
    assert_eq!(calls.calls[57..], [1, 1, 2]);
    assert_eq!(calls.errors[57..], [0, 0, 1]);
    assert!(calls.quantile(0.0) <= calls.quantile(1.0));
    assert_eq!(hour.since, now + MINUTE - 60 * MINUTE);
    assert_eq!(hour.complete_since, hour.since);
    let later = office.last_hour(now + 60 * MINUTE).await;
    assert!(later.counters.is_empty());
}

async fn erased_and_dropped_records_leave_a_whole_trail(office: Office) {
    let before = office.verified().await;
    assert_eq!((before.erased, before.live, before.dropped), (0, 1, 0));
    let now = office.now();
    let erase = move |caller: &str, until| {
        let scope = ErasureScope {
            caller: Some(caller.to_owned()),
            until,
            ..ErasureScope::default()
        };
        move |store: &dyn AuditStore| audit::erase(store, &scope, now)
    };
    assert_eq!(office.on_trail(erase("nobody", None)).await, 0);
    let until = Some(NOW + MINUTE);
    assert_eq!(office.on_trail(erase("anonymous", until)).await, 1);
    assert_eq!(office.on_trail(erase("anonymous", None)).await, 2);
    assert_eq!(office.on_trail(erase("anonymous", None)).await, 0);
    assert_eq!(office.verified().await.erased, 3);
    let found = |store: &dyn AuditStore| {
        let filter = Filter {
            personal: true,
            ..Filter::default()
        };
        audit::find(store, &filter, None, UNWATCHED)
    };
    let found = office.on_trail(found).await;
    let kept = found.iter().filter(|it| it.json.get("arguments").is_some());
    let kept: Vec<_> = kept.map(|it| it.json["arguments"].clone()).collect();
    assert_eq!(kept, [json!({ "word": "b" })]);
    office.desk.finish().await;
    office.desk.audit.close().await;
    assert_eq!(office.verified().await.live, 0);
    for (days, at, dropped) in [
        (0, now + 9 * DAY, 0),
        (1, now + DAY, 0),
        // Names of segments are exact to the second.
        (1, now + DAY + 1_000, 1),
        (1, now + 9 * DAY, 0),
    ] {
        let drop_old = move |store: &dyn AuditStore| audit::drop_old(store, days, at);
        assert_eq!(office.on_trail(drop_old).await, dropped, "{days} {at}");
    }
    let after = office.verified().await;
    assert_eq!((after.records, after.dropped), (0, 1));
}

#[tokio::test]
async fn pages_of_files_show_the_newest_first() {
    pages_show_the_newest_first(Office::open(|_| {}).await.busy().await).await;
}

#[tokio::test]
async fn erased_and_dropped_records_in_files_leave_a_whole_trail() {
    let office = Office::open(|_| {}).await.busy().await;
    erased_and_dropped_records_leave_a_whole_trail(office).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn pages_of_rows_show_the_newest_first() {
    let office = Office::on(testing::postgres().await, |_| {}).await;
    pages_show_the_newest_first(office.busy().await).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn erased_and_dropped_records_in_rows_leave_a_whole_trail() {
    let office = Office::on(testing::postgres().await, |_| {}).await;
    erased_and_dropped_records_leave_a_whole_trail(office.busy().await).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_oldest_rows_of_a_trail_that_is_too_large_are_dropped() {
    let office = Office::on(testing::postgres().await, |_| {}).await;
    let office = office.busy().await;
    let excess = |limit| move |store: &dyn AuditStore| audit::drop_excess(store, limit, NOW);
    assert_eq!(office.on_trail(excess(1)).await, 0, "its segment is open");
    office.desk.finish().await;
    office.desk.audit.close().await;
    let whole = |store: &dyn AuditStore| {
        let sizes = store.sizes()?;
        assert_eq!(sizes.keys().cloned().collect::<Vec<_>>(), store.segments()?);
        Ok(sizes.values().sum::<u64>())
    };
    let bytes = office.on_trail(whole).await;
    assert_eq!(office.on_trail(excess(bytes)).await, 0);
    assert_eq!(office.on_trail(excess(bytes - 1)).await, 1);
    assert_eq!(office.verified().await.dropped, 1);
    assert_eq!(office.on_trail(whole).await, 0);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn rows_are_written_to_files_and_back() {
    let office = Office::on(testing::postgres().await, |_| {}).await;
    let office = office.busy().await;
    let records = office.verified().await.records;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit");
    let to = path.clone();
    let moved = move |store: &dyn AuditStore| audit::into_files(store, &to, UNWATCHED);
    assert_eq!(office.on_trail(moved).await, records);
    let files = AuditLocation::Directory(path).open().unwrap();
    let verify = |store: &dyn AuditStore, _: &Handle| audit::verify(store, UNWATCHED);
    let report = audit::blocking(&files, verify).await.unwrap();
    assert!(report.ok, "{report:?}");
    assert_eq!((report.records, report.unfinished.len()), (records, 1));
    let other = Office::on(testing::postgres().await, |_| {}).await;
    let back = move |sql: &mut dyn Sql| audit::into_table(&*files, sql, UNWATCHED);
    let back = other.store.transaction(Budget::default(), back).await;
    assert_eq!(back.unwrap(), records);
    let there = other.verified().await;
    assert_eq!((there.records, there.unfinished.len()), (records, 1));
}

/// The process of a segment died after a change and before its record.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_call_without_a_record_is_recovered_from_its_row() {
    let office = Office::on(testing::postgres().await, |_| {}).await;
    let office = office.busy().await;
    let process = office.desk.process.clone();
    let expired = office.store.clock().now().as_millisecond() - 1;
    let die = move |sql: &mut dyn Sql| {
        sql.execute(
            "INSERT INTO desk_writes
                 (call_id, at_ms, caller, counter, tool, arguments_digest, process, changes)
             VALUES ('lost', $1, 'anonymous', 'office', 'notes.add', 'd', $2, '')",
            &[NOW.into(), (&process).into()],
        )?;
        // Of somebody else, so that it is not renewed.
        sql.execute(
            "UPDATE leases SET expires_at = $1, holder = 'dead'",
            &[expired.into()],
        )
    };
    // As another process has it.
    let recover = async || {
        let location = AuditLocation::Table(Arc::clone(&office.desk.state));
        let other = location.open().unwrap();
        let (clock, rows) = (office.desk.clock.clone(), Arc::clone(&office.store));
        let store = Arc::clone(&other);
        let recover = move |_: &dyn AuditStore, runtime: &Handle| {
            let trail = Trail::new(store, clock, "other".into(), Vec::new());
            let recovered = audit::recover(&trail, &[(NAME, rows)], runtime)?;
            runtime.block_on(trail.close());
            Ok(recovered)
        };
        audit::blocking(&other, recover).await.unwrap()
    };
    assert_eq!(recover().await, 0, "its process is alive");
    office
        .store
        .transaction(Budget::default(), die)
        .await
        .unwrap();
    assert_eq!(recover().await, 1);
    assert_eq!(recover().await, 0);
    let report = office.verified().await;
    assert_eq!((report.recovered, report.unfinished.len()), (1, 0));
    let filter = Filter {
        caller: Some("anonymous".into()),
        ..Filter::default()
    };
    let found = office.on_trail(move |store| audit::find(store, &filter, None, UNWATCHED));
    let found = found.await;
    let lost = found.iter().find(|it| it.json["call"] == "lost").unwrap();
    assert_eq!(lost.json["tool"], "notes.add");
    assert_eq!(lost.json["recovered"], true);
    // It was not dead, only slow: it notices, and goes on in a new segment.
    office.pass(MINUTE);
    let late = json!({ "text": "late" });
    office.anonymous().ok("notes.add", late.clone()).await;
    let all = Filter {
        personal: true,
        ..Filter::default()
    };
    let last = office.on_trail(move |store| audit::find(store, &all, Some(1), UNWATCHED));
    let last = last.await.pop().unwrap();
    assert_eq!(last.json["personal"], late);
    assert!(found.iter().all(|it| it.segment != last.segment));
    office.verified().await;
}
