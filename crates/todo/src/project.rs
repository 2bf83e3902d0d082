//! The project's files, as far as they have been read.
//!
//! Nothing is read before it is needed. What was read is used again only while
//! the file on disk is unchanged.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use kit::Result;

use crate::{
    errors,
    files::{self, Folder, LoadedFile, Stamp, adr_file},
    model::{
        adr::{self, Adr},
        board::Board,
    },
    parallel::on_all,
    sync::locked,
};

pub struct ProjectFiles {
    root: PathBuf,
    folder: Mutex<Option<Folder>>,
    board: Mutex<Option<CachedBoard>>,
    adrs: Mutex<HashMap<String, CachedAdr>>,
    /// The files as this process last wrote or deleted them, so that they are
    /// not announced as changes made by others.
    own_writes: Mutex<HashMap<String, Option<Stamp>>>,
}

struct CachedAdr {
    stamp: Stamp,
    settled: bool,
    adr: Arc<Adr>,
}

/// `task.md` as it was last read.
#[derive(Clone)]
struct CachedBoard {
    board: Arc<Board>,
    stamp: Stamp,
    /// The stamp was old enough at the read to trust it.
    settled: bool,
}

impl ProjectFiles {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            folder: Mutex::default(),
            board: Mutex::default(),
            adrs: Mutex::default(),
            own_writes: Mutex::default(),
        }
    }

    pub fn folder(&self) -> Result<Folder> {
        let mut known = locked(&self.folder);
        if let Some(folder) = known.as_ref()
            && folder.todo.is_dir()
        {
            return Ok(folder.clone());
        }
        let folder = Folder::open(&self.root)?;
        *known = Some(folder.clone());
        Ok(folder)
    }

    /// `task.md` as it is now.
    pub fn board(&self) -> Result<Arc<Board>> {
        Ok(self.board_in(&self.folder()?)?.0)
    }

    /// The board, and the file it was read from if there is one.
    pub fn board_in(&self, folder: &Folder) -> Result<(Arc<Board>, Option<LoadedFile>)> {
        let known = locked(&self.board).clone();
        let Some(stamp) = folder.stamp(files::TASKS)? else {
            return Ok((Arc::new(Board::empty()), None));
        };
        if let Some(known) = &known
            && known.settled
            && known.stamp == stamp
        {
            return Ok(known.answer());
        }
        let was = known.as_ref().map(|known| &known.board.text);
        let Some(loaded) = folder.read_again(files::TASKS, was)? else {
            return Ok((Arc::new(Board::empty()), None));
        };
        let board = match known {
            Some(known) if Arc::ptr_eq(&known.board.text, &loaded.text) => known.board,
            _ => Arc::new(parse(&loaded.text)?),
        };
        let read = CachedBoard {
            board,
            stamp: loaded.stamp,
            settled: loaded.settled,
        };
        *locked(&self.board) = Some(read.clone());
        Ok(read.answer())
    }

    /// Caches the board that was just written.
    pub fn wrote_board(&self, board: &Arc<Board>, stamp: Stamp) {
        *locked(&self.board) = Some(CachedBoard {
            board: Arc::clone(board),
            stamp,
            settled: false,
        });
    }

    /// Remembers a file as this process left it; `None`: deleted.
    pub fn wrote(&self, name: &str, stamp: Option<Stamp>) {
        locked(&self.own_writes).insert(name.to_owned(), stamp);
    }

    /// Whether the file is as this process left it.
    pub fn is_own(&self, name: &str, stamp: Option<&Stamp>) -> bool {
        match (locked(&self.own_writes).get(name), stamp) {
            (Some(Some(own)), Some(now)) => own.same_content(now),
            (Some(None), None) => true,
            _ => false,
        }
    }

    /// All records, by number. Reads only files that changed.
    pub fn adrs(&self) -> Result<Vec<Arc<Adr>>> {
        let folder = self.folder()?;
        let mut known = locked(&self.adrs);
        let mut fresh = HashMap::with_capacity(known.len());
        let mut changed = Vec::new();
        for (stem, stamp) in folder.stamped(files::ADRS)? {
            let Some(number) = adr::number_of(&stem) else {
                continue;
            };
            let kept = known
                .remove(&stem)
                .filter(|read| read.settled && read.stamp == stamp);
            match kept {
                Some(kept) => {
                    fresh.insert(stem, kept);
                }
                None => changed.push((stem, number)),
            }
        }
        let read = |part: &[(String, u16)]| -> Result<Vec<(String, CachedAdr)>> {
            let mut read = Vec::with_capacity(part.len());
            for (stem, number) in part {
                // The file was deleted since the directory was
                // read.
                let Some(loaded) = folder.read(&adr_file(stem))? else {
                    continue;
                };
                let adr = CachedAdr {
                    stamp: loaded.stamp,
                    settled: loaded.settled,
                    adr: Arc::new(Adr::parse(stem, *number, &loaded.text)),
                };
                read.push((stem.clone(), adr));
            }
            Ok(read)
        };
        for part in on_all(&changed, changed.len() >= 64, read) {
            fresh.extend(part?);
        }
        let mut all: Vec<Arc<Adr>> = fresh.values().map(|read| Arc::clone(&read.adr)).collect();
        *known = fresh;
        all.sort_by(|one, other| (one.number, &one.stem).cmp(&(other.number, &other.stem)));
        Ok(all)
    }

    /// The name of the only file with that number, without `.md`.
    pub fn adr_stem(&self, field: &str, number: u16) -> Result<String> {
        let stems = self.folder()?.stems(files::ADRS)?;
        let mut found = stems
            .into_iter()
            .filter(|stem| adr::number_of(stem) == Some(number));
        match (found.next(), found.next()) {
            (None, _) => Err(errors::adr_not_found(field, number)),
            (Some(stem), None) => Ok(stem),
            (Some(one), Some(other)) => {
                let all: Vec<String> = [one, other].into_iter().chain(found).collect();
                Err(errors::duplicate_adr(field, number, &all))
            }
        }
    }
}

impl CachedBoard {
    fn answer(&self) -> (Arc<Board>, Option<LoadedFile>) {
        let loaded = LoadedFile {
            text: Arc::clone(&self.board.text),
            stamp: self.stamp,
            settled: self.settled,
        };
        (Arc::clone(&self.board), Some(loaded))
    }
}

pub fn parse(text: &Arc<str>) -> Result<Board> {
    Board::parse(Arc::clone(text))
        .map_err(|why| errors::unreadable(&Folder::shown(files::TASKS), &why.0))
}
