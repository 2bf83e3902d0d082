//! `reserve_seats`: all the seats, or none.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Result, Sql, Tool,
    approval::{Card, CardLine, Describe},
    context::Language,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments;
use crate::{
    answers::Booking,
    booking::{self, Order},
    errors,
    find::{ScreeningQuery, given},
    model::{
        Show, Status,
        quote::{Quote, TicketCounts},
        seat::{Seat, join, without},
        when::on_card,
    },
    quote::requote,
    state::CounterState,
    store::{self, Revision, StoredReservation},
    tickets, waiting,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Schedule ID
    schedule_id: Option<String>,
    /// List of seat IDs to reserve, such as A5; A列5番, "A5, A6" work too; "*" books all of hold_id
    #[schemars(length(min = 1))]
    seat_ids: Vec<String>,
    /// With date and start_time instead of schedule_id
    movie_title: Option<String>,
    /// YYYY-MM-DD
    date: Option<String>,
    /// HH:MM
    start_time: Option<String>,
    /// Books seats that hold_seats held
    hold_id: Option<String>,
    /// Price classes, such as {"general": 2, "child": 1}; default general
    tickets: Option<TicketCounts>,
    /// A retry with the same text reserves nothing twice
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

/// In `seat_ids`: all seats of the hold.
const ALL: &str = "*";

pub fn tool(state: &Arc<CounterState>) -> Tool {
    let mut tool = Tool::new(
        Definition {
            name: "reserve_seats",
            title: "Reserve seats",
            description: "Reserve specified seats. Supports multiple seat reservations simultaneously.",
            hints: Hints::ADDS,
            effect: Effect::Write,
        },
        Handler::transaction(state, handle),
    )
    .in_japanese("座席の予約")
    .idempotency_key("idempotency_key")
    .rules(&[
        errors::SEATS_MIN,
        errors::DATE_TYPE,
        errors::TIME_TYPE,
    ])
    .normalise(|_, arguments| {
        arguments::narrow(arguments, "schedule_id");
        arguments::narrow(arguments, "hold_id");
        arguments::seats(arguments, "seat_ids");
        arguments::tickets(arguments);
        arguments::movie(arguments);
        // The schema requires seat_ids; a hold alone is accepted as well.
        let names_hold = arguments.get("hold_id").is_some_and(|id| id != "");
        if names_hold && !arguments.contains_key("seat_ids") {
            arguments.insert("seat_ids".into(), json!([ALL]));
        }
    })
    .card(card(state));
    say_limit(&mut tool, state.settings.max_seats_per_booking.get());
    tool
}

/// Publishes the operator's limit.
fn say_limit(tool: &mut Tool, most: u8) {
    let description = tool.input.pointer_mut("/properties/seat_ids/description");
    if let Some(Value::String(text)) = description {
        text.push_str(&format!("; at most {most}"));
    }
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Booking> {
    let reservation = match given(input.hold_id.as_deref()) {
        Some(hold_id) => book_hold(state, context, sql, hold_id, &input)?,
        None => {
            let (seats, show) = named(state, context, sql, &input)?;
            Order::new(state, context, sql, show, seats)?
                .priced(state, sql, input.tickets.as_ref())?
                .take(state, context, sql, None)?
        }
    };
    let hall = state.hall(sql, &reservation.show)?;
    let (language, seats) = (context.language, &reservation.seats);
    let mut answer = Booking::new(context, &reservation, message(language, seats));
    answer.warnings = booking::warnings(language, &reservation.show, &hall, seats);
    answer.ticket = tickets::issue_in_transaction(state, context, sql, &reservation)?;
    Ok(answer)
}

/// Books the seats of a hold: all of them, or those that `seat_ids` names. Seats that it
/// names besides are taken with them, or nothing is booked.
fn book_hold(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    hold_id: &str,
    input: &Input,
) -> Result<StoredReservation> {
    let mut hold = booking::changeable(state, context, sql, hold_id)?;
    if given(input.schedule_id.as_deref()).is_some_and(|id| id != hold.show.id) {
        return Err(errors::schedule_mismatch(&hold.show));
    }
    let wanted = match input.seat_ids.as_slice() {
        [all] if all == ALL => hold.seats.clone(),
        named => booking::seats_of(&hold, named)?,
    };
    let unwanted = without(&hold.seats, &wanted);
    let extra = without(&wanted, &hold.seats);
    match hold.status {
        Status::Held => {}
        // A retry.
        Status::Confirmed if unwanted.is_empty() && extra.is_empty() => {
            return same_tickets(state, sql, hold, input.tickets.as_ref());
        }
        Status::Confirmed => return Err(errors::already_booked(&hold)),
        Status::Expired => return Err(errors::hold_expired(&hold.seats)),
        Status::Cancelled => return Err(errors::reservation_cancelled()),
    }
    let most = usize::from(state.settings.max_seats_per_booking.get());
    if !extra.is_empty() && wanted.len() > most {
        return Err(errors::too_many_seats(wanted.len(), most));
    }

    let now = state.now(context);
    store::release(sql, &hold.show.id, &hold.id, &unwanted)?;
    let kept = store::keep_until(sql, &hold.show.id, &hold.id, None)?;
    if kept as usize != hold.seats.len() - unwanted.len() {
        return Err(errors::hold_expired(&hold.seats));
    }
    let more = Order::new(state, context, sql, hold.show.clone(), extra)?;
    if !more.seats.is_empty() {
        more.check_limit(state, context, sql)?;
        // Seats that became free belong to those who wait for them.
        if hold.show.waiting > 0 {
            waiting::offer_free_seats(state, context, sql, &hold.show)?;
        }
        if !store::take(sql, &hold.show.id, &hold.id, &more.seats, None, now)? {
            return Err(more.refusal(state, context, sql, &hold.id)?);
        }
    }
    let is_same = unwanted.is_empty() && more.seats.is_empty() && input.tickets.is_none();
    if !is_same || hold.price.is_none() {
        let order = (&hold.show, &*more.hall, wanted.as_slice());
        let tickets = input.tickets.as_ref();
        hold.price = requote(state, sql, hold.price.as_ref(), order, tickets)?;
    }
    let revision = Revision {
        show_id: &hold.show.id,
        seats: &wanted,
        status: Status::Confirmed,
        expires_at: None,
        voids_tickets: false,
        price: hold.price.as_ref(),
    };
    store::revise(sql, &hold.id, &revision, now)?;
    if !unwanted.is_empty() && hold.show.waiting > 0 {
        waiting::offer_free_seats(state, context, sql, &hold.show)?;
    }
    more.announce(context);
    hold.seats = wanted;
    hold.status = Status::Confirmed;
    hold.expires_at = None;
    Ok(hold)
}

/// The booking of a retry, if it asks for the price classes that were booked.
fn same_tickets(
    state: &CounterState,
    sql: &mut dyn Sql,
    booked: StoredReservation,
    tickets: Option<&TicketCounts>,
) -> Result<StoredReservation> {
    if tickets.is_some() {
        let hall = state.hall(sql, &booked.show)?;
        let order = (&booked.show, &*hall, booked.seats.as_slice());
        let again = requote(state, sql, booked.price.as_ref(), order, tickets)?;
        if Quote::to_text(again.as_ref()) != Quote::to_text(booked.price.as_ref()) {
            return Err(errors::already_booked(&booked));
        }
    }
    Ok(booked)
}

/// The seats and the screening that the arguments mean.
fn named(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: &Input,
) -> Result<(Vec<Seat>, Show)> {
    let query = ScreeningQuery {
        schedule_id: input.schedule_id.as_deref(),
        movie_title: input.movie_title.as_deref(),
        date: input.date.as_deref(),
        start_time: input.start_time.as_deref(),
    };
    let most = usize::from(state.settings.max_seats_per_booking.get());
    booking::named(state, context, sql, &query, &input.seat_ids, most)
}

/// The seats, the screening and the price for the card.
fn described(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: &Input,
) -> Result<(Vec<Seat>, Show, Option<Quote>)> {
    let (seats, show, before) = match given(input.hold_id.as_deref()) {
        None => {
            let (seats, show) = named(state, context, sql, input)?;
            (seats, show, None)
        }
        Some(hold_id) => {
            let hold = store::reservation(sql, hold_id, state.now(context))?
                .ok_or_else(errors::reservation_not_found)?;
            let seats = match input.seat_ids.as_slice() {
                [all] if all == ALL => hold.seats,
                named => booking::seats_of(&hold, named)?,
            };
            (seats, hold.show, hold.price)
        }
    };
    let hall = state.hall(sql, &show)?;
    let tickets = input.tickets.as_ref();
    let price = requote(state, sql, before.as_ref(), (&show, &hall, &seats), tickets)?;
    Ok((seats, show, price))
}

/// What an approver sees: film, time, hall, seats and what they cost.
fn card(state: &Arc<CounterState>) -> Describe {
    let state = Arc::clone(state);
    Arc::new(move |context, sql, arguments| {
        let input = kit::handler::typed(arguments.clone())?;
        let (seats, show, price) = described(&state, context, sql, &input)?;
        let (count, names) = (seats.len(), join(&seats));
        let starts = on_card(show.starts_at, &state.zone, context.language);
        let title = show.title_in(context.language);
        let (summary, labels) = match context.language {
            Language::English => (
                format!("Reserve {count} seat(s) for {title}"),
                ["Film", "Starts", "Theater", "Seats", "Price"],
            ),
            Language::Japanese => (
                format!("「{title}」を{count}席予約する"),
                ["作品", "開始", "劇場", "座席", "料金"],
            ),
        };
        let film = match title == show.film_title {
            true => title.to_owned(),
            false => format!("{title} ({})", show.film_title),
        };
        let price = price.map(|price| price.total(context.language));
        let texts = [
            Some(film),
            Some(starts),
            Some(show.theater_name),
            Some(names),
            price,
        ];
        let lines = labels.into_iter().zip(texts);
        Ok(Card {
            summary,
            lines: lines
                .filter_map(|(label, text)| Some(CardLine::new(label, text?)))
                .collect(),
            ..Card::default()
        })
    })
}

fn message(language: Language, seats: &[Seat]) -> String {
    let (count, names) = (seats.len(), join(seats));
    match language {
        Language::English => format!("Successfully reserved {count} seat(s): {names}."),
        Language::Japanese => format!("{count}席を予約しました: {names}。"),
    }
}
