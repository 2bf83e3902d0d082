//! Search in the messages of a room, page by page.

use kit::Result;

use super::{Log, pages::LOOKED_AT_ONCE};
use crate::{
    model::{
        answer_size::bytes_in_answer,
        message::{MessageLine, SearchedLine},
    },
    store::searching::{Hit, Search, SearchHits},
};

/// Bytes of messages that are searched at a time.
const SEARCHED_BYTES: usize = 110_000;

impl Log {
    /// The matching messages, newest first, up to the limit and a page's size.
    pub fn search(&self, search: &Search, keep_on: impl Fn() -> Result<()>) -> Result<SearchHits> {
        let room = self.at.name.as_str();
        let mut found = SearchHits::default();
        let (mut until, mut newest) = match &search.after {
            Some(after) if after.room == room => {
                let last = after.message.clone();
                let last = self.look(|index, files| index.locate(last, files))?;
                let last = last.ok_or_else(kit::page::unknown_cursor)?;
                (last.number, after.time)
            }
            _ => (self.count()?, i64::MAX),
        };
        while until > 0 {
            keep_on()?;
            // Reopened each time: a message keeps its number, not its file.
            let (mut texts, first) = (Vec::new(), until);
            self.look(|index, files| {
                let mut reader = index.reader(files);
                let from = until.saturating_sub(LOOKED_AT_ONCE);
                while until > from && texts.len() < SEARCHED_BYTES {
                    until -= 1;
                    texts.extend_from_slice(reader.text(until)?.unwrap_or_default());
                    texts.push(b'\n');
                }
                Ok(())
            })?;
            let numbers = (until..first).rev();
            for (text, number) in texts.split(|byte| *byte == b'\n').zip(numbers) {
                let fits = SearchedLine::parse(text).is_some_and(|glance| search.fits(&glance));
                let Some(mut line) = fits.then(|| MessageLine::parse(text)).flatten() else {
                    continue;
                };
                newest = line
                    .time()
                    .map_or(newest, |time| newest.min(time.as_millisecond()));
                let after = search.after.as_ref();
                if after.is_some_and(|after| after.was_shown(newest, room)) {
                    continue;
                }
                // Lines of other programs may lack it.
                room.clone_into(&mut line.room_name);
                let hit = Hit {
                    line,
                    number,
                    time: newest,
                    bytes: bytes_in_answer(text),
                };
                if !found.add(hit, search.limit) {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }
}
