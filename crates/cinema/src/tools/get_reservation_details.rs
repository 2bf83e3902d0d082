//! `get_reservation_details`: a reservation, a hold or a place on a waiting list by its
//! id. It can wait until seats are held for a party that waits.

use std::{sync::Arc, time::Duration};

use kit::{Context, Definition, Effect, Handler, Hints, Result, Sql, Today, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tokio::time::{Instant, sleep_until};

use super::arguments;
use crate::{
    answers::{AnyObject, Reservation, ScheduleInfo, without_required},
    errors, ids,
    model::{
        hall::{GENERAL, Hall},
        place::{Place, ShortPlace},
        quote::Price,
        seat::Seat,
        when::rfc3339,
    },
    quote,
    state::CounterState,
    store, tickets,
    waiting::{self, WaitingState},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Reservation ID; a hold_id or waiting_id works too
    reservation_id: String,
    /// Seconds to wait for seats, with a waiting_id
    #[schemars(range(min = 0, max = MAX_TIMEOUT))]
    timeout: Option<f64>,
}

/// In seconds.
const MAX_TIMEOUT: u32 = 300;
/// The longest wait, with time for a last look.
const TIME_LIMIT: Duration = Duration::from_secs(MAX_TIMEOUT as u64 + 30);
/// Another process may have held the seats, so looking is the only way to learn it.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

#[derive(Serialize, JsonSchema)]
#[schemars(transform = without_required)]
pub struct Output {
    /// As in reserve_seats
    #[schemars(with = "Option<AnyObject>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reservation: Option<Reservation>,
    /// Of a waiting_id: status, position, hold_id, expires_at
    #[schemars(with = "Option<AnyObject>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<WaitingState>,
    /// As in get_show_schedule
    #[schemars(with = "Option<AnyObject>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule_info: Option<ScheduleInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    admitted_at: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<SeatDetail>>")]
    seat_details: Vec<SeatDetail>,
    /// No payment is taken
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    price: Option<Price>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    place: Option<ShortPlace>,
    #[serde(flatten)]
    today: Today,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = without_required)]
struct SeatDetail {
    seat_id: String,
    row: String,
    number: u32,
    seat_type: String,
}

impl SeatDetail {
    fn of(seat: &Seat, hall: &Hall) -> Self {
        // The hall may have been rebuilt without this seat.
        let seat_type = hall.seat(seat).map_or(GENERAL, |place| &place.seat_type);
        Self {
            seat_id: seat.to_string(),
            row: seat.row.clone(),
            number: seat.number,
            seat_type: seat_type.to_owned(),
        }
    }
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "get_reservation_details",
            title: "Reservation details",
            description: "Get detailed information for a reservation by reservation ID.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::waiting(state, handle),
    )
    .in_japanese("予約の確認")
    .time_limit(TIME_LIMIT)
    .normalise(|_, arguments| {
        for other_name in ["hold_id", "waiting_id"] {
            arguments::rename(arguments, other_name, "reservation_id");
        }
        arguments::narrow(arguments, "reservation_id");
        arguments::integer(arguments, "timeout");
    })
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let seconds = input.timeout.unwrap_or(0.0).clamp(0.0, MAX_TIMEOUT.into());
    let timeout = Duration::from_secs_f64(seconds);
    let place = match timeout.is_zero() {
        true => None,
        false => {
            let place = state.waits.enter(&context.caller);
            Some(place.map_err(errors::too_many_waiting)?)
        }
    };
    let started = Instant::now();
    let mut next_progress = started + PROGRESS_EVERY;
    loop {
        let (shared, of, id) = (
            Arc::clone(&state),
            context.clone(),
            input.reservation_id.clone(),
        );
        let look = move |sql: &mut dyn Sql| details(&shared, &of, sql, id);
        let found = state.store.query(context.budget(), look).await?;
        let now = Instant::now();
        let still_waits = found.waiting.as_ref().filter(|party| party.is_waiting());
        let Some(party) = still_waits.filter(|_| now < started + timeout) else {
            drop(place);
            return Ok(found);
        };
        if now >= next_progress {
            next_progress = now + PROGRESS_EVERY;
            let (waited, all) = (started.elapsed().as_secs_f64(), timeout.as_secs_f64());
            let message = Some(party.message.clone());
            context.client.progress(waited, Some(all), message).await;
        }
        tokio::select! {
            () = sleep_until((started + timeout).min(now + LOOK_EVERY)) => {}
            () = context.cancel.cancelled() => return Err(kit::Error::cancelled()),
        }
    }
}

pub fn details(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    id: String,
) -> Result<Output> {
    if ids::is_waiting(&id) {
        let (party, show) = waiting::state_of(state, context, sql, &id)?;
        return Ok(Output {
            reservation: None,
            waiting: Some(party),
            schedule_info: show.as_ref().map(ScheduleInfo::from),
            ticket: None,
            admitted_at: None,
            seat_details: Vec::new(),
            price: None,
            place: None,
            today: Today::of(context),
        });
    }
    let found = store::reservation(sql, &id, state.now(context))?
        .ok_or_else(errors::reservation_not_found)?;
    let hall = state.hall(sql, &found.show)?;
    let place = store::any_document::<Place>(sql)?;
    let seats = found.seats.iter();
    // There is a key as soon as anything was booked, or a desk was started.
    let ticket = match state.ticket_keys.find(sql)? {
        Some(key) => tickets::issue(state, &key, &found)?,
        None => None,
    };
    let price = match &found.price {
        // Booked before there were prices.
        None if found.is_alive() => {
            quote::quote(state, sql, &found.show, &hall, &found.seats, None)?
        }
        price => price.clone(),
    };
    Ok(Output {
        reservation: Some(Reservation::of(&found, &state.zone)),
        waiting: None,
        schedule_info: Some(ScheduleInfo::from(&found.show)),
        ticket,
        admitted_at: found.admitted_at.map(|at| rfc3339(at, &state.zone)),
        seat_details: seats.map(|seat| SeatDetail::of(seat, &hall)).collect(),
        price: price.map(|price| price.answer(context.language)),
        place: place.map(|place| place.short(context.language)),
        today: Today::of(context),
    })
}
