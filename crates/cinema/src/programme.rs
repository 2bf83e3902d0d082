//! The screenings of a day, narrowed filter by filter.

use kit::{Context, Error, Result, Sql, context::Language};

use crate::{
    errors,
    model::{
        Listing,
        film::{is_genre, strictness},
        hall::SeatMap,
        when::HouseTime,
    },
    reasons::{self, Reason},
    state::CounterState,
    store,
};

/// Which screenings of a day somebody wants. `None` does not narrow.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Filters<'a> {
    pub genre: Option<&'a str>,
    pub max_age_class: Option<&'a str>,
    pub from: Option<HouseTime>,
    pub to: Option<HouseTime>,
    pub min_seats_together: Option<usize>,
}

impl<'a> Filters<'a> {
    /// The times of a filter. An end after midnight may be written as 01:00 or 25:00, and
    /// so may a start if the end is early too. A start alone counts as written: 00:00
    /// means the whole day. Swapped times are refused.
    pub fn times(from: Option<&str>, to: Option<&str>) -> Result<[Option<HouseTime>; 2]> {
        let read = |text: Option<&str>, field| {
            text.map(|text| HouseTime::parse(text).ok_or_else(|| errors::invalid_time(field)))
                .transpose()
        };
        let (from, to) = (read(from, "from_time")?, read(to, "to_time")?);
        let Some(end) = to else {
            return Ok([from, to]);
        };
        let late = |time: HouseTime| time.other_name().filter(|late| *late > time);
        match (from, late(end)) {
            (None, Some(late_end)) => Ok([None, Some(late_end)]),
            (Some(start), late_end) if end < start => match late_end {
                Some(late_end) if start <= late_end => Ok([from, Some(late_end)]),
                _ => Err(swapped(start, end)),
            },
            (Some(start), Some(late_end)) => Ok([late(start), Some(late_end)]),
            _ => Ok([from, to]),
        }
    }

    /// Keeps the screenings that fit. If none is left, says which filter excluded the
    /// last ones.
    pub fn apply(
        &self,
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
        listings: &mut Vec<Listing>,
    ) -> Result<Option<Reason>> {
        let language = context.language;
        if let Some(reason) = self.by_film(language, listings) {
            return Ok(Some(reason));
        }
        if let Some(reason) = self.by_time(language, listings) {
            return Ok(Some(reason));
        }
        match self.min_seats_together {
            Some(wanted) => {
                count_together(state, context, sql, listings)?;
                Ok(by_seats(language, wanted, listings))
            }
            None => Ok(None),
        }
    }

    fn by_film(&self, language: Language, listings: &mut Vec<Listing>) -> Option<Reason> {
        if let Some(wanted) = self.genre {
            let genres = distinct(listings, |listing| &listing.show.genre);
            listings.retain(|listing| is_genre(&listing.show.genre, wanted));
            if listings.is_empty() {
                return Some(reasons::no_genre(language, wanted, genres));
            }
        }
        if let Some(most) = self.max_age_class {
            let mut classes = distinct(listings, |listing| &listing.show.age_class);
            classes.sort_by_key(|class| strictness(class));
            listings.retain(|it| strictness(&it.show.age_class) <= strictness(most));
            if listings.is_empty() {
                return Some(reasons::no_age_class(language, most, classes));
            }
        }
        None
    }

    fn by_time(&self, language: Language, listings: &mut Vec<Listing>) -> Option<Reason> {
        let starts = || listings.iter().map(|listing| listing.show.start);
        let (first, last) = (starts().min()?, starts().max()?);
        listings.retain(|Listing { show, .. }| {
            self.from.is_none_or(|from| from <= show.start)
                && self.to.is_none_or(|to| show.start <= to)
        });
        let none_left = listings.is_empty();
        none_left.then(|| reasons::no_start(language, first, last))
    }
}

fn swapped(from: HouseTime, to: HouseTime) -> Error {
    let mut error = errors::invalid_time("to_time");
    error.message = format!("to_time {to} is before from_time {from}.");
    error.next("Swap them. A time after midnight is 01:00 or 25:00.")
}

fn by_seats(language: Language, wanted: usize, listings: &mut Vec<Listing>) -> Option<Reason> {
    let most = listings
        .iter()
        .max_by_key(|listing| listing.most_together)?;
    let (together, show) = (most.most_together.unwrap_or(0), most.show.clone());
    listings.retain(|listing| listing.most_together >= Some(wanted));
    let none_left = listings.is_empty();
    none_left.then(|| reasons::not_together(language, wanted, together, &show))
}

/// Notes with each screening how many free seats it has side by side.
fn count_together(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    listings: &mut [Listing],
) -> Result<()> {
    let shows: Vec<&str> = listings.iter().map(|it| it.show.id.as_str()).collect();
    let mut taken = store::taken_by_show(sql, &shows, state.now(context))?;
    for listing in listings {
        let hall = state.hall(sql, &listing.show)?;
        let taken = taken.remove(&listing.show.id).unwrap_or_default();
        listing.most_together = Some(SeatMap::new(&hall, taken).most_together());
    }
    Ok(())
}

/// The values of a field, each once, in the order of their first screening.
fn distinct(listings: &[Listing], field: impl Fn(&Listing) -> &String) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for value in listings.iter().map(field) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_may_end_after_midnight_and_are_not_swapped() {
        let window = |from, to| {
            let times = Filters::times(from, to).map_err(|error| error.code.into_owned())?;
            Ok(times.map(|time| time.map(|time| time.to_string())))
        };
        for (from, to, expected) in [
            (Some("18:00"), Some("21:00"), [Some("18:00"), Some("21:00")]),
            (Some("22:00"), Some("01:00"), [Some("22:00"), Some("25:00")]),
            (Some("24:30"), Some("02:00"), [Some("24:30"), Some("26:00")]),
            (Some("00:00"), Some("02:00"), [Some("24:00"), Some("26:00")]),
            (Some("00:00"), Some("12:00"), [Some("00:00"), Some("12:00")]),
            (None, Some("01:00"), [None, Some("25:00")]),
            (None, Some("12:00"), [None, Some("12:00")]),
            (Some("00:00"), None, [Some("00:00"), None]),
            (Some("25:00"), None, [Some("25:00"), None]),
            (None, None, [None, None]),
        ] {
            let expected = expected.map(|time| time.map(str::to_owned));
            assert_eq!(
                window(from, to),
                Ok::<_, String>(expected),
                "{from:?} {to:?}"
            );
        }
        for (from, to) in [("21:00", "18:00"), ("12:00", "11:59"), ("25:00", "00:30")] {
            let refused = window(Some(from), Some(to));
            assert_eq!(refused, Err("INVALID_TIME".to_owned()), "{from} {to}");
        }
    }
}
