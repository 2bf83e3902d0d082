//! The screenings of a day, narrowed filter by filter.

use kit::{Context, Result, Sql, context::Language};

use crate::{
    errors,
    model::{
        Listing,
        film::{is_genre, strictness},
        hall::SeatMap,
        when::{DAY, HouseTime},
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
    /// The times of a filter. An end before the start lies after midnight.
    pub fn times(from: Option<&str>, to: Option<&str>) -> Result<[Option<HouseTime>; 2]> {
        let read = |text: Option<&str>, field| {
            text.map(|text| HouseTime::parse(text).ok_or_else(|| errors::invalid_time(field)))
                .transpose()
        };
        let (from, to) = (read(from, "from_time")?, read(to, "to_time")?);
        let is_past_midnight = from.zip(to).is_some_and(|(from, to)| to < from);
        let to = match is_past_midnight {
            true => to.map(|to| HouseTime::from_minutes(to.minutes() + DAY)),
            false => to,
        };
        Ok([from, to])
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
