//! Keeps the searchable files current: from the watcher's reports if there are many
//! files, else by checking every file's stamp.

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::{PoisonError, RwLock},
};

use super::{
    fold::fold,
    rank::{MatchMode, Query},
    reader::Reader,
    reports::{Changes, Reports},
    signature::Signature,
    texts::{TextRange, TextStore},
    walk::{self, Walk, is_searched},
};
use crate::{
    files::{
        self, Folder, Stamp,
        names::{stem_in, task_of},
    },
    model::{TaskId, adr},
    parallel::on_all,
};

/// So few files are checked faster than reports are awaited.
const FEW: usize = 200;
/// Files to read before their texts are stored.
const ROUND: usize = 256;
/// Up to this many neighbouring texts are read at once, with at most this many
/// bytes between them.
const STRETCH: usize = 64;
const MOST_BETWEEN: u64 = 8 * 1024;
/// Bytes that justify more than one thread.
const MUCH: usize = 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Context(TaskId),
    Adr(u16),
    Other,
}

impl FileKind {
    fn of(name: &str) -> Self {
        if let Some(id) = task_of(name) {
            return Self::Context(id);
        }
        match stem_in(files::ADRS, name)
            .filter(|stem| !stem.contains('/'))
            .and_then(adr::number_of)
        {
            Some(number) => Self::Adr(number),
            None => Self::Other,
        }
    }
}

struct Document {
    kind: FileKind,
    stamp: Stamp,
    settled: bool,
    /// Its first heading, folded.
    title: Box<str>,
    text: TextRange,
    signature: Signature,
}

pub struct Hits {
    /// Best first.
    pub best: Vec<Hit>,
    pub total: usize,
}

pub struct Hit {
    /// Relative to `.todo/`.
    pub name: String,
    pub kind: FileKind,
    pub score: f64,
}

#[derive(Default)]
pub struct Catalog {
    documents: RwLock<Documents>,
    pub reports: Reports,
}

#[derive(Default)]
struct Documents {
    all: HashMap<String, Document>,
    built: bool,
    /// Changes of linked files are not reported.
    has_links: bool,
    texts: TextStore,
}

impl Catalog {
    /// Finds the best matches among the files that `wanted` selects: those
    /// with all words or, if there are none, those with any.
    pub fn search(
        &self,
        folder: &Folder,
        query: &Query,
        limit: usize,
        wanted: impl Fn(FileKind) -> bool,
    ) -> io::Result<Hits> {
        self.refresh(folder)?;
        let hits = self.search_known(query, MatchMode::All, limit, &wanted)?;
        if hits.total > 0 || !query.has_several_words() {
            return Ok(hits);
        }
        self.search_known(query, MatchMode::Any, limit, &wanted)
    }

    /// Searches the files as they were at the last refresh.
    pub fn search_known(
        &self,
        query: &Query,
        mode: MatchMode,
        limit: usize,
        wanted: impl Fn(FileKind) -> bool,
    ) -> io::Result<Hits> {
        let documents = self
            .documents
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let mut best = documents.find(query, mode, &wanted)?;
        let total = best.len();
        let better = |(one, first): &(f64, Candidate<'_>),
                      (other, second): &(f64, Candidate<'_>)| {
            let names = || first.name.cmp(second.name);
            other.total_cmp(one).then_with(names)
        };
        // There may be thousands of matches, so only the best are
        // sorted.
        if best.len() > limit {
            best.select_nth_unstable_by(limit, better);
            best.truncate(limit);
        }
        best.sort_unstable_by(better);
        let best = best
            .into_iter()
            .map(|(score, found)| Hit {
                name: found.name.clone(),
                kind: found.document.kind,
                score,
            })
            .collect();
        Ok(Hits { best, total })
    }

    /// Scores of the contexts that match, by task.
    pub fn contexts(&self, folder: &Folder, query: &Query) -> io::Result<HashMap<TaskId, f64>> {
        let is_context = |kind| matches!(kind, FileKind::Context(_));
        let hits = self.search(folder, query, usize::MAX, is_context)?;
        let scored = hits.best.into_iter().filter_map(|hit| match hit.kind {
            FileKind::Context(id) => Some((id, hit.score)),
            _ => None,
        });
        Ok(scored.collect())
    }

    /// Reads new and changed files.
    pub fn refresh(&self, folder: &Folder) -> io::Result<()> {
        let mut documents = self
            .documents
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if documents.texts.is_wasteful() {
            *documents = Documents::default();
        }
        let is_cheap = documents.all.len() < FEW;
        let changes = match is_cheap || documents.has_links || !documents.built {
            true => Changes::Unknown,
            false => self.reports.take(),
        };
        // If anything fails, the next search checks every file.
        documents.built = false;
        let present = match changes {
            Changes::Files(names) => documents.stamps(folder, names),
            Changes::Unknown => documents.all_stamps(folder)?,
        };
        let changed: Vec<(String, Stamp)> = present
            .into_iter()
            .filter(|(name, stamp)| {
                let known = documents.all.get(name);
                known.is_none_or(|known| !known.settled || known.stamp != *stamp)
            })
            .collect();
        documents.load(folder, &changed)?;
        documents.built = true;
        Ok(())
    }
}

/// A file to scan.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    name: &'a String,
    document: &'a Document,
}

type Scored<'a> = Vec<(f64, Candidate<'a>)>;

impl Documents {
    /// The stamps of these files. Forgets the deleted ones.
    fn stamps(&mut self, folder: &Folder, names: HashSet<String>) -> Vec<(String, Stamp)> {
        let mut present = Vec::new();
        for name in names.into_iter().filter(|name| is_searched(name)) {
            match folder.stamp(&name) {
                Ok(Some(stamp)) => present.push((name, stamp)),
                _ => self.remove(&name),
            }
        }
        present
    }

    /// The stamps of all files. Forgets the deleted ones.
    fn all_stamps(&mut self, folder: &Folder) -> io::Result<Vec<(String, Stamp)>> {
        let Walk { files, has_links } = walk::all(folder)?;
        self.has_links = has_links;
        let names: HashSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let known = self.all.keys();
        let gone: Vec<String> = known
            .filter(|name| !names.contains(name.as_str()))
            .cloned()
            .collect();
        for name in gone {
            self.remove(&name);
        }
        Ok(files)
    }

    fn remove(&mut self, name: &str) {
        if let Some(document) = self.all.remove(name) {
            self.texts.forget(document.text);
        }
    }

    /// Reads changed files, on several threads if there are many.
    fn load(&mut self, folder: &Folder, changed: &[(String, Stamp)]) -> io::Result<()> {
        for (name, _) in changed {
            self.remove(name);
        }
        for round in changed.chunks(ROUND) {
            let loaded = on_all(round, changed.len() >= 64, |part| load_part(folder, part));
            for (documents, folded) in loaded {
                let start = self.texts.end();
                self.texts.add(&folded)?;
                for (name, mut document) in documents {
                    document.text.start += start;
                    self.all.insert(name, document);
                }
            }
        }
        Ok(())
    }

    fn find(
        &self,
        query: &Query,
        strength: MatchMode,
        wanted: &impl Fn(FileKind) -> bool,
    ) -> io::Result<Scored<'_>> {
        let mut candidates: Vec<Candidate<'_>> = self
            .all
            .iter()
            .map(|(name, document)| Candidate { name, document })
            .filter(|Candidate { document, .. }| {
                wanted(document.kind) && query.may_match(&document.signature, strength)
            })
            .collect();
        candidates.sort_unstable_by_key(|candidate| candidate.document.text.start);
        let size: usize = candidates
            .iter()
            .map(|candidate| candidate.document.text.length)
            .sum();
        let mut found = Vec::new();
        for part in on_all(&candidates, size >= MUCH, |part| {
            self.look(query, strength, part)
        }) {
            found.extend(part?);
        }
        Ok(found)
    }

    /// Scans texts in the order in which they are stored.
    fn look<'a>(
        &self,
        query: &Query,
        strength: MatchMode,
        part: &[Candidate<'a>],
    ) -> io::Result<Scored<'a>> {
        let mut found = Vec::new();
        let mut buffer = Vec::new();
        let seam = self.texts.seam();
        let together = |one: &Candidate<'_>, next: &Candidate<'_>| {
            let (one, next) = (&one.document.text, &next.document.text);
            // The bytes between them are unused.
            next.start - one.end() < MOST_BETWEEN && (next.start < seam) == (one.start < seam)
        };
        for beside in part.chunk_by(together) {
            for stretch in beside.chunks(STRETCH) {
                let (Some(first), Some(last)) = (stretch.first(), stretch.last()) else {
                    continue;
                };
                let start = first.document.text.start;
                let whole = TextRange {
                    start,
                    length: (last.document.text.end() - start) as usize,
                };
                let bytes = self.texts.read(whole, &mut buffer)?;
                for candidate in stretch {
                    let Document { title, text, .. } = candidate.document;
                    let at = (text.start - start) as usize;
                    let body = bytes.get(at..at + text.length).unwrap_or_default();
                    if let Some(score) = query.score(title.as_bytes(), body, strength) {
                        found.push((score, *candidate));
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Reads some files. Returns them with their folded texts, joined.
fn load_part(folder: &Folder, part: &[(String, Stamp)]) -> (Vec<(String, Document)>, Vec<u8>) {
    let mut reader = Reader::new(folder);
    let mut documents = Vec::with_capacity(part.len());
    let mut texts = Vec::new();
    for (name, stamp) in part {
        // Unreadable files are not searched.
        let Some(read) = reader.read(name, stamp) else {
            continue;
        };
        let document = Document {
            kind: FileKind::of(name),
            stamp: read.stamp,
            settled: read.settled,
            title: title(read.text).into_boxed_str(),
            text: TextRange {
                start: texts.len() as u64,
                length: read.folded.len(),
            },
            signature: Signature::of(read.folded),
        };
        texts.extend_from_slice(read.folded);
        documents.push((name.clone(), document));
    }
    (documents, texts)
}

fn title(text: &str) -> String {
    let first = text
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with('#'))
        .unwrap_or_default();
    let title = fold(first.trim_start_matches('#'));
    title.chars().take(100).collect()
}
