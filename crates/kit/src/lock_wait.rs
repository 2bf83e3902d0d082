//! Waiting for a lock that another process holds, where the system has no such wait with a
//! time-out.

use std::time::Duration;

const SHORTEST_PAUSE: Duration = Duration::from_micros(100);
/// By then the holder was probably stopped, and looking often does not help.
const LONG_WAIT: Duration = Duration::from_secs(2);

/// How long somebody who has `waited` pauses before the next try: at first for the
/// `longest` time, then less and less. Otherwise newcomers, who try at once, would come
/// first again and again.
pub fn pause_before_retry(waited: Duration, longest: Duration) -> Duration {
    match waited < LONG_WAIT {
        true => longest.saturating_sub(waited / 10).max(SHORTEST_PAUSE),
        false => longest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_have_waited_longer_try_more_often() {
        let after = |milliseconds| {
            let waited = Duration::from_millis(milliseconds);
            pause_before_retry(waited, Duration::from_millis(4)).as_micros()
        };
        assert_eq!([0, 10, 30, 60].map(after), [4_000, 3_000, 1_000, 100]);
        assert_eq!(after(3_000), 4_000);
    }
}
