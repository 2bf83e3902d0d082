//! The calendar as a file that calendar programs subscribe to.

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result, Store,
    counter::{File, Files},
};

use crate::calendar_file;

const CALENDAR: &str = "calendar.ics";

pub struct Feed {
    store: Arc<dyn Store>,
}

impl Feed {
    pub fn new(store: &Arc<dyn Store>) -> Self {
        Self {
            store: Arc::clone(store),
        }
    }
}

impl Files for Feed {
    fn names(&self) -> &'static [&'static str] {
        &[CALENDAR]
    }

    fn file<'a>(
        &'a self,
        context: &'a Context,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<File>>> {
        Box::pin(async move {
            if name != CALENDAR {
                return Ok(None);
            }
            let now = context.clock.now().as_millisecond();
            let read = self
                .store
                .query(context.budget(), move |sql| calendar_file::feed(sql, now));
            Ok(Some(File {
                kind: "text/calendar; charset=utf-8",
                bytes: read.await?.into_bytes(),
            }))
        })
    }
}
