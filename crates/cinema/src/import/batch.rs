//! All rows of an import, read and sorted by what they describe. Each row is checked by
//! itself, and against others with the same id.

use std::collections::{BTreeSet, HashMap};

use jiff::tz::TimeZone;
use kit::counter::Problem;

use super::{
    fields::{self, Fields},
    halls::{self, HallRecord},
    prices,
    records::{self, AvailabilityRecord, ShowRecord},
    source::{Origin, Row, RowKind, Source},
};
use crate::{
    model::{film::Film, place::Place, prices::PriceRule},
    store::ReservationRow,
};

/// How many unknown fields are reported.
const MOST_UNKNOWN: usize = 10;

/// Rows of one kind, each with where it stands.
type Rows<T> = Vec<(Origin, T)>;

#[derive(Default)]
pub struct Batch {
    pub films: Rows<Film>,
    pub halls: Vec<HallRecord>,
    pub shows: Rows<ShowRecord>,
    pub prices: Rows<PriceRule>,
    pub place: Rows<Place>,
    pub reservations: Rows<ReservationRow>,
    pub availability: Rows<AvailabilityRecord>,
    pub problems: Vec<Problem>,
    /// Fields, files and lists that were not used.
    pub ignored: BTreeSet<String>,
}

impl Batch {
    pub fn new(source: Source, zone: &TimeZone, now: i64) -> Self {
        let mut batch = Self {
            problems: source.problems,
            ignored: source.ignored.into_iter().collect(),
            ..Self::default()
        };
        let mut ids = Ids::default();
        for row in source.rows {
            let fields = Fields::new(&row.fields);
            if let Err(problem) = batch.take(&row, &fields, &mut ids, zone, now) {
                batch.problems.push(row.origin.problem(problem));
            }
            for name in fields.unknown() {
                if batch.ignored.len() < MOST_UNKNOWN {
                    batch.ignored.insert(kit::text::clean(name, 50));
                }
            }
        }
        batch
    }

    fn take(
        &mut self,
        row: &Row,
        fields: &Fields<'_>,
        ids: &mut Ids,
        zone: &TimeZone,
        now: i64,
    ) -> Result<(), fields::Problem> {
        let at = row.origin.clone();
        let mut once = |id: &str| ids.take(row.kind, id, &row.origin);
        match row.kind {
            RowKind::Film => {
                let film = records::film(fields)?;
                once(&film.id)?;
                self.films.push((at, film));
            }
            RowKind::Hall => halls::collect(&mut self.halls, halls::hall(fields, &at)?)?,
            RowKind::Show => {
                let show = records::show(fields)?;
                once(&show.id)?;
                self.shows.push((at, show));
            }
            RowKind::Price => {
                let price = prices::price(fields)?;
                once(&price.price_id)?;
                self.prices.push((at, price));
            }
            RowKind::Place => {
                let place = prices::place(fields)?;
                once("of the cinema")?;
                self.place.push((at, place));
            }
            RowKind::Reservation => {
                let reservation = records::reservation(fields, zone, now)?;
                once(&reservation.id)?;
                self.reservations.push((at, reservation));
            }
            RowKind::Availability => {
                let seats = records::availability(fields)?;
                once(&seats.show_id)?;
                self.availability.push((at, seats));
            }
        }
        Ok(())
    }
}

/// The ids of each kind, and where they came first.
#[derive(Default)]
struct Ids(HashMap<(RowKind, String), Origin>);

impl Ids {
    fn take(&mut self, kind: RowKind, id: &str, at: &Origin) -> Result<(), fields::Problem> {
        let noun = match kind {
            RowKind::Film => "film",
            RowKind::Hall => "hall",
            RowKind::Show => "show",
            RowKind::Price => "price",
            RowKind::Place => "place",
            RowKind::Reservation => "reservation",
            RowKind::Availability => "availability of show",
        };
        match self.0.get(&(kind, id.to_owned())) {
            Some(first) => Err(format!("{noun} {id} is already in {}", first.in_words())),
            None => {
                self.0.insert((kind, id.to_owned()), at.clone());
                Ok(())
            }
        }
    }
}
