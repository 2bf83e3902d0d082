//! Killed at any moment, the program leaves a trail that the next one completes:
//! every change has its record, and none has two.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use store::testing::Postgres;

use super::{Trail, trail::store_of};
use crate::harness::{Desk, Pipe, Place, call, modern, post, show_to_book};

struct Crash {
    trail: Trail,
    url: String,
}

impl Crash {
    fn embedded() -> Self {
        let place = Place::new();
        let file = place.data().join("madoguchi.db");
        let url = format!("sqlite:///{}", file.display());
        let trail = Trail::of(&place);
        Self { trail, url }
    }

    fn on_postgres() -> Self {
        let url = Postgres::shared().create_database();
        let trail = Trail {
            place: Place::new(),
            url: Some(url.clone()),
        };
        Self { trail, url }
    }

    async fn desk(&self) -> Desk {
        let setup = Desk::setup().place(&self.trail.place);
        match &self.trail.url {
            None => setup.start().await,
            Some(url) => setup.database(url).start().await,
        }
    }

    fn stdio(&self) -> Pipe {
        let mut command = self.trail.place.command();
        command.args(["stdio", "cinema"]);
        command.envs(self.trail.environment());
        Pipe::start(&mut command)
    }

    /// The calls that changed something, as the rows tell it.
    async fn changes(&self) -> BTreeSet<String> {
        let store = store_of(&self.url).await;
        let rows = store.query(Default::default(), |sql| {
            sql.query("SELECT call_id FROM desk_writes", &[])?
                .iter()
                .map(|row| row.text(0))
                .collect()
        });
        rows.await.unwrap()
    }

    /// How often each booking is recorded as done.
    fn recorded(&self) -> BTreeMap<String, usize> {
        let mut times = BTreeMap::new();
        for call in self.trail.calls() {
            if call["tool"] == "reserve_seats" && call["outcome"] == "done" {
                *times
                    .entry(call["call"].as_str().unwrap().to_owned())
                    .or_default() += 1;
            }
        }
        times
    }

    /// Every change has a record, once somebody noticed the death.
    async fn complete(&self) {
        let changes = self.changes().await;
        for _ in 0..120 {
            let all_there = self.recorded().len() == changes.len();
            if all_there && self.trail.verified()["unfinished"] == json!([]) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let recorded = self.recorded();
        let twice: Vec<_> = recorded.iter().filter(|(_, times)| **times != 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
        let recorded: BTreeSet<String> = recorded.into_keys().collect();
        assert_eq!(recorded, changes);
        let report = self.trail.verified();
        assert_eq!(report["unfinished"], json!([]), "{report}");
    }
}

async fn killed_in_the_midst(crash: Crash) {
    if crash.trail.url.is_some() {
        let url = ("MADOGUCHI_DATABASE__URL".to_owned(), crash.url.clone());
        crash.trail.place.load_demo(&[url]);
    }
    for round in 0..3u64 {
        let desk = crash.desk().await;
        let shows = [
            show_to_book(&desk, "M003", 0).await,
            show_to_book(&desk, "M004", 1).await,
        ];
        let (port, so_far) = (desk.port, Arc::new(AtomicU64::new(0)));
        let booking = (0..8usize).map(|client| {
            let show = shows[client % 2]["schedule_id"].clone();
            let so_far = Arc::clone(&so_far);
            async move {
                for number in 1..=8 {
                    let seat = format!("{}{number}", ["A", "B", "C", "D"][client / 2]);
                    book(port, &show, &seat).await;
                    so_far.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let booking = tokio::spawn(futures::future::join_all(booking.collect::<Vec<_>>()));
        while so_far.load(Ordering::Relaxed) < 3 + round * 10 && !booking.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        desk.signal("KILL");
        booking.await.unwrap();
    }
    let _desk = crash.desk().await;
    crash.complete().await;
    assert!(!crash.changes().await.is_empty());
}

#[tokio::test]
async fn killed_in_the_midst_of_many_bookings_embedded() {
    killed_in_the_midst(Crash::embedded()).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn killed_in_the_midst_of_many_bookings_on_postgres() {
    killed_in_the_midst(Crash::on_postgres()).await;
}

/// The last records of a dead process never reached the disk. Several processes
/// start at once on what is left: each booking is completed by one of them.
#[tokio::test]
async fn what_never_reached_the_disk_is_completed_once_by_many() {
    let crash = Crash::embedded();
    let desk = crash.desk().await;
    let show = show_to_book(&desk, "M003", 0).await["schedule_id"].clone();
    for number in 1..=6 {
        book(desk.port, &show, &format!("A{number}")).await;
    }
    assert_eq!(crash.changes().await.len(), 6);
    desk.signal("KILL");
    drop(desk);
    let segment = crash.trail.segments().remove(0);
    let text = fs::read_to_string(&segment).unwrap();
    let lost = text.match_indices("reserve_seats").nth(2).unwrap().0;
    let cut = text[..lost].to_owned();
    fs::write(&segment, &cut).unwrap();
    // Nor did the head, which is written after them.
    fs::remove_dir_all(crash.trail.directory().join("heads")).unwrap();

    let pipes: Vec<_> = (0..4)
        .map(|_| {
            let mut pipe = crash.stdio();
            std::thread::spawn(move || {
                pipe.request(&modern(1, "tools/list", json!({})));
                pipe.finish()
            })
        })
        .collect();
    for pipe in pipes {
        let (_, status, stderr) = pipe.join().unwrap();
        assert!(status.success(), "{stderr}");
    }
    crash.complete().await;
    let recovered: Vec<Value> = crash
        .trail
        .calls()
        .into_iter()
        .filter(|call| call["recovered"] == true)
        .collect();
    assert_eq!(recovered.len(), 4, "{recovered:#?}");
    assert_eq!(recovered[0]["caller"], "anonymous");
    assert_eq!(recovered[0]["counter"], "cinema");
    let name = segment.file_stem().unwrap().to_str().unwrap();
    assert_eq!(recovered[0]["segment"], name);
    // The torn line was put aside, and it is said.
    let report = crash.trail.verified();
    assert_eq!(report["torn"], json!([name]));
    let aside = crash.trail.directory().join("torn").join(name);
    let aside = fs::read_to_string(aside).unwrap();
    assert!(cut.ends_with(&aside) && !aside.is_empty());
    // Starting again finds nothing more to do.
    crash.stdio().finish();
    crash.complete().await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn rows_that_never_reached_the_database_are_completed_once_by_many() {
    let crash = Crash::on_postgres();
    let url = ("MADOGUCHI_DATABASE__URL".to_owned(), crash.url.clone());
    crash.trail.place.load_demo(&[url]);
    let desk = crash.desk().await;
    let show = show_to_book(&desk, "M003", 0).await["schedule_id"].clone();
    for number in 1..=6 {
        book(desk.port, &show, &format!("A{number}")).await;
    }
    desk.signal("KILL");
    drop(desk);
    let store = store_of(&crash.url).await;
    let removed = store.transaction(Default::default(), |sql| {
        sql.execute(
            "DELETE FROM desk_audit WHERE segment <> 'checkpoints'
             AND seq > (SELECT MAX(seq) - 4 FROM desk_audit WHERE segment <> 'checkpoints')",
            &[],
        )
    });
    assert_eq!(removed.await.unwrap(), 4);
    let forgotten = store.transaction(Default::default(), |sql| {
        sql.execute("DELETE FROM desk_audit_heads", &[])
    });
    assert_eq!(forgotten.await.unwrap(), 1);
    let (one, two) = tokio::join!(crash.desk(), crash.desk());
    crash.complete().await;
    let calls = crash.trail.calls();
    let recovered = calls.iter().filter(|call| call["recovered"] == true);
    assert_eq!(recovered.count(), 4);
    drop((one, two));
}

/// A desk that slept for too long is taken for dead and completed by another.
/// When it wakes, it goes on in a segment of its own, and no call is there twice.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_desk_that_was_taken_for_dead_goes_on() {
    let crash = Crash::on_postgres();
    let url = ("MADOGUCHI_DATABASE__URL".to_owned(), crash.url.clone());
    crash.trail.place.load_demo(&[url]);
    let desk = crash.desk().await;
    let show = show_to_book(&desk, "M003", 0).await["schedule_id"].clone();
    book(desk.port, &show, "A1").await;
    let before = crash.trail.verified();
    assert_eq!(before["segments"], 1, "{before}");
    let store = store_of(&crash.url).await;
    let lost = store.transaction(Default::default(), |sql| {
        sql.execute(
            "UPDATE leases SET holder = 'nobody', expires_at = 0 WHERE name LIKE 'audit:%'",
            &[],
        )
    });
    assert_eq!(lost.await.unwrap(), 1);
    // At once, while nobody has noticed, and when another has sealed it.
    book(desk.port, &show, "A2").await;
    let other = crash.desk().await;
    book(desk.port, &show, "A3").await;
    book(other.port, &show, "A4").await;
    assert_eq!(crash.changes().await.len(), 4);
    crash.complete().await;
    let report = crash.trail.verified();
    assert_eq!(report["segments"], 3, "{report}");
    assert_eq!(report["live"], 2, "{report}");
}

async fn book(port: u16, show: &Value, seat: &str) {
    let arguments = json!({ "schedule_id": show, "seat_ids": [seat] });
    let call = call(1, "reserve_seats", arguments);
    let _ = post(port, "cinema", None, &call).await;
}
