//! What all tools that sell, hold or exchange seats share: which seats of which screening
//! are meant, who may have how many, and how they are taken.

use std::sync::Arc;

use kit::{Context, Error, Result, Sql, Warning, context::Change, context::Language};

use crate::{
    answers::age_warning,
    errors,
    find::{self, ScreeningQuery, given},
    ids,
    model::{
        Listing, Show, Status,
        hall::{Hall, SeatMap},
        party::half_couples,
        quote::{Quote, TicketCounts},
        seat::{Seat, SeatReference, join, side_by_side},
        when::rfc3339,
    },
    quote::quote,
    state::CounterState,
    store::{self, Filter, NewReservation, StoredReservation},
    uris, waiting,
};

/// Other screenings of the film that are offered when one is full.
const OTHER_SHOWS: usize = 5;
/// Screenings that are looked at for them, inside a transaction.
const CONSIDERED_SHOWS: usize = 20;

/// Seats of a screening that somebody wants.
pub struct Order {
    pub show: Show,
    pub hall: Arc<Hall>,
    pub seats: Vec<Seat>,
    /// `None` if no price is known.
    pub price: Option<Quote>,
}

/// The screening and the seats that the arguments name.
pub fn named(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    query: &ScreeningQuery<'_>,
    seat_ids: &[String],
    most: usize,
) -> Result<(Vec<Seat>, Show)> {
    let (seats, carried) = read_seats(seat_ids, most)?;
    let schedule_id = given(query.schedule_id);
    if let (Some(one), Some(other)) = (schedule_id, carried.as_deref())
        && one != other
    {
        return Err(several_screenings());
    }
    let wanted = ScreeningQuery {
        schedule_id: schedule_id.or(carried.as_deref()),
        ..*query
    };
    let show = find::screening(state, context, sql, &wanted)?;
    Ok((seats, show))
}

impl Order {
    /// Refuses a screening that is no longer sold, and seats that its hall lacks.
    pub fn new(
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
        show: Show,
        seats: Vec<Seat>,
    ) -> Result<Self> {
        check_on_sale(state, context, &show)?;
        let hall = state.hall(sql, &show)?;
        let missing = seats.iter().filter(|seat| hall.seat(seat).is_none());
        let missing: Vec<Seat> = missing.cloned().collect();
        if !missing.is_empty() {
            return Err(errors::seat_not_found(&missing, &show, &hall));
        }
        Ok(Self {
            show,
            hall,
            seats,
            price: None,
        })
    }

    /// Adds what the seats cost, for these tickets.
    pub fn priced(
        mut self,
        state: &CounterState,
        sql: &mut dyn Sql,
        tickets: Option<&TicketCounts>,
    ) -> Result<Self> {
        self.price = quote(state, sql, &self.show, &self.hall, &self.seats, tickets)?;
        Ok(self)
    }

    /// Takes the seats for a new reservation. `until`: held until then; `None`: booked.
    pub fn take(
        &self,
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
        until: Option<i64>,
    ) -> Result<StoredReservation> {
        self.check_limit(state, context, sql)?;
        let now = state.now(context);
        // Seats that became free belong to those who wait for them.
        if self.show.waiting > 0 {
            waiting::offer_free_seats(state, context, sql, &self.show)?;
        }
        let id = ids::reservation();
        let new = NewReservation {
            id: &id,
            show_id: &self.show.id,
            seats: &self.seats,
            caller: &context.caller.id,
            created_at: now,
            expires_at: until,
            price: self.price.as_ref(),
        };
        if !store::book(sql, &new, now)? {
            return Err(self.refusal(state, context, sql, &id)?);
        }
        self.announce(context);
        Ok(StoredReservation {
            id,
            show: self.show.clone(),
            seats: self.seats.clone(),
            status: match until {
                Some(_) => Status::Held,
                None => Status::Confirmed,
            },
            created_at: now,
            expires_at: until,
            held_since: until.map(|_| now),
            version: 1,
            admitted_at: None,
            price: self.price.clone(),
        })
    }

    /// Tells subscribers that the seats of the screening changed.
    pub fn announce(&self, context: &Context) {
        context.changed(Change::Resource(uris::seats(&self.show.id)));
    }

    /// Why the seats could not be taken for `reservation_id`, and what else there is.
    pub fn refusal(
        &self,
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
        reservation_id: &str,
    ) -> Result<Error> {
        let now = state.now(context);
        let occupied = store::taken_seats(sql, &self.show.id, now, Some(reservation_id))?;
        let map = SeatMap::new(&self.hall, occupied);
        let taken = self.seats.iter().filter(|seat| !map.is_free(seat));
        let taken: Vec<Seat> = taken.cloned().collect();
        let other_shows = match map.free_count() < self.seats.len() {
            true => self.other_shows(state, context, sql)?,
            false => Vec::new(),
        };
        Ok(errors::seats_taken(&taken, &self.seats, &map, &other_shows))
    }

    /// The next screenings of the same film with enough free seats.
    fn other_shows(
        &self,
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
    ) -> Result<Vec<Listing>> {
        let filter = Filter {
            films: vec![&self.show.film_id],
            from: Some(state.sales_time(context)),
            ..Filter::default()
        };
        let mut found = store::listings(sql, &filter, state.now(context), CONSIDERED_SHOWS)?;
        let size = i64::try_from(self.seats.len()).unwrap_or(i64::MAX);
        found.retain(|listing| listing.free >= size && listing.show.id != self.show.id);
        let distance = |start: i64| (start - self.show.starts_at).abs();
        found.sort_by_key(|listing| distance(listing.show.starts_at));
        found.truncate(OTHER_SHOWS);
        Ok(found)
    }

    /// Refuses more seats of a screening than one caller may have.
    pub fn check_limit(
        &self,
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
    ) -> Result<()> {
        let most = i64::from(state.settings.max_seats_per_caller);
        if most == 0 {
            return Ok(());
        }
        store::lock_show(sql, &self.show.id)?;
        let (caller, now) = (&context.caller.id, state.now(context));
        let reserved = store::seats_of_caller(sql, &self.show.id, caller, now)?;
        let requested = self.seats.len();
        if reserved.saturating_add_unsigned(requested as u64) > most {
            return Err(errors::seat_limit_reached(reserved, requested, most));
        }
        Ok(())
    }
}

pub fn check_on_sale(state: &CounterState, context: &Context, show: &Show) -> Result<()> {
    match show.has_begun(state.sales_time(context)) {
        true => Err(errors::show_started(
            show,
            state.settings.sales_close_minutes,
        )),
        false => Ok(()),
    }
}

/// The reservation with this id, locked, if it may still be changed.
pub fn changeable(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    id: &str,
) -> Result<StoredReservation> {
    let found = store::locked_reservation(sql, id, state.now(context))?
        .ok_or_else(errors::reservation_not_found)?;
    check_changeable(state, context, &found)?;
    Ok(found)
}

/// Refuses a change once the customers are in, or once the screening is no longer sold.
pub fn check_changeable(
    state: &CounterState,
    context: &Context,
    found: &StoredReservation,
) -> Result<()> {
    match found.admitted_at {
        Some(at) => Err(errors::already_admitted(&rfc3339(at, &state.zone))),
        None => check_on_sale(state, context, &found.show),
    }
}

/// The seats in the order in which they were named, each once, and the screening
/// that they name, if any does.
fn read_seats(seat_ids: &[String], most: usize) -> Result<(Vec<Seat>, Option<String>)> {
    let mut seats: Vec<Seat> = Vec::with_capacity(seat_ids.len().min(most));
    let mut carried: Option<String> = None;
    for text in seat_ids {
        let named = SeatReference::parse(text).ok_or_else(|| errors::invalid_seat_id(text))?;
        match (&carried, named.schedule_id) {
            (Some(one), Some(other)) if *one != other => return Err(several_screenings()),
            (None, Some(schedule_id)) => carried = Some(schedule_id),
            _ => {}
        }
        if !seats.contains(&named.seat) {
            seats.push(named.seat);
        }
        if seats.len() > most {
            return Err(errors::too_many_seats(seat_ids.len(), most));
        }
    }
    if seats.is_empty() {
        return Err(errors::no_seats());
    }
    Ok((seats, carried))
}

/// The seats that `seat_ids` name, all of them in the screening of a reservation.
pub fn seats_of(reservation: &StoredReservation, seat_ids: &[String]) -> Result<Vec<Seat>> {
    let (seats, carried) = read_seats(seat_ids, usize::from(u8::MAX))?;
    match carried {
        Some(schedule_id) if schedule_id != reservation.show.id => Err(several_screenings()),
        _ => Ok(seats),
    }
}

fn several_screenings() -> Error {
    errors::schedule_ambiguous("The arguments name more than one screening.", &[])
}

/// What the customer may not have meant.
pub fn warnings(language: Language, show: &Show, hall: &Hall, seats: &[Seat]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = age_warning(&show.age_class, language).into_iter().collect();
    for (half, other) in half_couples(hall, seats) {
        let message = match language {
            Language::English => format!(
                "{half} is half of a seat for two; the other half, {other}, is not in this \
                 reservation."
            ),
            Language::Japanese => format!(
                "{half}はカップルシートの片側です。もう片側の{other}はこの予約に含まれていません。"
            ),
        };
        let warning = Warning::new("HALF_COUPLE_SEAT", message);
        warnings.push(
            warning
                .detail("seat_id", half.to_string())
                .detail("other_half", other.to_string()),
        );
    }
    let groups: Vec<String> = side_by_side(seats)
        .iter()
        .map(|group| join(group))
        .collect();
    if groups.len() > 1 {
        let list = groups.join(" / ");
        let message = match language {
            Language::English => format!("These seats are not all side by side: {list}."),
            Language::Japanese => format!("座席が離れています: {list}。"),
        };
        warnings.push(Warning::new("SEATS_APART", message).detail("groups", groups));
    }
    warnings
}
