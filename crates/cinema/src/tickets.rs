//! Issues tickets: the signed text and the calendar entry of a booking.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{Context, Error, Language, Result, Sql};

use crate::{
    model::{
        Status,
        seat::join,
        ticket::{Claims, TicketKey, TicketShow},
        ticket_calendar::{CalendarEntry, calendar_file},
    },
    state::CounterState,
    store::StoredReservation,
};

/// The key, for work outside a transaction.
pub async fn key(state: &Arc<CounterState>, context: &Context) -> Result<Arc<TicketKey>> {
    if let Some(key) = committed_key(state, context).await? {
        return Ok(key);
    }
    let (writing, now) = (Arc::clone(state), state.now(context));
    let make = move |sql: &mut dyn Sql| writing.ticket_keys.ensure(sql, now).map(|_| ());
    state.store.transaction(context.budget(), make).await?;
    let key = committed_key(state, context).await?;
    key.ok_or_else(|| Error::internal("the ticket key is gone"))
}

async fn committed_key(
    state: &Arc<CounterState>,
    context: &Context,
) -> Result<Option<Arc<TicketKey>>> {
    let reading = Arc::clone(state);
    let find = move |sql: &mut dyn Sql| reading.ticket_keys.find(sql);
    state.store.query(context.budget(), find).await
}

/// The ticket of a reservation; `None` unless it is booked.
pub fn issue(
    state: &CounterState,
    key: &TicketKey,
    booking: &StoredReservation,
) -> Result<Option<String>> {
    if booking.status != Status::Confirmed {
        return Ok(None);
    }
    let show = TicketShow {
        id: &booking.show.id,
        starts_at: booking.show.starts_at,
        ends_at: state.end_of(&booking.show)?,
    };
    let ticket_id = key.ticket_id(&booking.id);
    let claims = Claims::new(ticket_id, booking.version, &booking.seats, show);
    key.sign(&claims).map(Some).map_err(Error::internal)
}

/// The same, in the transaction that makes or changes the booking.
pub fn issue_in_transaction(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    booking: &StoredReservation,
) -> Result<Option<String>> {
    if booking.status != Status::Confirmed {
        return Ok(None);
    }
    let key = state.ticket_keys.ensure(sql, state.now(context))?;
    issue(state, &key, booking)
}

/// The calendar file of a booking; a cancelled one removes the entry.
pub fn calendar(
    state: &CounterState,
    key: &TicketKey,
    language: Language,
    booking: &StoredReservation,
) -> Result<String> {
    let show = &booking.show;
    let at = |millis| Timestamp::from_millisecond(millis).map_err(Error::internal);
    let seats = join(&booking.seats);
    let description = match language {
        Language::English => format!("{}, seats {seats}", show.theater_name),
        Language::Japanese => format!("{} 座席 {seats}", show.theater_name),
    };
    Ok(calendar_file(&CalendarEntry {
        ticket_id: &key.ticket_id(&booking.id),
        version: booking.version,
        title: &show.film_title,
        description: &description,
        location: &show.theater_name,
        starts_at: at(show.starts_at)?,
        ends_at: at(state.end_of(show)?)?,
        zone: &state.zone,
        changed_at: at(booking.created_at)?,
        is_cancelled: booking.status == Status::Cancelled,
    }))
}
