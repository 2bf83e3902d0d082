use std::path::PathBuf;

use tempfile::TempDir;

use super::{
    RingAdmission::{Admitted, Busy, RetryAfter},
    *,
};

const NOW: i64 = 1_800_000_000_000;
const ADMITTED: RingAdmission = Admitted(1);

struct TestRing(TempDir);

impl TestRing {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("limits").join(file_name("c", "d"))
    }

    fn take(&self, limit: u64, at: i64) -> RingAdmission {
        self.take_many(limit, 1, at)
    }

    fn take_many(&self, limit: u64, requests: u64, at: i64) -> RingAdmission {
        let mut file = RingFile::new(self.path());
        file.take(limit, requests, || at).unwrap()
    }
}

/// The most requests within any minute.
fn most_in_a_minute(passed: &[i64]) -> usize {
    let from = (0..passed.len()).map(|index| {
        let within = passed[index..]
            .iter()
            .take_while(|at| **at - passed[index] <= WINDOW_MS);
        within.count()
    });
    from.max().unwrap_or(0)
}

#[test]
fn exactly_the_limit_passes_in_any_minute() {
    let ring = TestRing::new();
    let ticks = (0..3_100).map(|tick| NOW + tick * 50);
    let passed: Vec<i64> = ticks.filter(|at| ring.take(100, *at) == ADMITTED).collect();
    assert_eq!(most_in_a_minute(&passed), 100);
    assert_eq!(
        passed.len(),
        300,
        "155 seconds hold three full minutes' worth"
    );
}

#[test]
fn a_refusal_says_how_long_to_wait() {
    let ring = TestRing::new();
    assert_eq!(ring.take(1, NOW), ADMITTED);
    assert_eq!(ring.take(1, NOW), RetryAfter(WINDOW_MS));
    assert_eq!(ring.take(1, NOW + 20_000), RetryAfter(40_001));
    assert_eq!(ring.take(1, NOW + WINDOW_MS), RetryAfter(1));
    assert_eq!(ring.take(1, NOW + WINDOW_MS + 1), ADMITTED);
}

/// Two desks with different limits: each applies its own.
#[test]
fn a_lower_limit_waits_until_enough_times_expire() {
    let ring = TestRing::new();
    for at in 0..10 {
        assert_eq!(ring.take(10, NOW + at * 1000), ADMITTED);
    }
    assert_eq!(ring.take(3, NOW + 10_000), RetryAfter(57_001));
    assert_eq!(ring.take(11, NOW + 10_000), ADMITTED);
}

#[test]
fn it_grows_with_the_requests_of_a_minute_and_no_further() {
    let ring = TestRing::new();
    let limit = 4_000_000_000;
    let mut passed = 0;
    for minute in 0..3 {
        let start = NOW + minute * (WINDOW_MS + 1);
        for at in 0..1_000 {
            assert_eq!(ring.take(limit, start + at), ADMITTED);
            passed += 1;
        }
    }
    assert_eq!(passed, 3_000);
    let size = fs::metadata(ring.path()).unwrap().len();
    assert_eq!(size, HEADER + 1024 * 8);
    // Requests from before it grew still count.
    let ring = TestRing::new();
    for at in 0..FIRST_SLOTS + 1 {
        assert_eq!(ring.take(FIRST_SLOTS + 1, NOW + at as i64), ADMITTED);
    }
    assert_eq!(ring.take(FIRST_SLOTS + 1, NOW + 1_000), RetryAfter(59_001));
}

#[test]
fn after_the_clock_is_set_back_waits_are_short_and_the_limit_holds() {
    let ring = TestRing::new();
    for _ in 0..5 {
        assert_eq!(ring.take(5, NOW), ADMITTED);
    }
    let earlier = NOW - 24 * 60 * 60 * 1000;
    assert_eq!(ring.take(5, earlier), RetryAfter(WINDOW_MS));
    assert_eq!(ring.take(5, earlier + 30_000), RetryAfter(30_001));
    assert_eq!(ring.take(5, earlier + WINDOW_MS + 1), ADMITTED);
}

#[test]
fn a_damaged_file_lets_nothing_pass_for_a_minute() {
    let ring = TestRing::new();
    let bad: [fn(&mut Vec<u8>); 5] = [
        |bytes| bytes.truncate(100),
        |bytes| bytes.truncate(3),
        |bytes| bytes.fill(0),
        |bytes| bytes.fill(0xff),
        |bytes| bytes[16] = 200,
    ];
    for (damage, start) in bad.iter().zip((NOW..).step_by(1_000_000)) {
        assert_eq!(ring.take(5, start), ADMITTED);
        let mut bytes = fs::read(ring.path()).unwrap();
        damage(&mut bytes);
        fs::write(ring.path(), bytes).unwrap();
        assert_eq!(ring.take(5, start), RetryAfter(WINDOW_MS));
        assert_eq!(ring.take(5, start + 59_999), RetryAfter(1));
        // The clock was set back meanwhile.
        assert_eq!(ring.take(5, start - 1_000_000), RetryAfter(WINDOW_MS));
        assert_eq!(ring.take(5, start - 1_000_000 + WINDOW_MS), ADMITTED);
    }
    // Impossible times do not lead to errors.
    let mut bytes = fs::read(ring.path()).unwrap();
    bytes[HEADER as usize..].fill(0x80);
    fs::write(ring.path(), bytes).unwrap();
    assert_eq!(ring.take(5, NOW + 100_000_000), ADMITTED);
}

#[test]
fn requests_that_are_counted_together_count_each() {
    let ring = TestRing::new();
    assert_eq!(ring.take_many(100, 30, NOW), Admitted(30));
    assert_eq!(ring.take_many(100, 90, NOW + 1), Admitted(70));
    assert_eq!(ring.take_many(100, 20, NOW + 1), RetryAfter(WINDOW_MS));
    // The next go around the end of the ring.
    assert_eq!(ring.take_many(100, 200, NOW + WINDOW_MS + 1), Admitted(30));
    let later = NOW + WINDOW_MS + 2;
    assert_eq!(ring.take_many(100, 200, later), Admitted(70));
    assert_eq!(ring.take_many(100, 1, later), RetryAfter(WINDOW_MS));
    // What fits passes at once; the rest asks again and makes it grow.
    let (mut passed, mut turns) = (0, 0);
    let ring = TestRing::new();
    while let Admitted(some) = ring.take_many(1_000, 1_500 - passed, NOW) {
        passed += some;
        turns += 1;
    }
    assert_eq!((passed, turns), (1_000, 7));
    assert_eq!(ring.take_many(1_001, 1, NOW), ADMITTED);
}

/// Another process made it larger, or removed it.
#[cfg(unix)]
#[test]
fn an_open_file_that_was_replaced_is_opened_anew() {
    let ring = TestRing::new();
    let mut open = RingFile::new(ring.path());
    assert_eq!(open.take(500, 100, || NOW).unwrap(), Admitted(100));
    assert_eq!(ring.take_many(500, 28, NOW), Admitted(28));
    assert_eq!(ring.take(500, NOW), ADMITTED);
    assert_eq!(open.take(130, 2, || NOW).unwrap(), ADMITTED);
    let held = lock(&ring.path()).unwrap().unwrap();
    assert_eq!(open.take(500, 1, || NOW).unwrap(), Busy);
    drop(held);
    fs::remove_file(ring.path()).unwrap();
    assert_eq!(open.take(500, 400, || NOW).unwrap(), Admitted(128));
    assert_eq!(ring.take_many(128, 1, NOW), RetryAfter(WINDOW_MS));
}

#[test]
fn an_empty_file_is_a_new_one() {
    let ring = TestRing::new();
    assert_eq!(ring.take(1, NOW), ADMITTED);
    fs::write(ring.path(), "").unwrap();
    assert_eq!(ring.take(1, NOW), ADMITTED);
}

#[test]
fn a_locked_file_is_reported_as_busy() {
    let ring = TestRing::new();
    assert_eq!(ring.take(5, NOW), ADMITTED);
    let held = lock(&ring.path()).unwrap().unwrap();
    assert_eq!(ring.take(5, NOW), Busy);
    drop(held);
    assert_eq!(ring.take(5, NOW), ADMITTED);
}

#[test]
fn threads_on_one_file_share_the_limit() {
    let ring = TestRing::new();
    let passed = std::thread::scope(|scope| {
        let take = || {
            let mut passed = 0;
            for at in 0..300 {
                let mut taken = Busy;
                while taken == Busy {
                    taken = ring.take(200, NOW + at);
                }
                passed += usize::from(taken == ADMITTED);
            }
            passed
        };
        let threads = [(); 4].map(|()| scope.spawn(take));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(passed.iter().sum::<usize>(), 200);
}

#[cfg(unix)]
#[test]
fn files_of_callers_without_recent_requests_are_removed() {
    use std::os::unix::fs::PermissionsExt;
    let ring = TestRing::new();
    let directory = ring.0.path().join("limits");
    for caller in ["a", "b", "c"] {
        let path = directory.join(file_name("c", caller));
        let taken = RingFile::new(path.clone()).take(5, 1, || NOW).unwrap();
        assert_eq!(taken, ADMITTED);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        if caller != "c" {
            let old = SystemTime::now() - std::time::Duration::from_secs(300);
            File::options()
                .write(true)
                .open(&path)
                .unwrap()
                .set_modified(old)
                .unwrap();
        }
    }
    // A stopped process holds one of them.
    let held = lock(&directory.join(file_name("c", "b"))).unwrap();
    sweep(&directory);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 2);
    drop(held);
    sweep(&directory);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
}
