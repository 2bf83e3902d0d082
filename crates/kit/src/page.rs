//! Pages of a list: a limit, and a cursor to the next page.

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
    let start = match cursor {
        None => 0,
        Some(cursor) => cursor
            .strip_prefix('p')
            .and_then(|position| position.parse::<usize>().ok())
            .filter(|position| *position > 0 && *position < all.len())
            .ok_or_else(unknown_cursor)?,
    };
    let items: Vec<T> = all.iter().skip(start).take(size).cloned().collect();
    let end = start + items.len();
    Ok(Page {
        items,
        next_cursor: (end < all.len()).then(|| format!("p{end}")),
    })
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
