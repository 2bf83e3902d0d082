//! What tells files apart.

use std::{fs::File, io::Read, path::Path};

use kit::{Result, file_rows::unreadable};
use sha2::{Digest, Sha256};

/// A hash of a file's contents, and how many bytes it has.
pub fn digest(path: &Path) -> Result<(String, u64)> {
    let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    let mut size = 0;
    loop {
        let count = file
            .read(&mut buffer)
            .map_err(|error| unreadable(path, &error))?;
        match buffer.get(..count) {
            Some([]) | None => break,
            Some(bytes) => {
                size += bytes.len() as u64;
                hasher.update(bytes);
            }
        }
    }
    Ok((kit::text::hex(hasher.finalize()), size))
}
