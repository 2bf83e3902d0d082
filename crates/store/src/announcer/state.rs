//! What the tasks of the announcer share: the topics that other processes have not been
//! told yet, and whether their announcements arrive here.

use std::{
    collections::BTreeSet,
    mem,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
};

use kit::{Announcement, announcement::LocalAnnouncements};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The channel of notifications.
pub(super) const CHANNEL: &str = "madoguchi";
/// With more topics than this the others are told to look at everything.
const MOST: usize = 4096;
/// PostgreSQL takes less than 8,000 bytes in one notification.
const LONGEST: usize = 7_900;

pub(super) struct AnnouncerState {
    /// Marks messages of this process.
    origin: String,
    waiting: Mutex<Topics>,
    /// A topic was added.
    pub added: Notify,
    pub stop: CancellationToken,
    /// Announcements of other processes arrive.
    pub is_listening: AtomicBool,
}

/// Topics to announce, each once. [`EVERYTHING`] stands for all of them.
pub(super) type Topics = BTreeSet<Arc<str>>;

/// Instead of a topic: announcements were lost, look at everything.
const EVERYTHING: &str = "";

impl Default for AnnouncerState {
    fn default() -> Self {
        Self {
            origin: format!("{:016x}", rand::random::<u64>()),
            waiting: Mutex::default(),
            added: Notify::new(),
            stop: CancellationToken::new(),
            is_listening: AtomicBool::new(false),
        }
    }
}

impl AnnouncerState {
    pub fn add(&self, topic: Arc<str>) {
        // A line of a message can't hold it.
        let fits = topic.len() < LONGEST / 2 && !topic.contains(['\n', '\0']);
        let topic = if fits { topic } else { EVERYTHING.into() };
        self.put_back([topic].into());
    }

    /// For topics that could not be sent.
    pub fn put_back(&self, topics: Topics) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.extend(topics);
        if waiting.len() > MOST || waiting.contains(EVERYTHING) {
            *waiting = [EVERYTHING.into()].into();
        }
        self.added.notify_one();
    }

    pub fn is_empty(&self) -> bool {
        let waiting = self.waiting.lock();
        waiting.unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub fn take(&self) -> Topics {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        mem::take(&mut *waiting)
    }

    /// As few messages as hold these topics: the origin and the topics, a line each.
    pub fn messages(&self, topics: &Topics) -> Vec<String> {
        let mut messages: Vec<String> = Vec::new();
        for topic in topics {
            match messages.last_mut() {
                Some(last) if last.len() + 1 + topic.len() <= LONGEST => {
                    last.push('\n');
                    last.push_str(topic);
                }
                _ => messages.push(format!("{}\n{topic}", self.origin)),
            }
        }
        messages
    }

    /// Hands the topics of a message to the receivers of this process, which has its
    /// own announcements already.
    pub fn hand_on(&self, message: &str, local: &LocalAnnouncements) {
        for topic in self.read(message) {
            local.send(match topic {
                EVERYTHING => Announcement::Missed,
                topic => Announcement::Topic(topic.into()),
            });
        }
    }

    /// The topics in a message; none if it came from this process.
    fn read<'a>(&self, message: &'a str) -> impl Iterator<Item = &'a str> {
        let (origin, topics) = message.split_once('\n').unwrap_or((message, EVERYTHING));
        let is_own = origin == self.origin;
        topics.split('\n').filter(move |_| !is_own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_sent_once_and_in_few_messages() {
        let state = AnnouncerState::default();
        for topic in ["rooms/b", "rooms/a", "rooms/b"] {
            state.add(topic.into());
        }
        let topics = state.take();
        assert_eq!(
            state.messages(&topics),
            [format!("{}\nrooms/a\nrooms/b", state.origin)]
        );
        assert!(state.take().is_empty());
        let many: Topics = (0..4000).map(|n| format!("rooms/{n}").into()).collect();
        let messages = state.messages(&many);
        assert!(messages.iter().all(|message| message.len() <= LONGEST));
        let other = AnnouncerState::default();
        let read = messages.iter().flat_map(|message| other.read(message));
        assert_eq!(read.count(), 4000);
        assert_eq!(state.read(&messages[0]).count(), 0, "own messages");
    }

    #[test]
    fn what_does_not_fit_becomes_a_look_at_everything() {
        let everything: Topics = [EVERYTHING.into()].into();
        for topic in ["two\nlines", &"x".repeat(LONGEST)] {
            let state = AnnouncerState::default();
            state.add("rooms/a".into());
            state.add(topic.into());
            assert_eq!(state.take(), everything);
        }
        let state = AnnouncerState::default();
        for number in 0..=MOST {
            state.add(number.to_string().into());
        }
        assert_eq!(state.take(), everything);
    }
}
