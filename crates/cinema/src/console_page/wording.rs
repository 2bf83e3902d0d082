//! A screening, as the page writes it.

use kit::{Context, Language};

use crate::model::Show;

pub fn title<'a>(context: &Context, show: &'a Show) -> &'a str {
    match context.language {
        Language::English if !show.film_english_title.is_empty() => &show.film_english_title,
        _ => &show.film_title,
    }
}

pub fn when_and_where(show: &Show) -> String {
    let Show {
        date,
        start,
        end,
        theater_name,
        ..
    } = show;
    format!("{date} {start}–{end}, {theater_name}")
}
