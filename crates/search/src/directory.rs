//! The directory of an index on disk.
//!
//! tantivy maps its files into memory. If such a file is cut off, or the disk can't read
//! it, the system ends the whole process (SIGBUS). Here files are read instead, so that
//! both are errors of one search. Files are opened once: one that is deleted by a
//! commit of another process stays readable.

use std::{
    fs::File,
    io,
    ops::Range,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use tantivy::{
    Directory, HasLen,
    directory::{
        DirectoryLock, FileHandle, Lock, MmapDirectory, OwnedBytes, WatchCallback, WatchHandle,
        WritePtr,
        error::{DeleteError, LockError, OpenReadError, OpenWriteError},
    },
};

/// Writes and locks like tantivy's own.
#[derive(Debug, Clone)]
pub(crate) struct ReadDirectory {
    path: PathBuf,
    writing: MmapDirectory,
}

impl ReadDirectory {
    pub fn open(path: &Path) -> tantivy::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            writing: MmapDirectory::open(path)?,
        })
    }
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    length: usize,
}

impl HasLen for OpenFile {
    fn len(&self) -> usize {
        self.length
    }
}

impl FileHandle for OpenFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let mut bytes = vec![0; range.len()];
        self.file.read_exact_at(&mut bytes, range.start as u64)?;
        Ok(OwnedBytes::new(bytes))
    }
}

impl Directory for ReadDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let opened = File::open(self.path.join(path)).and_then(|file| {
            let length = file.metadata()?.len();
            Ok(OpenFile {
                file,
                length: usize::try_from(length).map_err(io::Error::other)?,
            })
        });
        match opened {
            Ok(file) => Ok(Arc::new(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(OpenReadError::FileDoesNotExist(path.to_owned()))
            }
            Err(error) => Err(OpenReadError::wrap_io_error(error, path.to_owned())),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.writing.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.writing.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.writing.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.writing.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.writing.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.writing.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.writing.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.writing.watch(callback)
    }
}
