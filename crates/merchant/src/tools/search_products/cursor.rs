//! Where the next page of a search starts: the engine, the offset, and the search it
//! belongs to.

use std::hash::{DefaultHasher, Hash, Hasher};

use kit::{Result, page};
use search::Query;

use crate::{errors, finding::Engine};

pub struct Cursor {
    /// `None` for a list out of the database.
    pub engine: Option<Engine>,
    pub offset: usize,
}

/// Deeper pages cost more and more, and nobody reads them.
pub const DEEPEST: usize = 100_000;

impl Cursor {
    pub fn read(text: Option<&str>, query: &Query) -> Result<Option<Self>> {
        let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let (place, of) = text.split_once('-').ok_or_else(page::unknown_cursor)?;
        let engine = match place.get(..1) {
            Some("d") => None,
            Some("e") => Some(Engine::Embedded),
            Some("m") => Some(Engine::Meilisearch),
            _ => return Err(page::unknown_cursor()),
        };
        let offset: usize = place
            .get(1..)
            .and_then(|offset| offset.parse().ok())
            .filter(|offset| *offset <= DEEPEST)
            .ok_or_else(page::unknown_cursor)?;
        if of != mark(query) {
            return Err(errors::cursor_of_another_search());
        }
        Ok(Some(Self { engine, offset }))
    }

    /// `None` beyond [`DEEPEST`].
    pub fn write(engine: Option<Engine>, offset: usize, query: &Query) -> Option<String> {
        let letter = match engine {
            None => 'd',
            Some(Engine::Embedded) => 'e',
            Some(Engine::Meilisearch) => 'm',
        };
        (offset <= DEEPEST).then(|| format!("{letter}{offset}-{}", mark(query)))
    }
}

/// A short hash that tells searches apart.
fn mark(query: &Query) -> String {
    let mut hasher = DefaultHasher::new();
    (&query.text, &query.category, &query.brand).hash(&mut hasher);
    (query.min_price, query.max_price, query.sort as u8).hash(&mut hasher);
    query.in_stock_only.hash(&mut hasher);
    format!("{:08x}", hasher.finish() & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_as_it_was_written() {
        let query = Query::default();
        for engine in [None, Some(Engine::Embedded), Some(Engine::Meilisearch)] {
            for offset in [0, 20, DEEPEST] {
                let text = Cursor::write(engine, offset, &query).unwrap();
                let read = Cursor::read(Some(&text), &query).unwrap().unwrap();
                assert_eq!((read.engine, read.offset), (engine, offset));
            }
            assert_eq!(Cursor::write(engine, DEEPEST + 1, &query), None);
        }
    }
}
