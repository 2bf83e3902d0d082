//! The files that can be searched, kept current: by what the watcher reports,
//! or, where nothing watches, by looking at every file's stamp.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use kit::Result;

use super::{
    Query, Strength, fold, fold_bytes,
    signature::{Maker, Signature},
    walk::{self, MOST_FILES, is_searched},
};
use crate::{
    files::{self, Folder, Loaded, Stamp},
    model::{TaskId, adr},
};

/// Bytes of folded text held in memory; what goes beyond leaves a signature.
const TEXT_BUDGET: usize = 6 * 1024 * 1024;
/// Files of which only the signature is known are all read when they are not
/// more than this; of more, only the newest, and the others are estimated.
const MOST_READ: usize = 200;
const NEWEST_READ: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Context(TaskId),
    Adr(u16),
    Other,
}

impl Kind {
    fn of(name: &str) -> Self {
        let stem = |folder: &str| {
            name.strip_prefix(folder)?
                .strip_prefix('/')?
                .strip_suffix(".md")
        };
        if let Some(id) = stem(files::CONTEXTS).and_then(TaskId::parse) {
            return Self::Context(id);
        }
        match stem(files::ADRS)
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
    body: Body,
}

enum Body {
    /// Folded.
    Text(Box<[u8]>),
    Signature(Signature),
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
    text: usize,
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
    ) -> Result<(Vec<Hit>, usize)> {
        self.refresh(folder)?;
        let documents = self
            .documents
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let (mut hits, mut total) = documents.find(folder, query, Strength::All, &wanted);
        if total == 0 && query.has_several_words() {
            (hits, total) = documents.find(folder, query, Strength::Any, &wanted);
        }
        hits.sort_by(|one, other| {
            other
                .score
                .total_cmp(&one.score)
                .then_with(|| one.name.cmp(&other.name))
        });
        hits.truncate(limit);
        Ok((hits, total))
    }

    /// Scores of the contexts that match, by task.
    pub fn contexts(&self, folder: &Folder, query: &Query) -> Result<Vec<(TaskId, f64)>> {
        let (hits, _) = self.search(folder, query, usize::MAX, |kind| {
            matches!(kind, Kind::Context(_))
        })?;
        let scored = hits.into_iter().filter_map(|hit| match hit.kind {
            Kind::Context(id) => Some((id, hit.score)),
            _ => None,
        });
        Ok(scored.collect())
    }

    fn refresh(&self, folder: &Folder) -> Result<()> {
        let mut documents = self
            .documents
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let touched: Vec<String> = {
            let mut touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
            touched.drain().collect()
        };
        let stale = self.stale.swap(false, Ordering::Relaxed);
        let trusted = self.watched.load(Ordering::Relaxed) && documents.built && !stale;
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
            let present = walk::all(folder);
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
        documents.load(folder, changed);
        documents.built = true;
        Ok(())
    }
}

impl Documents {
    fn remove(&mut self, name: &str) {
        if let Some(Document {
            body: Body::Text(text),
            ..
        }) = self.all.remove(name)
        {
            self.text -= text.len();
        }
    }

    /// Reads what changed, on all processors when it is much.
    fn load(&mut self, folder: &Folder, mut changed: Vec<(String, Stamp)>) {
        // Contexts and records are searched most: they get the memory first.
        changed.sort_by_cached_key(|(name, _)| match Kind::of(name) {
            Kind::Context(_) => 0,
            Kind::Adr(_) => 1,
            Kind::Other => 2,
        });
        for (name, _) in &changed {
            self.remove(name);
        }
        let threads = match changed.len() {
            0..64 => 1,
            _ => thread::available_parallelism()
                .map_or(1, usize::from)
                .min(4),
        };
        let share = changed.len().div_ceil(threads).max(1);
        // Small rounds, so that texts which will not be kept do not pile up.
        for round in changed.chunks(share.min(256) * threads) {
            let mut room = TEXT_BUDGET.saturating_sub(self.text);
            let per_thread = room / threads;
            let loaded: Vec<Vec<(String, Document)>> = thread::scope(|scope| {
                let tasks: Vec<_> = round
                    .chunks(round.len().div_ceil(threads).max(1))
                    .map(|part| scope.spawn(move || load_part(folder, part, per_thread)))
                    .collect();
                tasks
                    .into_iter()
                    .filter_map(|task| task.join().ok())
                    .collect()
            });
            for (name, document) in loaded.into_iter().flatten() {
                if let Body::Text(text) = &document.body {
                    room = room.saturating_sub(text.len());
                    self.text += text.len();
                }
                self.all.insert(name, document);
            }
        }
    }

    fn find(
        &self,
        folder: &Folder,
        query: &Query,
        strength: Strength,
        wanted: &impl Fn(Kind) -> bool,
    ) -> (Vec<Hit>, usize) {
        let mut hits = Vec::new();
        let mut unread: Vec<(&String, &Document)> = Vec::new();
        for (name, document) in &self.all {
            if !wanted(document.kind) {
                continue;
            }
            match &document.body {
                Body::Text(text) => {
                    if let Some(score) = query.score(document.title.as_bytes(), text, strength) {
                        hits.push(hit(name, document, score));
                    }
                }
                Body::Signature(signature) => {
                    if query.may_match(signature, strength) {
                        unread.push((name, document));
                    }
                }
            }
        }
        let candidates = unread.len();
        if candidates > MOST_READ {
            unread.sort_by_key(|(_, document)| std::cmp::Reverse(document.stamp.modified_ms()));
            unread.truncate(NEWEST_READ);
        }
        let look = |part: &[(&String, &Document)]| -> Vec<Hit> {
            let scored = part.iter().filter_map(|(name, document)| {
                let text = folder.read_known(name, &document.stamp).or_else(|| {
                    let loaded = folder.read(name).ok().flatten()?;
                    Some(loaded.text.to_string())
                })?;
                let score = query.score(document.title.as_bytes(), &fold_bytes(&text), strength)?;
                Some(hit(name, document, score))
            });
            scored.collect()
        };
        let found = match unread.split_at_checked(unread.len() / 2) {
            Some((one, two)) if unread.len() >= 32 => thread::scope(|scope| {
                let other = scope.spawn(|| look(two));
                let mut found = look(one);
                found.extend(other.join().into_iter().flatten());
                found
            }),
            _ => look(&unread),
        };
        // As many of the others match as of those that were read.
        let others = (candidates - unread.len()) * found.len() / unread.len().max(1);
        hits.extend(found);
        let total = hits.len() + others;
        (hits, total)
    }
}

fn hit(name: &str, document: &Document, score: f64) -> Hit {
    Hit {
        name: name.to_owned(),
        kind: document.kind,
        score,
    }
}

fn load_part(folder: &Folder, part: &[(String, Stamp)], room: usize) -> Vec<(String, Document)> {
    let mut maker = Maker::new();
    let mut room = room;
    let mut loaded = Vec::with_capacity(part.len());
    for (name, stamp) in part {
        // A file that cannot be read is one that is not found.
        let Some(file) = load(folder, name, stamp) else {
            continue;
        };
        let folded = fold(&file.text);
        let body = if folded.len() <= room {
            room -= folded.len();
            Body::Text(folded.into_bytes().into_boxed_slice())
        } else {
            Body::Signature(maker.make(&folded))
        };
        let document = Document {
            kind: Kind::of(name),
            stamp: file.stamp,
            settled: file.settled,
            title: title(&file.text).into_boxed_str(),
            body,
        };
        loaded.push((name.clone(), document));
    }
    loaded
}

/// The quick way for a file that was just looked at and is not being written.
fn load(folder: &Folder, name: &str, stamp: &Stamp) -> Option<Loaded> {
    if stamp.is_settled()
        && let Some(text) = folder.read_known(name, stamp)
    {
        return Some(Loaded {
            text: text.into(),
            stamp: *stamp,
            settled: true,
        });
    }
    folder.read(name).ok().flatten()
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
