//! An index of a room's messages: where each is stored, who wrote it, whom it mentions.
//! It takes about two bytes per message and four per mention; texts and names stay in
//! the files.
//!
//! Messages are numbered from the oldest in the archive to the newest in the
//! log. A number stays when its message moves to the archive, and only
//! clearing the room starts again from zero.

use std::{
    collections::HashMap,
    fs::File,
    hash::{BuildHasher, RandomState},
    io,
    sync::atomic::{AtomicU64, Ordering},
};

pub use super::reader::{Files, Reader};
use super::{
    mentioned::Mentioned,
    packed::Packed,
    segment::{Segment, Verdict},
    sieve::{MESH, Sieve},
};
use crate::{
    model::{
        mentions::MAX_MENTIONS,
        message::{IndexedLine, MessageLine},
        names::{SYSTEM, canonical},
    },
    store::messages::MessageRef,
};

/// Bits of the hash of a clientMessageId: one in 4,096 others has the same.
const CLIENT_ID_BITS: u32 = 12;
/// Bits of an author's number; grows with the number of authors.
const AUTHOR_BITS: u32 = 4;

pub struct Index {
    pub archive: Segment,
    pub log: Segment,
    /// Changes when numbers may have come to mean other messages.
    generation: u64,
    /// A find is confirmed by reading the message.
    ids: Sieve,
    authors: Packed,
    /// By the hash of the name: callers choose names, and how long they are.
    known_authors: HashMap<u64, u16>,
    sent: Vec<u32>,
    mentions: Mentioned,
    /// Differs from index to index, so that nobody can choose names whose
    /// hashes are the same.
    hasher: RandomState,
    /// Hashes of sender and clientMessageId, zero for none; as long as the last message that
    /// has one.
    client_ids: Packed,
}

/// Differs from all others of this process, so that nobody takes the messages of a new
/// room for those of a deleted one.
fn new_generation() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

impl Default for Index {
    fn default() -> Self {
        Self {
            archive: Segment::default(),
            log: Segment::default(),
            generation: new_generation(),
            ids: Sieve::default(),
            authors: Packed::new(AUTHOR_BITS),
            known_authors: HashMap::new(),
            sent: Vec::new(),
            mentions: Mentioned::default(),
            hasher: RandomState::new(),
            client_ids: Packed::new(CLIENT_ID_BITS),
        }
    }
}

impl Index {
    pub fn count(&self) -> usize {
        self.authors.len()
    }

    /// Numbers mean the same messages for as long as this does not change.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub fn damaged(&self) -> u32 {
        self.archive.damaged + self.log.damaged
    }

    /// Brings the index up to what the files hold now.
    pub fn refresh(&mut self, files: &Files) -> io::Result<()> {
        let fresh = self.count() == 0;
        if fresh {
            self.make_room(files)?;
        }
        if !self.archive.still_holds(files.archive.as_ref())? {
            *self = Self::default();
        }
        if let Some(archive) = &files.archive
            && self.archive.is_behind(archive)?
        {
            self.forget_log();
            self.read_archive(archive)?;
        }
        if !self.log.still_holds(files.log.as_ref())? {
            self.forget_log();
        }
        if let Some(log) = &files.log {
            self.read_log(log, files)?;
        }
        if fresh {
            self.archive.shrink();
            self.log.shrink();
            self.ids.shrink();
            self.authors.shrink();
        }
        Ok(())
    }

    /// Allocates memory for the expected number of messages at once, to avoid
    /// fragmentation.
    fn make_room(&mut self, files: &Files) -> io::Result<()> {
        let mut expected = 0;
        if let Some(archive) = &files.archive {
            expected += self.archive.make_room(archive)?;
        }
        if let Some(log) = &files.log {
            expected += self.log.make_room(log)?;
        }
        self.ids.reserve(expected);
        self.authors.reserve(expected);
        Ok(())
    }

    fn read_archive(&mut self, archive: &File) -> io::Result<()> {
        let mut segment = std::mem::take(&mut self.archive);
        let result = segment.read_on(archive, |line| {
            Ok(match IndexedLine::parse(line) {
                Some(head) => {
                    self.note(&head);
                    Verdict::Message
                }
                None => Verdict::Damaged,
            })
        });
        self.archive = segment;
        result
    }

    fn read_log(&mut self, log: &File, files: &Files) -> io::Result<()> {
        // Only the very beginning of a log can repeat the archive's end: a move
        // to the archive was broken off before the log was shortened.
        let mut repeated = None;
        let mut at_start = self.log.end() == 0 && self.archive.count() > 0;
        let mut segment = std::mem::take(&mut self.log);
        let result = segment.read_on(log, |line| {
            let Some(head) = IndexedLine::parse(line) else {
                return Ok(Verdict::Damaged);
            };
            if std::mem::take(&mut at_start) {
                repeated = self.find(&head.id, files)?;
            }
            if let Some(at) = repeated
                && at < self.archive.count()
                && self.is_at(at, &head.id, files)?
            {
                repeated = Some(at + 1);
                return Ok(Verdict::Repeated);
            }
            repeated = None;
            self.note(&head);
            Ok(Verdict::Message)
        });
        self.log = segment;
        result
    }

    fn note(&mut self, head: &IndexedLine<'_>) {
        let number = u32::try_from(self.count()).unwrap_or(u32::MAX);
        let author_name = canonical(&head.agent_name);
        let author = self.author(&author_name);
        if let Some(sent) = self.sent.get_mut(usize::from(author)) {
            *sent += 1;
        }
        self.ids.add(number as usize, &head.id);
        self.authors.push(author.into());
        for name in head.mentions().iter().take(MAX_MENTIONS) {
            self.mentions.add(number, self.hash(&canonical(name)));
        }
        if let Some(client_id) = &head.client_message_id {
            while self.client_ids.len() < number as usize {
                self.client_ids.push(0);
            }
            let key = self.client_key(&author_name, client_id);
            self.client_ids.push(key);
        }
    }

    /// All authors after the first 65,536 share one number.
    fn author(&mut self, name: &str) -> u16 {
        let name = self.hash(name);
        if let Some(author) = self.known_authors.get(&name) {
            return *author;
        }
        let Ok(author) = u16::try_from(self.sent.len()) else {
            return u16::MAX;
        };
        self.known_authors.insert(name, author);
        self.sent.push(0);
        author
    }

    fn known_author(&self, name: &str) -> Option<u16> {
        self.known_authors.get(&self.hash(name)).copied()
    }

    fn client_key(&self, agent: &str, client_id: &str) -> u32 {
        let hash = self.hasher.hash_one((agent, client_id));
        ((hash >> (u64::BITS - CLIENT_ID_BITS)) as u32).max(1)
    }

    fn hash(&self, name: &str) -> u64 {
        self.hasher.hash_one(name)
    }

    /// Takes out everything that is not in the archive.
    fn forget_log(&mut self) {
        let kept = self.archive.count();
        for author in self.authors.iter(kept) {
            if let Some(sent) = self.sent.get_mut(author as usize) {
                *sent -= 1;
            }
        }
        self.authors.truncate(kept);
        self.ids.truncate(kept);
        self.client_ids.truncate(kept);
        self.mentions.truncate(kept);
        self.log = Segment::default();
        self.generation = new_generation();
    }

    /// Whether nothing in the log is damaged or repeats the archive, and the archive has
    /// been read to its end.
    pub fn all_is_messages(&self, files: &Files) -> io::Result<bool> {
        let is_behind = match &files.archive {
            Some(archive) => self.archive.is_behind(archive)?,
            None => false,
        };
        Ok(!is_behind && self.log.damaged == 0 && self.log.repeated_until == 0)
    }

    /// Follows a move of the log's first messages to the archive, without reading all of
    /// them again: their numbers stay.
    pub fn follow_move(
        &mut self,
        moved: (usize, u64),
        old_log: &File,
        now: &Files,
    ) -> io::Result<()> {
        self.log.follow_move(&mut self.archive, moved, old_log)?;
        self.archive.now_in(now.archive.as_ref())?;
        self.log.now_in(now.log.as_ref())
    }

    pub fn reader<'a>(&'a self, files: &'a Files) -> Reader<'a> {
        Reader::new(&self.archive, &self.log, files)
    }

    /// The number of the message with this id.
    pub fn find(&self, id: &str, files: &Files) -> io::Result<Option<usize>> {
        let mut reader = self.reader(files);
        for first in self.ids.may_hold(id) {
            for number in (first..self.count().min(first + MESH)).rev() {
                if reader.is_at(number, id)? {
                    return Ok(Some(number));
                }
            }
        }
        Ok(None)
    }

    /// Whether the message at `number` is the one with this id.
    pub fn is_at(&self, number: usize, id: &str, files: &Files) -> io::Result<bool> {
        self.reader(files).is_at(number, id)
    }

    /// The same message by its present number; `None` when it is gone.
    pub fn locate(&self, known: MessageRef, files: &Files) -> io::Result<Option<MessageRef>> {
        if known.generation == Some(self.generation) {
            return Ok(Some(known));
        }
        let number = if self.is_at(known.number, &known.id, files)? {
            Some(known.number)
        } else {
            self.find(&known.id, files)?
        };
        Ok(number.map(|number| self.message_ref(&known.id, number)))
    }

    pub fn message_ref(&self, id: &str, number: usize) -> MessageRef {
        MessageRef {
            id: id.to_owned(),
            number,
            generation: Some(self.generation),
        }
    }

    pub fn find_client_id(
        &self,
        agent: &str,
        client_id: &str,
        files: &Files,
    ) -> io::Result<Option<MessageLine>> {
        let wanted = self.client_key(agent, client_id);
        let mut reader = self.reader(files);
        for (back, candidate) in self.client_ids.iter(0).rev().enumerate() {
            if candidate == wanted
                && let Some(line) = reader.line(self.client_ids.len() - 1 - back)?
                && canonical(&line.agent_name) == agent
                && line.client_message_id.as_deref() == Some(client_id)
            {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// The numbers from `position` on of the messages that seem to mention
    /// `agent`, oldest first. Among 65,536 that mention somebody else one seems
    /// to: whoever reads the message has to look.
    pub fn mentions_of(&self, agent: &str, position: usize) -> impl Iterator<Item = usize> {
        self.mentions.of(self.hash(agent), position)
    }

    pub fn sent_by(&self, agent: &str) -> u64 {
        let author = self.known_author(agent);
        let sent = author.and_then(|author| self.sent.get(usize::from(author)));
        sent.map_or(0, |sent| u64::from(*sent))
    }

    /// The numbers from `position` on of what `agent` said, oldest first.
    pub fn by(&self, agent: &str, position: usize) -> impl DoubleEndedIterator<Item = usize> {
        let author = self.known_author(agent).map(u32::from);
        let numbers = position..self.count();
        numbers.filter(move |number| author.is_some() && self.authors.get(*number) == author)
    }

    /// The numbers from `position` on of what others said.
    pub fn by_others(&self, agent: &str, position: usize) -> impl Iterator<Item = usize> {
        let others = self.authors_but(agent, position).enumerate();
        others.filter_map(move |(at, other)| other.map(|_| position + at))
    }

    /// The authors of all messages from `position` on; `None` for `agent` itself and for
    /// what the counter says.
    fn authors_but(&self, agent: &str, position: usize) -> impl Iterator<Item = Option<u32>> {
        let known = |name| self.known_author(name).map(u32::from);
        let (own, system) = (known(agent), known(SYSTEM));
        let authors = self.authors.iter(position);
        authors.map(move |author| {
            let is_other = Some(author) != own && Some(author) != system;
            is_other.then_some(author)
        })
    }

    pub fn is_by_others(&self, agent: &str, number: usize) -> bool {
        let is_by = |name| self.known_author(name).map(u32::from) == self.authors.get(number);
        !is_by(agent) && !is_by(SYSTEM)
    }

    /// How many others have said from `position` on, counted from the nearer end.
    pub fn count_by_others(&self, agent: &str, position: usize) -> usize {
        if position > self.count() / 2 {
            return self.by_others(agent, position).count();
        }
        let own = self.sent_by(agent) + self.sent_by(SYSTEM);
        let all = self.count() - usize::try_from(own).unwrap_or_default();
        all - self.authors_but(agent, 0).take(position).flatten().count()
    }
}

#[cfg(test)]
mod tests;
