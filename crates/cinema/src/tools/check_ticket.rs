//! `check_ticket`: admits a ticket at the entrance, once.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Language, Result, Sql, Today, Tool,
    arguments::change,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments;
use crate::{
    answers::{PublishedElsewhere, ScheduleInfo, seat_ids},
    errors::{self, TicketRefusal},
    model::{
        Show, Status,
        seat::{Seat, join},
        ticket::{Claims, NotATicket},
        when::rfc3339,
    },
    state::CounterState,
    store::{self, StoredReservation},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The text of the QR code
    ticket: String,
    /// false: only look
    #[serde(default = "default_admit")]
    admit: bool,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

fn default_admit() -> bool {
    true
}

#[derive(Serialize)]
pub struct Checked {
    admitted: bool,
    schedule_info: ScheduleInfo,
    seat_ids: Vec<String>,
    /// People.
    count: usize,
    message: String,
    #[serde(flatten)]
    today: Today,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "check_ticket",
            title: "Check a ticket",
            description: "For the staff at the entrance: verify a ticket and admit its holders \
                once. Answers the screening, seat_ids and count.",
            hints: Hints::ADDS,
            effect: Effect::Manage,
        },
        Handler::transaction(state, handle),
    )
    .in_japanese("チケットの確認")
    .idempotency_key("idempotency_key")
    .normalise(|_, arguments| {
        // A scanner may add line ends.
        change(arguments, "ticket", |value| {
            Some(
                value
                    .as_str()?
                    .split_whitespace()
                    .collect::<String>()
                    .into(),
            )
        });
        arguments::boolean(arguments, "admit");
    })
    .personal(&["ticket"])
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<PublishedElsewhere<Checked>> {
    let now = state.now(context);
    let (id, claims) = booking_of(state, sql, &input.ticket)?;
    let found = valid(state, context, sql, &id, &claims)?;
    if input.admit && !store::admit(sql, &id, claims.version, now)? {
        // Another gate was faster.
        valid(state, context, sql, &id, &claims)?;
        return Err(errors::ticket_refused(TicketRefusal::Exchanged));
    }
    Ok(PublishedElsewhere(Checked {
        admitted: input.admit,
        message: message(context.language, input.admit, &found.show, &found.seats),
        schedule_info: ScheduleInfo::from(&found.show),
        seat_ids: seat_ids(&found.seats),
        count: found.seats.len(),
        today: Today::of(context),
    }))
}

/// The reservation id and the contents of a ticket that we signed.
fn booking_of(state: &CounterState, sql: &mut dyn Sql, text: &str) -> Result<(String, Claims)> {
    let refuse = |refusal| Err(errors::ticket_refused(refusal));
    // Without a key no ticket was ever issued.
    let Some(key) = state.ticket_keys.in_transaction(sql)? else {
        return refuse(TicketRefusal::Forged);
    };
    let claims = match key.verify(text) {
        Ok(claims) => claims,
        Err(NotATicket::Unreadable) => return refuse(TicketRefusal::Unreadable),
        Err(NotATicket::Forged) => return refuse(TicketRefusal::Forged),
    };
    let mut ids = store::booked_ids(sql, &claims.show_id)?.into_iter();
    match ids.find(|id| key.ticket_id(id) == claims.ticket_id) {
        Some(id) => Ok((id, claims)),
        // The booking was for this screening when the ticket was signed.
        None => refuse(TicketRefusal::Exchanged),
    }
}

/// The booking, if its ticket is good for being admitted now.
fn valid(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    id: &str,
    claims: &Claims,
) -> Result<StoredReservation> {
    let now = state.now(context);
    let found = store::reservation(sql, id, now)?.ok_or_else(errors::reservation_not_found)?;
    let show = &found.show;
    let starts_today = [state.today(context), state.programme_day(context)]
        .iter()
        .any(|day| show.date == day.to_string());
    let refusal = if found.status != Status::Confirmed {
        TicketRefusal::Cancelled
    } else if found.version != claims.version {
        let before = claims.seats();
        match found.seats.iter().all(|seat| before.contains(seat)) {
            true => TicketRefusal::PartlyCancelled,
            false => TicketRefusal::Exchanged,
        }
    } else if let Some(at) = found.admitted_at {
        TicketRefusal::Admitted {
            at: rfc3339(at, &state.zone),
        }
    } else if state.end_of(show)? <= now {
        TicketRefusal::Expired {
            ended: rfc3339(state.end_of(show)?, &state.zone),
        }
    } else if !starts_today {
        TicketRefusal::OtherDay {
            starts: rfc3339(show.starts_at, &state.zone),
        }
    } else {
        return Ok(found);
    };
    Err(errors::ticket_refused(refusal))
}

fn message(language: Language, admitted: bool, show: &Show, seats: &[Seat]) -> String {
    let (film, hall, count, seats) = (
        &show.film_title,
        &show.theater_name,
        seats.len(),
        join(seats),
    );
    let start = show.start;
    match (language, admitted) {
        (Language::English, true) => {
            format!("Admitted: {count} to {film}, {start}, {hall}, {seats}.")
        }
        (Language::English, false) => {
            format!("Valid, not admitted yet: {count} to {film}, {start}, {hall}, {seats}.")
        }
        (Language::Japanese, true) => {
            format!("{count}名様ご入場です。「{film}」{start}、{hall}、座席{seats}。")
        }
        (Language::Japanese, false) => format!(
            "有効なチケットです（未入場）。{count}名様、「{film}」{start}、{hall}、座席{seats}。"
        ),
    }
}
