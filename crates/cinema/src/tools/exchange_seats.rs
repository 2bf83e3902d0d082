//! `exchange_seats`: other seats for a reservation, in the same screening or another.
//! It never has a moment without seats.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Result, Sql, Tool, Warning,
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::arguments;
use crate::{
    answers::{Booking, PublishedElsewhere},
    booking::{self, Order},
    errors,
    find::{ScreeningQuery, given},
    model::{
        Show, Status,
        seat::{Seat, join, without},
    },
    quote::requote,
    state::CounterState,
    store::{self, Revision, StoredReservation},
    tickets, uris, waiting,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    reservation_id: String,
    /// The new seats, as many as are given up
    #[schemars(length(min = 1))]
    seat_ids: Vec<String>,
    /// Of another screening
    schedule_id: Option<String>,
    /// Only these seats are given up; none for all
    instead_of: Option<Vec<String>>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "exchange_seats",
            title: "Exchange seats",
            description: "Exchange seats of a reservation for others, in the same screening or \
                another, all or nothing. Answers as reserve_seats.",
            hints: Hints::SETS,
            effect: Effect::Write,
        },
        Handler::transaction(state, handle),
    )
    .in_japanese("座席の変更")
    .idempotency_key("idempotency_key")
    .rules(&[errors::SEATS_MIN])
    .normalise(|_, arguments| {
        arguments::narrow(arguments, "reservation_id");
        arguments::narrow(arguments, "schedule_id");
        arguments::seats(arguments, "seat_ids");
        arguments::seats(arguments, "instead_of");
    })
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<PublishedElsewhere<Booking>> {
    let mut found = booking::changeable(state, context, sql, &input.reservation_id)?;
    match found.status {
        Status::Held | Status::Confirmed => {}
        Status::Expired => return Err(errors::hold_expired(&found.seats)),
        Status::Cancelled => return Err(errors::reservation_cancelled()),
    }
    let (order, given_up) = exchange(state, context, sql, &found, &input)?;
    let moves = order.show.id != found.show.id;
    let mut seats = without(&found.seats, &given_up);
    seats.extend(order.seats.iter().cloned());
    let is_same = !moves && seats.iter().all(|seat| found.seats.contains(seat));
    let mut warnings = booking::warnings(context.language, &order.show, &order.hall, &seats);
    let mut message = message(context.language, &found, &order.show, &seats);
    if is_same {
        message = match context.language {
            Language::English => "These are its seats already; nothing was changed.".to_owned(),
            Language::Japanese => "すでにこの席です。変更はありません。".to_owned(),
        };
        warnings.push(Warning::new("NOTHING_CHANGED", message.clone()));
    } else {
        let now = state.now(context);
        if moves {
            order.check_limit(state, context, sql)?;
        }
        if order.show.waiting > 0 {
            waiting::offer_free_seats(state, context, sql, &order.show)?;
        }
        let (show, id) = (&order.show.id, &found.id);
        if !store::take(sql, show, id, &order.seats, found.expires_at, now)? {
            return Err(order.refusal(state, context, sql, id)?);
        }
        let released = given_up.iter();
        let released = released.filter(|seat| moves || !order.seats.contains(seat));
        let released: Vec<Seat> = released.cloned().collect();
        let freed = store::release(sql, &found.show.id, id, &released)?;
        if freed as usize != released.len() {
            if found.status == Status::Held {
                // It expired while this call ran, by the clock of another desk.
                return Err(errors::hold_expired(&found.seats));
            }
            let what = format!("{id} owned {freed} of {}", join(&released));
            return Err(kit::Error::internal(what));
        }
        let new = (&order.show, &*order.hall, seats.as_slice());
        found.price = requote(state, sql, found.price.as_ref(), new, None)?;
        let revision = Revision {
            show_id: show,
            seats: &seats,
            status: found.status,
            expires_at: found.expires_at,
            voids_tickets: true,
            price: found.price.as_ref(),
        };
        store::revise(sql, id, &revision, now)?;
        if found.show.waiting > 0 {
            waiting::offer_free_seats(state, context, sql, &found.show)?;
        }
        order.announce(context);
        context.changed(Change::Resource(uris::seats(&found.show.id)));
        found.version += 1;
    }
    found.show = order.show;
    found.seats = seats;
    let mut answer = Booking::new(context, &found, message);
    answer.warnings = warnings;
    answer.ticket = tickets::issue_in_transaction(state, context, sql, &found)?;
    Ok(PublishedElsewhere(answer))
}

/// The new seats with their screening, and the seats that are given up for them.
fn exchange(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    found: &StoredReservation,
    input: &Input,
) -> Result<(Order, Vec<Seat>)> {
    // Seats may carry their screening.
    let carries_show = input.seat_ids.iter().any(|seat| seat.contains(':'));
    let same_show = (!carries_show).then_some(found.show.id.as_str());
    let query = ScreeningQuery {
        schedule_id: given(input.schedule_id.as_deref()).or(same_show),
        ..ScreeningQuery::default()
    };
    let most = found
        .seats
        .len()
        .max(input.seat_ids.len())
        .min(usize::from(u8::MAX));
    let (new, show) = booking::named(state, context, sql, &query, &input.seat_ids, most)?;
    let given_up = match input.instead_of.as_deref().unwrap_or_default() {
        [] => found.seats.clone(),
        named => booking::seats_of(found, named)?,
    };
    let missing = without(&given_up, &found.seats);
    if !missing.is_empty() {
        return Err(errors::not_in_reservation(&missing, found));
    }
    if show.id != found.show.id && given_up.len() != found.seats.len() {
        return Err(errors::one_screening_each());
    }
    let kept = |seat: &&Seat| found.seats.contains(seat) && !given_up.contains(seat);
    let has_already = new.iter().filter(kept).count();
    if new.len() - has_already != given_up.len() || has_already > 0 {
        return Err(errors::seat_count_differs(
            new.len() - has_already,
            given_up.len(),
        ));
    }
    let order = Order::new(state, context, sql, show, new)?;
    Ok((order, given_up))
}

fn message(language: Language, found: &StoredReservation, show: &Show, seats: &[Seat]) -> String {
    let (old, new) = (join(&found.seats), join(seats));
    let Show {
        film_title,
        date,
        start,
        ..
    } = show;
    match (language, show.id == found.show.id) {
        (Language::English, true) => format!("Exchanged {old} for {new}."),
        (Language::English, false) => {
            format!("Exchanged {old} for {new} of {film_title} on {date} at {start}.")
        }
        (Language::Japanese, true) => format!("{old}を{new}に変更しました。"),
        (Language::Japanese, false) => {
            format!("{old}を{date} {start}「{film_title}」の{new}に変更しました。")
        }
    }
}
