//! `hold_seats`: keeps seats for somebody who has not decided yet.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Result, Sql, Tool, Warning, context::Language,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments;
use crate::{
    answers::{AnyObject, Booking, PublishedElsewhere},
    booking::{self, Order},
    errors,
    find::{ScreeningQuery, given},
    model::{Show, Status, quote::TicketCounts, seat::join, when::rfc3339},
    quote::requote,
    state::{CounterState, MINUTE},
    store::{self, Revision, StoredReservation},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    schedule_id: Option<String>,
    /// As in reserve_seats, more for a group
    seat_ids: Option<Vec<String>>,
    /// Extends this hold
    hold_id: Option<String>,
    /// As in reserve_seats
    #[schemars(with = "Option<AnyObject>")]
    tickets: Option<TicketCounts>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

/// What reserve_seats answers, and how long the hold lasts.
#[derive(Serialize)]
pub struct Hold {
    hold_id: String,
    expires_at: String,
    #[serde(flatten)]
    booking: Booking,
}

pub type Output = PublishedElsewhere<Hold>;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "hold_seats",
            title: "Hold seats",
            description: "Keep seats for some minutes while the customer decides, or extend a \
                hold. Answers as reserve_seats, with hold_id and expires_at.",
            hints: Hints::ADDS,
            effect: Effect::Write,
        },
        Handler::transaction(state, handle),
    )
    .in_japanese("座席の仮押さえ")
    .idempotency_key("idempotency_key")
    .normalise(|_, arguments| {
        arguments::narrow(arguments, "schedule_id");
        arguments::narrow(arguments, "hold_id");
        arguments::seats(arguments, "seat_ids");
        arguments::tickets(arguments);
    })
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let seat_ids = input.seat_ids.as_deref().unwrap_or_default();
    if let Some(hold_id) = given(input.hold_id.as_deref()) {
        let hold = extend(state, context, sql, hold_id, &input)?;
        return answer(state, context, sql, &hold);
    }
    let query = ScreeningQuery {
        schedule_id: input.schedule_id.as_deref(),
        ..ScreeningQuery::default()
    };
    let most = usize::from(state.settings.max_seats_per_group.get());
    let (seats, show) = booking::named(state, context, sql, &query, seat_ids, most)?;
    let order = Order::new(state, context, sql, show, seats)?;
    let order = order.priced(state, sql, input.tickets.as_ref())?;
    let hold = hold(state, context, sql, &order)?;
    answer(state, context, sql, &hold)
}

/// Holds the seats of an order, if the caller may hold so many.
pub fn hold(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    order: &Order,
) -> Result<StoredReservation> {
    let most = state.settings.max_held_seats_per_caller;
    let now = state.now(context);
    if most > 0 {
        store::lock_caller(sql, &context.caller.id)?;
        let held = store::held_by_caller(sql, &context.caller.id, now)?;
        let requested = order.seats.len();
        if held + requested > most as usize {
            return Err(errors::hold_limit_reached(held, requested, most));
        }
    }
    let until = lasts_until(state, &order.show, now, now);
    order.take(state, context, sql, Some(until))
}

/// When a hold that began at `since` expires if it is made or extended now.
fn lasts_until(state: &CounterState, show: &Show, since: i64, now: i64) -> i64 {
    let minutes = i64::from(state.settings.hold_minutes.get());
    let most_minutes = i64::from(state.settings.max_hold_minutes.get()).max(minutes);
    (now + minutes * MINUTE)
        .min(since + most_minutes * MINUTE)
        .min(state.sales_close_at(show))
}

fn extend(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    hold_id: &str,
    input: &Input,
) -> Result<StoredReservation> {
    let seat_ids = input.seat_ids.as_deref().unwrap_or_default();
    let mut hold = booking::changeable(state, context, sql, hold_id)?;
    match hold.status {
        Status::Held => {}
        Status::Confirmed => return Err(errors::already_booked(&hold)),
        Status::Expired => return Err(errors::hold_expired(&hold.seats)),
        Status::Cancelled => return Err(errors::reservation_cancelled()),
    }
    if !seat_ids.is_empty() {
        let mut missing = booking::seats_of(&hold, seat_ids)?;
        missing.retain(|seat| !hold.seats.contains(seat));
        if !missing.is_empty() {
            return Err(errors::not_in_reservation(&missing, &hold));
        }
    }
    let now = state.now(context);
    let since = hold.held_since.unwrap_or(hold.created_at);
    // A hold for a party that waited may last longer than others.
    let until = lasts_until(state, &hold.show, since, now).max(hold.expires_at.unwrap_or(0));
    if store::keep_until(sql, &hold.show.id, &hold.id, Some(until))? as usize != hold.seats.len() {
        return Err(errors::hold_expired(&hold.seats));
    }
    if input.tickets.is_some() {
        let hall = state.hall(sql, &hold.show)?;
        let order = (&hold.show, &*hall, hold.seats.as_slice());
        hold.price = requote(
            state,
            sql,
            hold.price.as_ref(),
            order,
            input.tickets.as_ref(),
        )?;
    }
    let revision = Revision {
        show_id: &hold.show.id,
        seats: &hold.seats,
        status: Status::Held,
        expires_at: Some(until),
        voids_tickets: false,
        price: hold.price.as_ref(),
    };
    store::revise(sql, &hold.id, &revision, now)?;
    hold.expires_at = Some(until);
    Ok(hold)
}

/// The answer about a hold.
pub fn answer(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    hold: &StoredReservation,
) -> Result<Output> {
    let until = hold.expires_at.unwrap_or(hold.created_at);
    let expires_at = rfc3339(until, &state.zone);
    let (language, count, names) = (context.language, hold.seats.len(), join(&hold.seats));
    let message = match language {
        Language::English => format!(
            "{count} seat(s) are held until {expires_at}: {names}. Book them with reserve_seats \
             and this hold_id."
        ),
        Language::Japanese => format!(
            "{count}席を{expires_at}まで確保しました: {names}。このhold_idでreserve_seatsを呼ぶと予約できます。"
        ),
    };
    let hall = state.hall(sql, &hold.show)?;
    let mut booking = Booking::new(context, hold, message);
    booking.warnings = booking::warnings(language, &hold.show, &hall, &hold.seats);
    let longest = i64::from(state.settings.max_hold_minutes.get()) * MINUTE;
    if hold
        .held_since
        .is_some_and(|since| until >= since + longest)
    {
        let message = match language {
            Language::English => "This hold cannot be extended further.",
            Language::Japanese => "この仮押さえはこれ以上延長できません。",
        };
        booking
            .warnings
            .push(Warning::new("HOLD_AT_LIMIT", message));
    }
    Ok(PublishedElsewhere(Hold {
        hold_id: hold.id.clone(),
        expires_at,
        booking,
    }))
}
