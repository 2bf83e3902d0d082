//! A screening, as the page writes it.

use crate::model::Show;

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
