//! How soon the pages that are open show a change.
//!
//! A change makes every browser that shows the counter ask for its page again. If agents
//! change much, that would take time from their calls. So after the first change, pages wait
//! until drawing all of them takes a twentieth of one core at most.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Changes within this time are shown together.
const AT_MOST_EVERY: Duration = Duration::from_millis(100);

/// Pages wait this many times as long as drawing all of them takes.
const WAIT_FACTOR: u32 = 20;

/// No change is shown later than this, however many pages are open.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The counters whose pages are open.
#[derive(Default)]
pub struct OpenPages(Mutex<HashMap<&'static str, Watched>>);

#[derive(Default)]
struct Watched {
    viewers: u32,
    /// How long it takes to draw the page, on average.
    takes: Duration,
}

impl OpenPages {
    /// Remembers how long it took to draw the page of a counter.
    pub fn drawn(&self, counter: &'static str, took: Duration) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let page = pages.entry(counter).or_default();
        page.takes = match page.takes {
            Duration::ZERO => took,
            before => (before * 3 + took) / 4,
        };
    }

    pub fn watch(self: &Arc<Self>, counter: &'static str) -> Viewer {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.entry(counter).or_default().viewers += 1;
        Viewer {
            pages: Arc::clone(self),
            counter,
            told: None,
        }
    }

    /// How long pages wait after a change was shown.
    fn wait(&self) -> Duration {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Duration = pages.values().map(|page| page.takes * page.viewers).sum();
        (all * WAIT_FACTOR).clamp(AT_MOST_EVERY, LONGEST_WAIT)
    }
}

/// One browser that shows a counter.
pub struct Viewer {
    pages: Arc<OpenPages>,
    counter: &'static str,
    /// When it was last told of a change.
    told: Option<Instant>,
}

impl Viewer {
    /// Waits until it may be told of a change.
    pub async fn turn(&mut self) {
        let soon = Instant::now() + AT_MOST_EVERY;
        let at = self.told.map_or(soon, |told| told + self.pages.wait());
        tokio::time::sleep_until(at.max(soon)).await;
        self.told = Some(Instant::now());
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let mut pages = self.pages.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = pages.get_mut(self.counter) {
            page.viewers = page.viewers.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::{AT_MOST_EVERY, LONGEST_WAIT, OpenPages};

    #[test]
    fn drawing_takes_a_twentieth_of_a_core_however_many_look() {
        let pages = Arc::new(OpenPages::default());
        pages.drawn("rooms", Duration::from_millis(10));
        pages.drawn("todo", Duration::from_millis(40));
        assert_eq!(pages.wait(), AT_MOST_EVERY, "nobody looks");
        let open: Vec<_> = (0..5).map(|_| pages.watch("rooms")).collect();
        assert_eq!(pages.wait(), Duration::from_secs(1));
        let other = pages.watch("todo");
        assert_eq!(pages.wait(), Duration::from_millis(1800));
        drop(open);
        assert_eq!(pages.wait(), Duration::from_millis(800));
        drop(other);
        let _many: Vec<_> = (0..1000).map(|_| pages.watch("rooms")).collect();
        assert_eq!(pages.wait(), LONGEST_WAIT);
    }

    #[test]
    fn a_page_that_becomes_slower_is_drawn_less_often() {
        let pages = Arc::new(OpenPages::default());
        let _viewer = pages.watch("rooms");
        for _ in 0..20 {
            pages.drawn("rooms", Duration::from_millis(1));
        }
        assert_eq!(pages.wait(), AT_MOST_EVERY);
        for _ in 0..20 {
            pages.drawn("rooms", Duration::from_millis(50));
        }
        assert!(pages.wait() > Duration::from_millis(900));
    }
}
