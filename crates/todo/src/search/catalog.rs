//! The files that can be searched, kept current: by what the watcher reports,
//! or, where nothing watches, by looking at every file's stamp.

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::{
        Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    fold::fold,
    rank::{Query, Strength},
    reader::Reader,
    signature::Signature,
    texts::{Place, Texts},
    walk::{self, MOST_FILES, is_searched},
};
use crate::{
    files::{
        self, Folder, Stamp,
        names::{stem_in, task_of},
    },
    model::{TaskId, adr},
    parallel::on_all,
};

/// So much is read from disk before it is put away.
const ROUND: usize = 256;
/// So many texts are fetched together when they lie beside each other, with no
/// more than this between them.
const STRETCH: usize = 64;
const MOST_BETWEEN: u64 = 8 * 1024;
/// Less than this is not worth a second thread.
const MUCH: usize = 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Context(TaskId),
    Adr(u16),
    Other,
}

impl Kind {
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
    kind: Kind,
    stamp: Stamp,
    settled: bool,
    /// Its first heading, folded.
    title: Box<str>,
    text: Place,
    signature: Signature,
}

pub struct Hits {
    /// Best first.
    pub best: Vec<Hit>,
    pub total: usize,
}

pub struct Hit {
    /// Below `.todo/`.
    pub name: String,
    pub kind: Kind,
    pub score: f64,
}

#[derive(Default)]
pub struct Catalog {
    documents: RwLock<Documents>,
    /// Names that may have changed since.
    touched: Mutex<HashSet<String>>,
    /// Every change is reported, so stamps need not be looked at.
    watched: AtomicBool,
    /// Reports may be missing: everything has to be looked at once.
    stale: AtomicBool,
}

#[derive(Default)]
struct Documents {
    all: HashMap<String, Document>,
    built: bool,
    texts: Texts,
}

impl Catalog {
    /// Says that a file may have changed.
    pub fn touch(&self, name: &str) {
        let mut touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
        if touched.len() < MOST_FILES {
            touched.insert(name.to_owned());
        } else {
            self.stale.store(true, Ordering::Relaxed);
        }
    }

    /// From now on every change is touched, or no longer.
    pub fn set_watched(&self, watched: bool) {
        self.stale.store(true, Ordering::Relaxed);
        self.watched.store(watched, Ordering::Relaxed);
    }

    /// Some reports were lost.
    pub fn look_at_everything(&self) {
        self.stale.store(true, Ordering::Relaxed);
    }

    /// The best matches among the files `wanted` picks, and how many there are.
    pub fn search(
        &self,
        folder: &Folder,
        query: &Query,
        limit: usize,
        wanted: impl Fn(Kind) -> bool,
    ) -> io::Result<Hits> {
        self.refresh(folder)?;
        let documents = self
            .documents
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let mut best = documents.find(query, Strength::All, &wanted)?;
        if best.is_empty() && query.has_several_words() {
            best = documents.find(query, Strength::Any, &wanted)?;
        }
        let total = best.len();
        let better = |(one, first): &(f64, Candidate<'_>),
                      (other, second): &(f64, Candidate<'_>)| {
            let names = || first.name.cmp(second.name);
            other.total_cmp(one).then_with(names)
        };
        // Thousands may match as well as each other: only the best are sorted.
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
        let is_context = |kind| matches!(kind, Kind::Context(_));
        let hits = self.search(folder, query, usize::MAX, is_context)?;
        let scored = hits.best.into_iter().filter_map(|hit| match hit.kind {
            Kind::Context(id) => Some((id, hit.score)),
            _ => None,
        });
        Ok(scored.collect())
    }

    /// Reads what is new or has changed.
    pub fn refresh(&self, folder: &Folder) -> io::Result<()> {
        let mut documents = self
            .documents
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let touched: Vec<String> = {
            let mut touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
            touched.drain().collect()
        };
        let stale = self.stale.swap(false, Ordering::Relaxed);
        if documents.texts.is_wasteful() {
            *documents = Documents::default();
        }
        let trusted = self.watched.load(Ordering::Relaxed) && documents.built && !stale;
        // Should anything fail, the next search looks at everything.
        documents.built = false;
        let present: Vec<(String, Stamp)> = if trusted {
            let mut present = Vec::new();
            for name in touched.into_iter().filter(|name| is_searched(name)) {
                match folder.stamp(&name) {
                    Ok(Some(stamp)) => present.push((name, stamp)),
                    _ => documents.remove(&name),
                }
            }
            present
        } else {
            let present = walk::all(folder)?;
            let names: HashSet<&str> = present.iter().map(|(name, _)| name.as_str()).collect();
            let gone: Vec<String> = documents
                .all
                .keys()
                .filter(|name| !names.contains(name.as_str()))
                .cloned()
                .collect();
            for name in gone {
                documents.remove(&name);
            }
            present
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

/// A file that is looked through.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    name: &'a String,
    document: &'a Document,
}

type Scored<'a> = Vec<(f64, Candidate<'a>)>;

impl Documents {
    fn remove(&mut self, name: &str) {
        if let Some(document) = self.all.remove(name) {
            self.texts.forget(document.text);
        }
    }

    /// Reads what changed, on all processors when it is much.
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
        strength: Strength,
        wanted: &impl Fn(Kind) -> bool,
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

    /// Looks through texts in the order in which they are kept.
    fn look<'a>(
        &self,
        query: &Query,
        strength: Strength,
        part: &[Candidate<'a>],
    ) -> io::Result<Scored<'a>> {
        let mut found = Vec::new();
        let mut buffer = Vec::new();
        let seam = self.texts.seam();
        let together = |one: &Candidate<'_>, next: &Candidate<'_>| {
            let (one, next) = (&one.document.text, &next.document.text);
            // What lies between them was forgotten.
            next.start - one.end() < MOST_BETWEEN && (next.start < seam) == (one.start < seam)
        };
        for beside in part.chunk_by(together) {
            for stretch in beside.chunks(STRETCH) {
                let (Some(first), Some(last)) = (stretch.first(), stretch.last()) else {
                    continue;
                };
                let start = first.document.text.start;
                let whole = Place {
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

/// The files of one part, and their folded texts in a row.
fn load_part(folder: &Folder, part: &[(String, Stamp)]) -> (Vec<(String, Document)>, Vec<u8>) {
    let mut reader = Reader::new(folder);
    let mut documents = Vec::with_capacity(part.len());
    let mut texts = Vec::new();
    for (name, stamp) in part {
        // A file that cannot be read is one that is not found.
        let Some(read) = reader.read(name, stamp) else {
            continue;
        };
        let document = Document {
            kind: Kind::of(name),
            stamp: read.stamp,
            settled: read.settled,
            title: title(read.text).into_boxed_str(),
            text: Place {
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
