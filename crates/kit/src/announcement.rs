//! Announcements: how processes on the same data tell each other what changed, so that
//! nobody has to poll. `Store::announce` sends them, `Store::announcements` receives them.

use std::sync::Arc;

use tokio::sync::broadcast::{self, error::RecvError};

/// How many announcements a slow receiver may fall behind before it gets
/// [`Announcement::Missed`] in their place.
const BACKLOG: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Announcement {
    /// This topic changed.
    Topic(Arc<str>),
    /// Some announcements were lost, or may have been: look at everything.
    Missed,
}

/// The next announcement; `None` after the store was dropped. Use it instead of `recv`,
/// whose error `Lagged` means the same as [`Announcement::Missed`].
pub async fn next(receiver: &mut broadcast::Receiver<Announcement>) -> Option<Announcement> {
    match receiver.recv().await {
        Ok(announcement) => Some(announcement),
        Err(RecvError::Lagged(_)) => Some(Announcement::Missed),
        Err(RecvError::Closed) => None,
    }
}

/// Hands announcements to the receivers of this process. Clones share them.
#[derive(Clone)]
pub struct LocalAnnouncements(broadcast::Sender<Announcement>);

impl Default for LocalAnnouncements {
    fn default() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }
}

impl LocalAnnouncements {
    pub fn send(&self, announcement: Announcement) {
        // An error means that nobody listens.
        let _ = self.0.send(announcement);
    }

    pub fn subscribe(&self) -> broadcast::Receiver<Announcement> {
        self.0.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// What has already arrived.
    fn received(receiver: &mut broadcast::Receiver<Announcement>) -> Option<Announcement> {
        next(receiver).now_or_never().unwrap()
    }

    #[test]
    fn a_receiver_that_lags_is_told_to_look_at_everything() {
        let local = LocalAnnouncements::default();
        let mut receiver = local.subscribe();
        let topic = |name: &str| Announcement::Topic(name.into());
        local.send(topic("one"));
        assert_eq!(received(&mut receiver), Some(topic("one")));
        for _ in 0..=BACKLOG {
            local.send(topic("many"));
        }
        assert_eq!(received(&mut receiver), Some(Announcement::Missed));
        assert_eq!(received(&mut receiver), Some(topic("many")));
    }

    #[test]
    fn receivers_end_with_the_store() {
        let local = LocalAnnouncements::default();
        let mut receiver = local.subscribe();
        drop(local);
        assert_eq!(received(&mut receiver), None);
    }
}
