//! `cancel_reservation`: gives up a reservation, a hold or a place on a waiting list,
//! whole or in part.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Result, Sql, Today, Tool, Warning,
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments;
use crate::{
    answers::{AnyObject, PublishedElsewhere, Reservation, ScheduleInfo, seat_ids},
    booking, errors, ids,
    model::{
        Status,
        quote::{Price, Quote, TicketCounts},
        seat::{Seat, join, without},
    },
    quote::requote,
    state::CounterState,
    store::{self, Revision, StoredReservation},
    tickets, uris, waiting,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// A hold_id or waiting_id works too
    reservation_id: String,
    /// Only these; none for all
    seat_ids: Option<Vec<String>>,
    /// Who still comes, as in reserve_seats
    #[schemars(with = "Option<AnyObject>")]
    tickets: Option<TicketCounts>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

#[derive(Serialize)]
pub struct Cancelled {
    /// As it is now; none for a place on a waiting list.
    #[serde(skip_serializing_if = "Option::is_none")]
    reservation: Option<Reservation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule_info: Option<ScheduleInfo>,
    /// Of the seats that are left.
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<Price>,
    cancelled_seat_ids: Vec<String>,
    message: String,
    #[serde(flatten)]
    today: Today,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "cancel_reservation",
            title: "Cancel a reservation",
            description: "Cancel a reservation or a hold, or leave a waiting list. Answers as \
                reserve_seats, with cancelled_seat_ids.",
            hints: Hints::REMOVES,
            effect: Effect::Write,
        },
        Handler::transaction(state, handle),
    )
    .in_japanese("予約の取り消し")
    .idempotency_key("idempotency_key")
    .normalise(|_, arguments| {
        for other_name in ["hold_id", "waiting_id"] {
            arguments::rename(arguments, other_name, "reservation_id");
        }
        arguments::narrow(arguments, "reservation_id");
        arguments::seats(arguments, "seat_ids");
        arguments::tickets(arguments);
    })
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<PublishedElsewhere<Cancelled>> {
    cancel(state, context, sql, &input).map(PublishedElsewhere)
}

fn cancel(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: &Input,
) -> Result<Cancelled> {
    if ids::is_waiting(&input.reservation_id) {
        return leave(context, sql, &input.reservation_id);
    }
    let now = state.now(context);
    let mut found = store::locked_reservation(sql, &input.reservation_id, now)?
        .ok_or_else(errors::reservation_not_found)?;
    if !found.is_alive() {
        return Ok(nothing_left(context, &found));
    }
    booking::check_changeable(state, context, &found)?;
    let cancelled = match input.seat_ids.as_deref().unwrap_or_default() {
        [] => found.seats.clone(),
        named => booking::seats_of(&found, named)?,
    };
    let missing: Vec<Seat> = without(&cancelled, &found.seats);
    if !missing.is_empty() {
        return Err(errors::not_in_reservation(&missing, &found));
    }
    let left = without(&found.seats, &cancelled);
    let freed = store::release(sql, &found.show.id, &found.id, &cancelled)?;
    if freed as usize != cancelled.len() {
        if found.status == Status::Held {
            // It expired while this call ran, by the clock of another desk.
            return Err(errors::hold_expired(&found.seats));
        }
        let what = format!("{} owned {freed} of {}", found.id, join(&cancelled));
        return Err(kit::Error::internal(what));
    }
    let mut guesses_who_comes = false;
    if left.is_empty() {
        found.status = Status::Cancelled;
        found.expires_at = None;
    } else {
        let hall = state.hall(sql, &found.show)?;
        let order = (&found.show, &*hall, left.as_slice());
        let tickets = input.tickets.as_ref();
        let has_classes = found.price.as_ref().is_some_and(Quote::has_several_classes);
        let is_told = tickets.is_some_and(|it| it.values().any(|count| *count > 0));
        guesses_who_comes = has_classes && !is_told;
        found.price = requote(state, sql, found.price.as_ref(), order, tickets)?;
        found.seats = left;
    }
    found.version += 1;
    let revision = Revision {
        show_id: &found.show.id,
        seats: &found.seats,
        status: found.status,
        expires_at: found.expires_at,
        voids_tickets: true,
        price: found.price.as_ref(),
    };
    store::revise(sql, &found.id, &revision, now)?;
    if found.show.waiting > 0 {
        waiting::offer_free_seats(state, context, sql, &found.show)?;
    }
    context.changed(Change::Resource(uris::seats(&found.show.id)));
    let mut answer = answer(context, &found, &cancelled);
    answer.ticket = tickets::issue_in_transaction(state, context, sql, &found)?;
    if guesses_who_comes {
        answer.warnings.push(who_comes(context.language));
    }
    Ok(answer)
}

/// The classes that are left follow the seats, which may not be where people sit.
fn who_comes(language: Language) -> Warning {
    let message = match language {
        Language::English => {
            "The price is for the classes that these seats had. If others come, tell the \
             customer that the cinema charges by who comes; next time give tickets."
        }
        Language::Japanese => {
            "料金は残った席に割り当てられていた券種で計算しています。実際にいらっしゃる方が異なる場合は、劇場で券種に応じた料金になります。次回はticketsを指定してください。"
        }
    };
    Warning::new("PRICE_CLASSES_ASSUMED", message)
}

fn answer(context: &Context, found: &StoredReservation, cancelled: &[Seat]) -> Cancelled {
    let (count, names) = (cancelled.len(), join(cancelled));
    let is_whole = found.status == Status::Cancelled;
    let message = match (context.language, is_whole) {
        (Language::English, true) => format!("Cancelled; {count} seat(s) are free again: {names}."),
        (Language::English, false) => format!(
            "{count} seat(s) are cancelled: {names}. Still reserved: {}.",
            join(&found.seats)
        ),
        (Language::Japanese, true) => {
            format!("予約を取り消し、{count}席を解放しました: {names}。")
        }
        (Language::Japanese, false) => format!(
            "{count}席を取り消しました: {names}。残りの席: {}。",
            join(&found.seats)
        ),
    };
    Cancelled {
        reservation: Some(Reservation::of(found, &context.zone)),
        schedule_info: Some(ScheduleInfo::from(&found.show)),
        ticket: None,
        price: match is_whole {
            true => None,
            false => found.price.as_ref().map(|it| it.answer(context.language)),
        },
        cancelled_seat_ids: seat_ids(cancelled),
        message,
        today: Today::of(context),
        warnings: Vec::new(),
    }
}

/// The answer to a second cancellation, which changes nothing.
fn nothing_left(context: &Context, found: &StoredReservation) -> Cancelled {
    let message = match (context.language, found.status) {
        (Language::English, Status::Expired) => {
            "This hold had expired already; nothing was changed."
        }
        (Language::English, _) => "This was cancelled already; nothing was changed.",
        (Language::Japanese, Status::Expired) => {
            "この仮押さえはすでに期限切れです。変更はありません。"
        }
        (Language::Japanese, _) => "すでに取り消されています。変更はありません。",
    };
    let mut output = answer(context, found, &[]);
    output.message = message.to_owned();
    output.warnings = vec![Warning::new("ALREADY_CANCELLED", message)];
    output
}

fn leave(context: &Context, sql: &mut dyn Sql, id: &str) -> Result<Cancelled> {
    let party = store::waiting_party(sql, id)?.ok_or_else(errors::waiting_not_found)?;
    store::lock_show(sql, &party.show_id)?;
    let left = store::leave_waiting(sql, id)?;
    store::count_waiting(sql, &party.show_id)?;
    let message = match (context.language, left) {
        (Language::English, true) => "The party no longer waits.",
        (Language::English, false) => {
            "This party does not wait any more. If seats are held for it, cancel its hold_id."
        }
        (Language::Japanese, true) => "キャンセル待ちを取り消しました。",
        (Language::Japanese, false) => {
            "すでにキャンセル待ちではありません。確保済みの席はhold_idで取り消してください。"
        }
    };
    let warning = (!left).then(|| Warning::new("NOT_WAITING", message));
    Ok(Cancelled {
        reservation: None,
        schedule_info: None,
        price: None,
        ticket: None,
        cancelled_seat_ids: Vec::new(),
        message: message.to_owned(),
        today: Today::of(context),
        warnings: warning.into_iter().collect(),
    })
}
