//! PostgreSQL restarts, fails over, stays away or shows another time than the desk's
//! machine, while the desk runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures::future::join_all;
use serde_json::{Value, json};
use store::testing::{Postgres, PostgresNode, Proxy};

use crate::{
    audit::Trail,
    harness::{
        Desk, FakeClock, Place, call, configured_keys, free_seats, largest_show, mentions, post,
        refused, seats_of, show_to_book, structured,
    },
};

const CUSTOMERS: usize = 6;

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Customers who book seat after seat, each call once, and hear of every one.
struct BoxOffice {
    desk: Desk,
    show: String,
    booked: Arc<AtomicUsize>,
    customers: Vec<tokio::task::JoinHandle<BTreeMap<String, String>>>,
}

impl BoxOffice {
    async fn open(url: &str) -> Self {
        let desk = Desk::setup()
            .config("[database]\nwait_for_primary = 20\n")
            .database(url)
            .demo()
            .start()
            .await;
        let show = largest_show(&desk).await;
        let show = show["schedule_id"].as_str().unwrap().to_owned();
        let free = free_seats(&seats_of(&desk, &show).await);
        let free = Arc::new(Mutex::new(free.into_iter().collect::<Vec<_>>()));
        let booked = Arc::new(AtomicUsize::new(0));
        let customers = (0..CUSTOMERS).map(|_| {
            let (port, show) = (desk.port, show.clone());
            let (free, booked) = (Arc::clone(&free), Arc::clone(&booked));
            tokio::spawn(async move {
                let mut own = BTreeMap::new();
                while let Some(seat) = next(&free) {
                    let arguments = json!({ "schedule_id": show, "seat_ids": [seat] });
                    let message = call(1, "reserve_seats", arguments);
                    let answer = post(port, "cinema", None, &message).await.unwrap();
                    let answer = structured(&answer.message()["result"]).clone();
                    let id = answer["reservation"]["reservation_id"].as_str();
                    own.insert(seat, id.unwrap().to_owned());
                    booked.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(60)).await;
                }
                own
            })
        });
        Self {
            customers: customers.collect(),
            desk,
            show,
            booked,
        }
    }

    async fn until_more_are_booked(&self, more: usize) {
        let wanted = self.booked.load(Ordering::SeqCst) + more;
        let started = Instant::now();
        while self.booked.load(Ordering::SeqCst) < wanted {
            assert!(started.elapsed() < Duration::from_secs(60), "nothing moves");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Every booking was heard of, is there, and has one record.
    async fn close_and_check(self, url: &str) {
        let mut booked = BTreeMap::new();
        for own in join_all(self.customers).await {
            booked.extend(own.unwrap());
        }
        let ids: BTreeSet<&String> = booked.values().collect();
        assert_eq!(ids.len(), booked.len());
        assert!(free_seats(&seats_of(&self.desk, &self.show).await).is_empty());
        for (seat, id) in &booked {
            let arguments = json!({ "reservation_id": id });
            let found = self.desk.ok("cinema", "get_reservation_details", arguments);
            assert_eq!(found.await["reservation"]["seat_ids"], json!([seat]));
        }
        let trail = Trail {
            place: self.desk.place.clone(),
            url: Some(url.to_owned()),
        };
        let is_booking = |call: &&Value| call["tool"] == "reserve_seats";
        let started = Instant::now();
        loop {
            let calls = trail.calls();
            let bookings: Vec<_> = calls.iter().filter(is_booking).collect();
            let named: BTreeSet<_> = bookings.iter().map(|call| call["call"].as_str()).collect();
            assert_eq!(named.len(), bookings.len(), "a call has two records");
            if bookings.len() == booked.len() {
                assert!(bookings.iter().all(|call| call["outcome"] == "done"));
                break;
            }
            let waited = started.elapsed();
            assert!(
                waited < Duration::from_secs(20),
                "{} records",
                bookings.len()
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        trail.verified();
    }
}

fn next(free: &Mutex<Vec<String>>) -> Option<String> {
    free.lock().unwrap().pop()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn bookings_go_on_through_restarts_and_are_recorded_once() {
    let mut server = blocking(PostgresNode::start_new).await;
    let url = server.url();
    let office = BoxOffice::open(&url).await;
    for restart in 0..5 {
        office.until_more_are_booked(5).await;
        server = blocking(move || {
            match restart % 2 {
                0 => server.restart(),
                _ => {
                    server.crash();
                    server.start();
                }
            }
            server
        })
        .await;
    }
    office.close_and_check(&url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn bookings_go_on_at_a_promoted_standby() {
    let (mut primary, standby) = blocking(|| {
        let primary = PostgresNode::start_new();
        let standby = primary.start_standby();
        (primary, standby)
    })
    .await;
    let proxy = Proxy::start(primary.port());
    let url = primary.url_at(proxy.port());
    let office = BoxOffice::open(&url).await;
    office.until_more_are_booked(10).await;
    // Answers are lost first, as when a network breaks, and then the machine dies.
    proxy.hold();
    let (_primary, standby) = blocking(move || {
        primary.crash();
        standby.promote();
        (primary, standby)
    })
    .await;
    proxy.target(standby.port());
    proxy.cut();
    proxy.pass();
    office.until_more_are_booked(5).await;
    office.close_and_check(&url).await;
}

/// Probes, `doctor` and refusals while the database is away.
async fn says_so(desk: &Desk, unknown: &str, environment: &[(&str, &str)]) {
    let ready = desk.get("/readyz").await;
    assert_eq!(ready.status, 503);
    mentions(&ready.text(), &["database: PostgreSQL has no primary"]);
    assert_eq!(desk.get("/livez").await.status, 200);
    // A key that the desk has not seen yet is not called wrong, and a limit that can't be
    // counted is not called reached.
    for (key, counter) in [(unknown, "cinema"), ("a key from the file", "fixture")] {
        let answer = desk.call_as(key, counter, "no_matter", json!({})).await;
        assert_eq!(answer.status, 503, "{counter} {}", answer.text());
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert_eq!(answer.message()["error"]["code"], 503);
    }
    let doctor = desk.place.run_with(&["doctor"], environment);
    assert_ne!(doctor.code, Some(0));
    mentions(&doctor.stdout, &["FAIL store", "can't be reached"]);
}

/// Whoever asks is told that the database is away and when to retry. Nothing has to be
/// restarted when it comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_desk_without_its_database_says_so_and_comes_back_by_itself() {
    let mut server = blocking(PostgresNode::start_new).await;
    let url = server.url();
    let config =
        "[database]\nwait_for_primary = 1\n[limits]\nrequests_per_minute = { fixture = 100 }\n";
    let config = format!(
        "{config}{}",
        configured_keys(&[("known", "a key from the file")])
    );
    let setup = Desk::setup().config(&config).database(&url).demo();
    let desk = setup.start().await;
    let environment = [("MADOGUCHI_DATABASE__URL", &*url)];
    let made = desk
        .place
        .run_with(&["keys", "create", "--json", "new"], &environment);
    let own = made.ok().json()["key"].as_str().unwrap().to_owned();
    // Nobody can tell whether another desk has made this one meanwhile.
    let (start, secret) = own.rsplit_once('_').unwrap();
    let last = if start.ends_with('x') { 'y' } else { 'x' };
    let unknown = format!("{}{last}_{secret}", &start[..start.len() - 1]);
    let show = show_to_book(&desk, "M001", 0).await;
    let seats = |seat: &str| json!({ "schedule_id": show["schedule_id"], "seat_ids": [seat] });
    server.stop();

    let started = Instant::now();
    for (tool, arguments) in [
        ("reserve_seats", seats("A1")),
        (
            "get_seat_availability",
            json!({ "schedule_id": show["schedule_id"] }),
        ),
    ] {
        let answer = desk.call("cinema", tool, arguments).await;
        let error = refused(&answer, "UNAVAILABLE");
        assert!(
            error["details"]["retry_after_ms"].as_u64() > Some(0),
            "{error}"
        );
    }
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    says_so(&desk, &unknown, &environment).await;

    let server = blocking(move || {
        server.start();
        server
    })
    .await;
    let back = Instant::now();
    // The server takes its time to accept connections.
    loop {
        let answer = desk.call("cinema", "reserve_seats", seats("A1")).await;
        if answer["isError"] != true {
            break;
        }
        refused(&answer, "UNAVAILABLE");
        assert!(back.elapsed() < Duration::from_secs(30));
    }
    let answer = desk
        .call_as(&own, "cinema", "reserve_seats", seats("A2"))
        .await;
    structured(&answer.message()["result"]);
    let answer = desk
        .call_as(&unknown, "cinema", "no_matter", json!({}))
        .await;
    assert_eq!(answer.status, 401);
    while desk.get("/readyz").await.status != 200 {
        assert!(back.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(!desk.log().contains("panicked"), "{}", desk.log());
    drop(server);
}

/// A desk that is started while there is no server waits for it, and is not ready before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_desk_that_starts_without_its_database_waits_for_it() {
    let mut server = blocking(PostgresNode::start_new).await;
    let url = server.url();
    server.stop();
    let started = Instant::now();
    let desk = Desk::setup()
        .config("[database]\nwait_for_primary = 20\n")
        .database(&url)
        .start();
    let back = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let back = started.elapsed();
        let server = blocking(move || {
            server.start();
            server
        });
        (server.await, back)
    };
    let ready = async {
        let desk = desk.await;
        (desk, started.elapsed())
    };
    let ((_server, back), (desk, ready)) = futures::join!(back, ready);
    assert!(ready > back, "ready after {ready:?}, without a database");
    let room = json!({ "roomName": "r" });
    desk.ok("rooms", "create_room", room).await;
}

/// Reads in rooms that lose their connection half-way are repeated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn reads_in_rooms_survive_cut_connections() {
    let server = blocking(PostgresNode::start_new).await;
    let proxy = Proxy::start(server.port());
    let desk = Desk::setup()
        .config("[database]\nwait_for_primary = 20\n")
        .database(&server.url_at(proxy.port()))
        .start()
        .await;
    let room = json!({ "roomName": "r" });
    desk.ok("rooms", "create_room", room.clone()).await;
    let reads = async {
        loop {
            desk.ok("rooms", "list_rooms", json!({ "agentName": "nobody" }))
                .await;
            desk.ok("rooms", "get_messages", room.clone()).await;
        }
    };
    let cuts = async {
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_millis(500)).await;
            proxy.cut();
        }
    };
    tokio::select! {
        () = reads => {}
        () = cuts => {}
    }
}

/// A desk whose machine shows another time, and jumps on top of it.
async fn desk_at(place: &Place, url: &str, clock: &FakeClock) -> Desk {
    let setup = Desk::setup().place(place).database(url);
    setup.clock(clock).start().await
}

/// Holds, keys and leases go by the clock of PostgreSQL, so a desk on a machine whose
/// clock is wrong by hours neither ends nor revives anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_wrong_clock_ends_nothing_early_and_revives_nothing() {
    let url = Postgres::shared().create_database();
    let place = Place::new();
    let environment = [("MADOGUCHI_DATABASE__URL", &*url)];
    place.load_demo(&environment.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let clock = |name, distance| FakeClock::new(&place, name, distance);
    let (early, late) = (clock("early", "-5h"), clock("late", "+5h"));
    let desks = [
        desk_at(&place, &url, &early).await,
        desk_at(&place, &url, &late).await,
    ];
    let key = |expires: &str| {
        let create = ["keys", "create", "--json", "--expires", expires, expires];
        let made = place.run_with(&create, &environment).ok().json();
        made["key"].as_str().unwrap().to_owned()
    };
    let (valid, short) = (key("1h"), key("3s"));
    let show = show_to_book(&desks[0], "M001", 0).await;
    let seats = json!({ "schedule_id": show["schedule_id"], "seat_ids": ["A1"] });
    for _ in 0..2 {
        // A hold of one desk is a hold for the other, whichever way the clocks differ.
        for (one, other) in [(0, 1), (1, 0)] {
            let held = desks[one].call("cinema", "hold_seats", seats.clone()).await;
            let hold = structured(&held)["reservation"]["reservation_id"].clone();
            let expires: jiff::Timestamp = structured(&held)["reservation"]["expires_at"]
                .as_str()
                .unwrap()
                .parse()
                .unwrap();
            let lasts = expires.duration_since(jiff::Timestamp::now()).as_mins();
            assert!((1..60).contains(&lasts), "{lasts} minutes");
            let taken = desks[other]
                .call("cinema", "reserve_seats", seats.clone())
                .await;
            refused(&taken, "SEATS_TAKEN");
            let cancel = json!({ "reservation_id": hold });
            structured(
                &desks[other]
                    .call("cinema", "cancel_reservation", cancel)
                    .await,
            );
        }
        for desk in &desks {
            let list = desk
                .call_as(&valid, "cinema", "get_movie_list", json!({}))
                .await;
            assert_eq!(list.status, 200, "{}", list.text());
        }
        // Now the clocks jump while the desks run.
        early.set("+9h");
        late.set("-9h");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    for desk in &desks {
        let list = desk
            .call_as(&short, "cinema", "get_movie_list", json!({}))
            .await;
        assert_eq!(list.status, 401, "an expired key lives: {}", list.text());
    }
}

/// An agent at one desk is online at the other, whatever the time is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_wrong_clock_takes_no_agent_offline() {
    let (place, url) = (Place::new(), Postgres::shared().create_database());
    let clock = |name, distance| FakeClock::new(&place, name, distance);
    let (early, late) = (clock("early", "-5h"), clock("late", "+5h"));
    let desks = [
        desk_at(&place, &url, &early).await,
        desk_at(&place, &url, &late).await,
    ];
    let room = json!({ "roomName": "r" });
    desks[0].ok("rooms", "create_room", room.clone()).await;
    for (desk, agent) in desks.iter().zip(["one", "two"]) {
        let member = json!({ "agentName": agent, "roomName": "r" });
        desk.ok("rooms", "enter_room", member).await;
    }
    for desk in &desks {
        let users = desk.ok("rooms", "list_room_users", room.clone()).await;
        assert_eq!(users["onlineCount"], 2, "{users}");
    }
}
