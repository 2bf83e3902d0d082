use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

const NOW: i64 = 1_800_000_000_000;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("limits").join(file_name("c", "d"))
    }

    fn take(&self, limit: u64, at: i64) -> Taken {
        take(&self.path(), limit, || at).unwrap()
    }
}

/// No more than the limit of these within any minute.
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
    let place = Place::new();
    let ticks = (0..3_100).map(|tick| NOW + tick * 50);
    let passed: Vec<i64> = ticks
        .filter(|at| place.take(100, *at) == Taken::Yes)
        .collect();
    assert_eq!(most_in_a_minute(&passed), 100);
    assert_eq!(
        passed.len(),
        300,
        "155 seconds hold three full minutes' worth"
    );
}

#[test]
fn it_says_how_long_to_wait() {
    let place = Place::new();
    assert_eq!(place.take(1, NOW), Taken::Yes);
    assert_eq!(place.take(1, NOW), Taken::Wait(WINDOW_MS));
    assert_eq!(place.take(1, NOW + 20_000), Taken::Wait(40_001));
    assert_eq!(place.take(1, NOW + WINDOW_MS), Taken::Wait(1));
    assert_eq!(place.take(1, NOW + WINDOW_MS + 1), Taken::Yes);
}

/// Two desks with different configurations: each keeps to its own.
#[test]
fn a_lower_limit_waits_for_all_that_are_too_many() {
    let place = Place::new();
    for at in 0..10 {
        assert_eq!(place.take(10, NOW + at * 1000), Taken::Yes);
    }
    assert_eq!(place.take(3, NOW + 10_000), Taken::Wait(57_001));
    assert_eq!(place.take(11, NOW + 10_000), Taken::Yes);
}

#[test]
fn it_grows_with_the_requests_of_a_minute_and_no_further() {
    let place = Place::new();
    let limit = 4_000_000_000;
    let mut passed = 0;
    for minute in 0..3 {
        let start = NOW + minute * (WINDOW_MS + 1);
        for at in 0..1_000 {
            assert_eq!(place.take(limit, start + at), Taken::Yes);
            passed += 1;
        }
    }
    assert_eq!(passed, 3_000);
    let size = fs::metadata(place.path()).unwrap().len();
    assert_eq!(size, HEADER + 1024 * 8);
    // What passed before it grew still counts.
    let place = Place::new();
    for at in 0..FIRST_SLOTS + 1 {
        assert_eq!(place.take(FIRST_SLOTS + 1, NOW + at as i64), Taken::Yes);
    }
    assert_eq!(
        place.take(FIRST_SLOTS + 1, NOW + 1_000),
        Taken::Wait(59_001)
    );
}

#[test]
fn a_clock_that_was_set_back_lets_nobody_wait_long_and_nothing_more_pass() {
    let place = Place::new();
    for _ in 0..5 {
        assert_eq!(place.take(5, NOW), Taken::Yes);
    }
    let earlier = NOW - 24 * 60 * 60 * 1000;
    assert_eq!(place.take(5, earlier), Taken::Wait(WINDOW_MS));
    assert_eq!(place.take(5, earlier + 30_000), Taken::Wait(30_001));
    assert_eq!(place.take(5, earlier + WINDOW_MS + 1), Taken::Yes);
}

#[test]
fn a_damaged_file_lets_nothing_pass_for_a_minute() {
    let place = Place::new();
    let bad: [fn(&mut Vec<u8>); 5] = [
        |bytes| bytes.truncate(100),
        |bytes| bytes.truncate(3),
        |bytes| bytes.fill(0),
        |bytes| bytes.fill(0xff),
        |bytes| bytes[16] = 200,
    ];
    for (damage, start) in bad.iter().zip((NOW..).step_by(1_000_000)) {
        assert_eq!(place.take(5, start), Taken::Yes);
        let mut bytes = fs::read(place.path()).unwrap();
        damage(&mut bytes);
        fs::write(place.path(), bytes).unwrap();
        assert_eq!(place.take(5, start), Taken::Wait(WINDOW_MS));
        assert_eq!(place.take(5, start + 59_999), Taken::Wait(1));
        // The clock was set back meanwhile.
        assert_eq!(place.take(5, start - 1_000_000), Taken::Wait(WINDOW_MS));
        assert_eq!(place.take(5, start - 1_000_000 + WINDOW_MS), Taken::Yes);
    }
    // Times that make no sense are no reason to fail.
    let mut bytes = fs::read(place.path()).unwrap();
    bytes[HEADER as usize..].fill(0x80);
    fs::write(place.path(), bytes).unwrap();
    assert_eq!(place.take(5, NOW + 100_000_000), Taken::Yes);
}

#[test]
fn an_empty_file_is_a_new_one() {
    let place = Place::new();
    assert_eq!(place.take(1, NOW), Taken::Yes);
    fs::write(place.path(), "").unwrap();
    assert_eq!(place.take(1, NOW), Taken::Yes);
}

#[test]
fn who_holds_the_file_is_not_waited_for() {
    let place = Place::new();
    assert_eq!(place.take(5, NOW), Taken::Yes);
    let held = lock(&place.path()).unwrap().unwrap();
    assert_eq!(place.take(5, NOW), Taken::Busy);
    drop(held);
    assert_eq!(place.take(5, NOW), Taken::Yes);
}

#[test]
fn threads_on_one_file_let_the_limit_pass_together() {
    let place = Place::new();
    let passed = std::thread::scope(|scope| {
        let take = || {
            let mut passed = 0;
            for at in 0..300 {
                let mut taken = Taken::Busy;
                while taken == Taken::Busy {
                    taken = place.take(200, NOW + at);
                }
                passed += usize::from(taken == Taken::Yes);
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
fn files_of_callers_who_are_gone_are_removed() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let directory = place.0.path().join("limits");
    for caller in ["a", "b", "c"] {
        let path = directory.join(file_name("c", caller));
        assert_eq!(take(&path, 5, || NOW).unwrap(), Taken::Yes);
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
    // One is held by a process that stands still.
    let held = lock(&directory.join(file_name("c", "b"))).unwrap();
    sweep(&directory);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 2);
    drop(held);
    sweep(&directory);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
}
