//! Pages of a list in memory: a limit, and a cursor to the next page. Merchant's search and
//! rooms read from an index or a log, and make cursors of their own.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// One page of a list, and the cursor of the next.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    pub fn whole(items: Vec<T>) -> Self {
        Self {
            items,
            next_cursor: None,
        }
    }
}

/// One page of a list in memory. The cursor is the position of the next page.
pub fn slice<T: Clone>(all: &[T], cursor: Option<&str>, size: usize) -> Result<Page<T>> {
    let range = range(all.len(), cursor, size)?;
    Ok(Page {
        next_cursor: cursor_after(&range, all.len()),
        items: all.get(range).map(<[T]>::to_vec).unwrap_or_default(),
    })
}

/// One page of a list that is no longer needed.
pub fn take<T>(mut all: Vec<T>, cursor: Option<&str>, size: usize) -> Result<Page<T>> {
    let range = range(all.len(), cursor, size)?;
    let next_cursor = cursor_after(&range, all.len());
    all.truncate(range.end);
    all.drain(..range.start);
    Ok(Page {
        items: all,
        next_cursor,
    })
}

/// The positions of the page's items.
fn range(length: usize, cursor: Option<&str>, size: usize) -> Result<Range<usize>> {
    let start = match cursor {
        None => 0,
        Some(cursor) => cursor
            .strip_prefix('p')
            .and_then(|position| position.parse::<usize>().ok())
            .filter(|position| *position > 0 && *position < length)
            .ok_or_else(unknown_cursor)?,
    };
    Ok(start..start.saturating_add(size).min(length))
}

fn cursor_after(range: &Range<usize>, length: usize) -> Option<String> {
    (range.end < length).then(|| format!("p{}", range.end))
}

pub fn unknown_cursor() -> Error {
    Error::new("INVALID_CURSOR", "This cursor is not valid.").next("Start again without a cursor.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_the_list_once() {
        let all: Vec<u32> = (0..7).collect();
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let page = slice(&all, cursor.as_deref(), 3).unwrap();
            let taken = take(all.clone(), cursor.as_deref(), 3).unwrap();
            assert_eq!(
                (&taken.items, &taken.next_cursor),
                (&page.items, &page.next_cursor)
            );
            seen.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn foreign_cursors_are_refused() {
        for cursor in ["", "p", "p0", "p9", "-1", "x3", "p99999999999999999999999"] {
            assert!(slice(&[1, 2, 3], Some(cursor), 2).is_err(), "{cursor}");
        }
    }
}
