//! Opens, verifies, searches and reloads an index on disk or in memory.

use std::{
    fs::{self, File, TryLockError},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use tantivy::{
    Directory, IndexReader, IndexSettings, IndexWriter, ReloadPolicy,
    directory::{INDEX_WRITER_LOCK, META_LOCK},
    index::{IndexMeta, SegmentComponent},
    store::Compressor,
};

use crate::{
    cascade,
    directory::ReadDirectory,
    document::Change,
    error::{Error, OpenError},
    query::{Hits, Query},
    schema::{Fields, tokenizers},
    view::{META, Stamp, View, stamp},
    writer::{self, KnownProducts, Merging, Writer},
};

#[derive(Debug, Clone)]
pub struct Options {
    /// Reads every file once when opening, to find damage before it is searched.
    pub verify: bool,
    /// Memory that a writer may use before it writes a segment. At least 15
    /// MB.
    pub writer_memory: usize,
    /// After this long without a change the writer, its memory and its lock are
    /// released.
    pub writer_idle: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            verify: true,
            writer_memory: 16_000_000,
            writer_idle: Duration::from_secs(2),
        }
    }
}

/// A handle on an index; clones share it.
#[derive(Clone)]
pub struct Index(Arc<Inner>);

struct Inner {
    fields: Fields,
    index: tantivy::Index,
    reader: IndexReader,
    /// `None` for an index in memory.
    directory: Option<PathBuf>,
    view: RwLock<Arc<View>>,
    reloading: Mutex<()>,
    writer: Writer,
}

impl Index {
    /// Opens the index in `directory`, or creates one.
    pub fn open(directory: &Path, options: Options) -> Result<Index, OpenError> {
        fs::create_dir_all(directory)?;
        // tantivy may panic on damaged files.
        catch_unwind(AssertUnwindSafe(|| Index::open_in(directory, &options)))
            .unwrap_or_else(|_| Err(OpenError::Damaged("its files are inconsistent".into())))
    }

    fn open_in(directory: &Path, options: &Options) -> Result<Index, OpenError> {
        let fields = Fields::new();
        let files = ReadDirectory::open(directory)?;
        if !directory.join(META).exists() {
            if has_segments(directory)? {
                return Err(OpenError::Damaged("meta.json is missing".into()));
            }
            create(&fields, files.clone())?;
        }
        let index = open_tantivy(files)?;
        if index.schema() != fields.schema {
            return Err(OpenError::Damaged("it has another version".into()));
        }
        if options.verify {
            verify(&index)?;
        }
        Index::assemble(index, fields, Some(directory.to_owned()), options)
    }

    /// An index in memory, dropped with its last handle.
    #[expect(
        clippy::expect_used,
        reason = "nothing outside the process is involved: it cannot fail"
    )]
    pub fn in_memory() -> Index {
        let fields = Fields::new();
        let directory = tantivy::directory::RamDirectory::create();
        create(&fields, directory.clone()).expect("memory is writable");
        let index = open_tantivy(directory).expect("it has just been written");
        Index::assemble(index, fields, None, &Options::default()).expect("it is empty")
    }

    fn assemble(
        index: tantivy::Index,
        fields: Fields,
        directory: Option<PathBuf>,
        options: &Options,
    ) -> Result<Index, OpenError> {
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        let view = View::open(&index, &reader, &fields, directory.as_deref(), &[])?;
        Ok(Index(Arc::new(Inner {
            fields,
            index,
            reader,
            directory,
            view: RwLock::new(Arc::new(view)),
            reloading: Mutex::default(),
            writer: Writer::new(options.writer_memory, options.writer_idle),
        })))
    }

    /// The caller's count of changes at the last commit; 0 for a new index.
    pub fn position(&self) -> u64 {
        self.0.current().position
    }

    pub fn documents(&self) -> u64 {
        self.0.current().documents
    }

    /// Applies `changes` in order, all or none, and stores `position` with
    /// them. On return they are on disk and visible to searches. Changes
    /// may be applied again.
    ///
    /// [`Error::Busy`] while another process writes.
    pub fn apply(
        &self,
        changes: impl IntoIterator<Item = Change>,
        position: u64,
    ) -> Result<(), Error> {
        let inner = &self.0;
        inner.writer.apply(
            || inner.for_writing(),
            Merging::Often,
            |writer| {
                let mut known = KnownProducts::new(inner.committed()?);
                writer::write(writer, &mut known, &inner.fields, changes, position)
            },
        )?;
        inner.reload()
    }

    /// Begins to apply many changes, such as those of a first import.
    pub fn bulk(&self) -> Bulk {
        Bulk {
            index: self.clone(),
            known: None,
        }
    }

    /// Deletes the directory if it exists. [`Error::Busy`] while any
    /// process writes it: its next commit would mix with the files of a new
    /// index.
    pub fn remove(directory: &Path) -> Result<(), Error> {
        let lock = directory.join(&INDEX_WRITER_LOCK.filepath);
        let writer = match File::open(lock) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        if let Some(Err(TryLockError::WouldBlock)) = writer.as_ref().map(File::try_lock) {
            return Err(Error::Busy);
        }
        match fs::remove_dir_all(directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Merges the index into one segment, which makes searches faster.
    /// Worthwhile after a first import; takes seconds for a million
    /// products. Changes wait until it is done, searches do not.
    pub fn compact(&self) -> Result<(), Error> {
        let inner = &self.0;
        inner.writer.compact(|| inner.for_writing())?;
        inner.reload()
    }

    pub fn search(&self, query: &Query) -> Result<Hits, Error> {
        cascade::search(&self.0.current().segments, query)
    }
}

/// Products to remember before the index is opened anew, which takes longer the more it
/// has.
const MOST_REMEMBERED: usize = 100_000;

/// Many changes. Segments are merged rarely before [`Index::compact`], which should follow:
/// otherwise each product would be merged several times. Searches see the changes at once,
/// but are slower until then.
pub struct Bulk {
    index: Index,
    /// With the commit after which they were known.
    known: Option<(KnownProducts, Stamp)>,
}

impl Bulk {
    /// Like [`Index::apply`]: on return the changes are on disk.
    pub fn apply(
        &mut self,
        changes: impl IntoIterator<Item = Change>,
        position: u64,
    ) -> Result<(), Error> {
        let inner = &self.index.0;
        let before = self.known.take();
        let write = |writer: &mut IndexWriter| {
            let now = inner.stamp()?;
            let mut known = match before {
                Some((known, then)) if now == Some(then) && known.put() < MOST_REMEMBERED => known,
                // The first time, or another process has committed.
                _ => KnownProducts::new(inner.committed()?),
            };
            writer::write(writer, &mut known, &inner.fields, changes, position)?;
            self.known = inner.stamp()?.map(|stamp| (known, stamp));
            Ok(())
        };
        let merging = Merging::Rarely;
        inner.writer.apply(|| inner.for_writing(), merging, write)?;
        match inner.directory {
            Some(_) => Ok(()),
            // Nothing else tells that it has changed.
            None => inner.reload(),
        }
    }
}

impl Inner {
    /// The newest view, even if another process committed it.
    fn current(&self) -> Arc<View> {
        let view = self.view();
        let stamp = self.directory.as_deref().and_then(|path| stamp(path).ok());
        if stamp.is_none() || stamp == view.stamp {
            return view;
        }
        // The directory may have been deleted for a rebuild. Open files
        // stay searchable.
        let _ = self.reload();
        self.view()
    }

    fn view(&self) -> Arc<View> {
        let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&view)
    }

    fn reload(&self) -> Result<(), Error> {
        let _one_at_a_time = self.reloading.lock();
        let view = View::open(
            &self.index,
            &self.reader,
            &self.fields,
            self.directory.as_deref(),
            &self.view().segments,
        )
        .map_err(|error| Error::Failed(error.to_string()))?;
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        Ok(())
    }

    /// Like `current`, but fails instead of returning an old view.
    fn committed(&self) -> Result<Arc<View>, Error> {
        if self.stamp()? != self.view().stamp {
            self.reload()?;
        }
        Ok(self.view())
    }

    fn stamp(&self) -> io::Result<Option<Stamp>> {
        self.directory.as_deref().map(stamp).transpose()
    }

    /// Opens the index again, since a writer needs the current list of
    /// files.
    fn for_writing(&self) -> tantivy::Result<tantivy::Index> {
        match &self.directory {
            None => Ok(self.index.clone()),
            Some(path) => open_tantivy(ReadDirectory::open(path)?),
        }
    }
}

fn create(fields: &Fields, directory: impl Into<Box<dyn Directory>>) -> tantivy::Result<()> {
    let settings = IndexSettings {
        docstore_compression: Compressor::None,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    tantivy::Index::create(directory, fields.schema.clone(), settings)?;
    Ok(())
}

fn open_tantivy(directory: impl Into<Box<dyn Directory>>) -> tantivy::Result<tantivy::Index> {
    let mut index = tantivy::Index::open(directory)?;
    index.set_tokenizers(tokenizers());
    Ok(index)
}

fn has_segments(directory: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        if entry?.path().extension().is_some_and(|end| end == "idx") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks the checksum of every file. The lock keeps writers in other processes
/// from deleting files meanwhile.
fn verify(index: &tantivy::Index) -> Result<(), OpenError> {
    let directory = index.directory();
    let _files_stay = directory
        .acquire_lock(&META_LOCK)
        .map_err(|error| tantivy::TantivyError::LockFailure(error, None))?;
    let meta = index.load_metas()?;
    for file in files(&meta) {
        let sound = directory
            .validate_checksum(&file)
            .map_err(tantivy::TantivyError::from)?;
        if !sound {
            return Err(OpenError::Damaged(format!(
                "{} does not match its checksum",
                file.display()
            )));
        }
    }
    Ok(())
}

fn files(meta: &IndexMeta) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for segment in &meta.segments {
        for component in [
            SegmentComponent::Terms,
            SegmentComponent::Postings,
            SegmentComponent::FastFields,
            SegmentComponent::Store,
        ] {
            files.push(segment.relative_path(component));
        }
        if segment.has_deletes() {
            files.push(segment.relative_path(SegmentComponent::Delete));
        }
    }
    files
}
