//! Files of one directory, such as pictures of products. Nothing outside of it
//! can be reached, and it is not listed.

use std::{
    fs::File,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use unicode_normalization::UnicodeNormalization;

use super::answer;

const CHUNK: usize = 32 * 1024;

/// An SVG picture may hold scripts, which would run with this desk's origin.
const NO_SCRIPTS: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox";

struct Asset {
    file: File,
    length: u64,
    tag: String,
    kind: &'static str,
}

/// `path` is what stood behind `/assets/`, without percent signs.
pub async fn serve(directory: PathBuf, path: String, request: &HeaderMap) -> Response {
    let found = tokio::task::spawn_blocking(move || find(&directory, &path)).await;
    let Some(asset) = found.ok().flatten() else {
        return answer::refuse(StatusCode::NOT_FOUND, "There is no such file.");
    };
    let known = request
        .get(header::IF_NONE_MATCH)
        .is_some_and(|tags| tags.as_bytes() == asset.tag.as_bytes());
    let mut response = if known {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let length = asset.length;
        let mut response = Response::new(Body::from_stream(chunks(asset.file, length)));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
        response
    };
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&asset.tag) {
        headers.insert(header::ETAG, tag);
    }
    for (name, value) in [
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, NO_SCRIPTS),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn find(directory: &Path, path: &str) -> Option<Asset> {
    let parts: Vec<&str> = path.split('/').collect();
    let is_name = |part: &&str| !part.starts_with('.') && !part.contains(['\\', '\0', ':']);
    if !parts.iter().all(|part| !part.is_empty() && is_name(part)) {
        return None;
    }
    let directory = directory.canonicalize().ok()?;
    // Links are followed before it is seen where they lead.
    let place = spellings(path)
        .iter()
        .find_map(|path| directory.join(path).canonicalize().ok())?;
    if !place.starts_with(&directory) {
        return None;
    }
    // A pipe would be waited for.
    if !place.metadata().ok()?.is_file() {
        return None;
    }
    let file = File::open(&place).ok()?;
    let about = file.metadata().ok()?;
    let changed = about
        .modified()
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |since| since.as_nanos());
    Some(Asset {
        file,
        length: about.len(),
        tag: format!("\"{:x}-{changed:x}\"", about.len()),
        kind: kind(path),
    })
}

/// Some systems write `ば` as one character and others as two, `は` and the dots;
/// names keep that on their way through archives.
fn spellings(path: &str) -> [String; 3] {
    [path.to_owned(), path.nfc().collect(), path.nfd().collect()]
}

/// The file's bytes, as many as were announced.
fn chunks(
    file: File,
    length: u64,
) -> impl futures::Stream<Item = std::io::Result<Bytes>> + Send + 'static {
    futures::stream::try_unfold((file, length), |(mut file, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let read = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; CHUNK.min(usize::try_from(left).unwrap_or(CHUNK))];
            let count = file.read(&mut chunk)?;
            chunk.truncate(count);
            std::io::Result::Ok((file, chunk))
        });
        let (file, chunk) = read.await.map_err(std::io::Error::other)??;
        if chunk.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let left = left.saturating_sub(chunk.len() as u64);
        Ok(Some((Bytes::from(chunk), (file, left))))
    })
}

fn kind(path: &str) -> &'static str {
    let ending = path.rsplit('.').next().unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "svg" => "image/svg+xml",
        "ico" => "image/x-icon",
        "bmp" => "image/bmp",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "mp3" => "audio/mpeg",
        "pdf" => "application/pdf",
        "json" => "application/json",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "html" | "htm" => "text/html; charset=utf-8",
        "txt" | "md" => "text/plain; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        _ => "application/octet-stream",
    }
}
