//! What is known of a room's messages without reading them again: where each
//! one lies, who wrote it, whom it mentions. About ten bytes per message; the
//! texts stay in the files.
//!
//! Messages are numbered from the oldest in the archive to the newest in the
//! log. A number stays when its message moves to the archive, and only
//! clearing the room starts again from nought.

use std::{collections::HashMap, fs::File, io, ops::Range, path::Path};

use super::{
    files::{self, ARCHIVE, LOG},
    segment::{Segment, Verdict, hash_of, make_space},
};
use crate::model::{
    message::{Head, Line},
    names::SYSTEM,
};

/// The two files, as they were at one moment. The log is opened first: what
/// moves to the archive meanwhile is then seen twice, never not at all.
pub struct Files {
    pub log: Option<File>,
    pub archive: Option<File>,
}

impl Files {
    pub fn open(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            log: files::open_to_read(&directory.join(LOG))?,
            archive: files::open_to_read(&directory.join(ARCHIVE))?,
        })
    }
}

#[derive(Default)]
pub struct Index {
    pub archive: Segment,
    pub log: Segment,
    /// Half a hash of each id; a find is confirmed by reading the message.
    ids: Vec<u32>,
    authors: Vec<u16>,
    known_authors: HashMap<Box<str>, u16>,
    sent: Vec<u32>,
    mentions: HashMap<Box<str>, Vec<u32>>,
    /// Hash of sender and clientMessageId, and the message's number.
    client_ids: Vec<(u32, u32)>,
}

impl Index {
    pub fn count(&self) -> usize {
        self.ids.len()
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
            self.ids.shrink_to_fit();
            self.authors.shrink_to_fit();
        }
        Ok(())
    }

    /// Makes room for what the files seem to hold, in one piece instead of many.
    fn make_room(&mut self, files: &Files) -> io::Result<()> {
        let mut expected = 0;
        for (file, segment) in [
            (&files.archive, &mut self.archive),
            (&files.log, &mut self.log),
        ] {
            if let Some(file) = file {
                expected += segment.make_room(file)?;
            }
        }
        self.ids.reserve_exact(expected);
        self.authors.reserve_exact(expected);
        Ok(())
    }

    fn read_archive(&mut self, archive: &File) -> io::Result<()> {
        let mut segment = std::mem::take(&mut self.archive);
        let result = segment.read_on(archive, |line| {
            Ok(match Head::parse(line) {
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
            let Some(head) = Head::parse(line) else {
                return Ok(Verdict::Damaged);
            };
            if std::mem::take(&mut at_start) {
                repeated = self.find(&head.id, files)?;
            }
            if let Some(at) = repeated
                && self.ids.get(at) == Some(&short(&head.id))
                && at < self.archive.count()
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

    fn note(&mut self, head: &Head<'_>) {
        let number = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        let author = self.author(&head.agent_name);
        if let Some(sent) = self.sent.get_mut(usize::from(author)) {
            *sent += 1;
        }
        make_space(&mut self.ids);
        self.ids.push(short(&head.id));
        make_space(&mut self.authors);
        self.authors.push(author);
        for name in &head.mentions {
            if !self.mentions.contains_key(name.as_str()) {
                self.mentions.insert(name.as_str().into(), Vec::new());
            }
            if let Some(numbers) = self.mentions.get_mut(name.as_str())
                && numbers.last() != Some(&number)
            {
                make_space(numbers);
                numbers.push(number);
            }
        }
        if let Some(client_id) = &head.client_message_id {
            let key = client_key(&head.agent_name, client_id);
            make_space(&mut self.client_ids);
            self.client_ids.push((key, number));
        }
    }

    /// A room that more than 65,535 have written in lumps the rest together.
    fn author(&mut self, name: &str) -> u16 {
        if let Some(author) = self.known_authors.get(name) {
            return *author;
        }
        let Ok(author) = u16::try_from(self.sent.len()) else {
            return u16::MAX;
        };
        self.known_authors.insert(name.into(), author);
        self.sent.push(0);
        author
    }

    /// Takes out everything that is not in the archive.
    fn forget_log(&mut self) {
        let kept = self.archive.count();
        for author in self.authors.drain(kept..) {
            if let Some(sent) = self.sent.get_mut(usize::from(author)) {
                *sent -= 1;
            }
        }
        self.ids.truncate(kept);
        for numbers in self.mentions.values_mut() {
            let still = numbers.partition_point(|number| (*number as usize) < kept);
            numbers.truncate(still);
        }
        self.client_ids
            .retain(|(_, number)| (*number as usize) < kept);
        self.log = Segment::default();
    }

    /// The messages with these numbers, oldest first.
    pub fn read(&self, files: &Files, range: Range<usize>) -> io::Result<Vec<Line>> {
        let mut lines = Vec::with_capacity(range.len());
        self.read_raw(files, range, |text| lines.extend(Line::parse(text)))?;
        Ok(lines)
    }

    /// Hands the lines with these numbers to `each`, oldest first.
    pub fn read_raw(
        &self,
        files: &Files,
        range: Range<usize>,
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let archived = self.archive.count();
        let old = range.start.min(archived)..range.end.min(archived);
        if let (Some(file), false) = (&files.archive, old.is_empty()) {
            self.archive.read(file, old, &mut each)?;
        }
        let new = range.start.max(archived) - archived..range.end.max(archived) - archived;
        if let (Some(file), false) = (&files.log, new.is_empty()) {
            self.log.read(file, new, &mut each)?;
        }
        Ok(())
    }

    pub fn read_one(&self, files: &Files, number: usize) -> io::Result<Option<Line>> {
        Ok(self.read(files, number..number + 1)?.pop())
    }

    /// The number of the message with this id.
    pub fn find(&self, id: &str, files: &Files) -> io::Result<Option<usize>> {
        let wanted = short(id);
        for (number, candidate) in self.ids.iter().enumerate().rev() {
            if *candidate == wanted
                && let Some(line) = self.read_one(files, number)?
                && line.id == id
            {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// Whether the message at `number` can be the one with this id.
    pub fn may_be(&self, number: usize, id: &str) -> bool {
        self.ids.get(number) == Some(&short(id))
    }

    pub fn find_client_id(
        &self,
        agent: &str,
        client_id: &str,
        files: &Files,
    ) -> io::Result<Option<Line>> {
        let key = client_key(agent, client_id);
        for (_, number) in self.client_ids.iter().rev().filter(|(k, _)| *k == key) {
            if let Some(line) = self.read_one(files, *number as usize)?
                && line.agent_name == agent
                && line.client_message_id.as_deref() == Some(client_id)
            {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// The numbers of the messages that mention `agent`, oldest first.
    pub fn mentions_of(&self, agent: &str) -> &[u32] {
        self.mentions.get(agent).map_or(&[], Vec::as_slice)
    }

    pub fn sent_by(&self, agent: &str) -> u64 {
        let author = self.known_authors.get(agent);
        let sent = author.and_then(|author| self.sent.get(usize::from(*author)));
        sent.map_or(0, |sent| u64::from(*sent))
    }

    /// The numbers from `position` on of what others said.
    pub fn by_others(&self, agent: &str, position: usize) -> impl Iterator<Item = usize> {
        let own = self.known_authors.get(agent).copied();
        let system = self.known_authors.get(SYSTEM).copied();
        let authors = self.authors.get(position..).unwrap_or_default();
        let others = authors.iter().enumerate();
        others.filter_map(move |(at, author)| {
            (Some(*author) != own && Some(*author) != system).then_some(position + at)
        })
    }

    /// How many messages before `until` make a page of at most `most` messages
    /// and `bytes` bytes; at least one, so that paging always goes on.
    pub fn fit_before(&self, until: usize, most: usize, bytes: u64) -> usize {
        let archived = self.archive.count();
        let most = most.min(until);
        let (old, new) = (until.min(archived), until.saturating_sub(archived));
        let fitting = self.log.fit_before(new, most, bytes);
        let fitting = if fitting == new && fitting < most {
            let used = self.log.start_of(new) - self.log.start_of(0);
            let left = bytes.saturating_sub(used);
            fitting + self.archive.fit_before(old, most - fitting, left)
        } else {
            fitting
        };
        fitting.max(most.min(1))
    }
}

fn short(id: &str) -> u32 {
    (hash_of(id) >> 32) as u32
}

fn client_key(agent: &str, client_id: &str) -> u32 {
    (hash_of((agent, client_id)) >> 32) as u32
}
