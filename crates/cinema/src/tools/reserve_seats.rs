//! `reserve_seats`: all the seats, or none.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Result, Sql, Today, Tool, Warning,
    approval::{Card, Describe, Line},
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments;
use crate::{
    answers::{AnyObject, Reservation, ScheduleInfo, age_warning, without_required},
    errors,
    find::{self, ScreeningQuery, given},
    model::{
        Show, Status,
        hall::{Hall, SeatMap},
        party::half_couples,
        seat::{Seat, SeatReference, join, side_by_side},
        when::rfc3339,
    },
    state::CounterState,
    store::{self, NewReservation},
    uris,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Schedule ID
    schedule_id: Option<String>,
    /// List of seat IDs to reserve, such as A5; A列5番, "A5, A6" work too
    #[schemars(length(min = 1))]
    seat_ids: Vec<String>,
    /// With date and start_time instead of schedule_id
    movie_title: Option<String>,
    /// YYYY-MM-DD
    date: Option<String>,
    /// HH:MM
    start_time: Option<String>,
    /// A retry with the same text reserves nothing twice
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = without_required)]
pub struct Output {
    reservation: Reservation,
    /// As in get_show_schedule
    #[schemars(with = "AnyObject")]
    schedule_info: ScheduleInfo,
    message: String,
    #[serde(flatten)]
    today: Today,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

/// 130 bits, so that ids cannot be guessed.
const ID_LENGTH: usize = 26;

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
    .idempotency_key("idempotency_key")
    .rules(&[
        errors::SEATS_MIN,
        errors::DATE_TYPE,
        errors::TIME_TYPE,
    ])
    .normalise(|_, arguments| {
        arguments::narrow(arguments, "schedule_id");
        arguments::seats(arguments, "seat_ids");
        arguments::movie(arguments);
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
) -> Result<Output> {
    let (seats, show) = named(state, context, sql, &input)?;
    let now = state.now(context);
    if show.has_begun(now) {
        return Err(errors::show_started(&show));
    }
    let hall = state.hall(sql, &show)?;
    let missing: Vec<Seat> = seats
        .iter()
        .filter(|seat| hall.seat(seat).is_none())
        .cloned()
        .collect();
    if !missing.is_empty() {
        return Err(errors::seat_not_found(&missing, &show, &hall));
    }

    check_limit(state, context, sql, &show, seats.len())?;
    let id = kit::ids::random("rsv_", ID_LENGTH);
    let new = NewReservation {
        id: &id,
        show_id: &show.id,
        seats: &seats,
        status: Status::Confirmed,
        caller: &context.caller.id,
        created_at: now,
        expires_at: None,
    };
    if !store::book(sql, &new, now)? {
        let occupied = store::taken_seats(sql, &show.id, now, Some(&id))?;
        let map = SeatMap::new(&hall, occupied);
        let taken: Vec<Seat> = seats
            .iter()
            .filter(|seat| !map.is_free(seat))
            .cloned()
            .collect();
        return Err(errors::seats_taken(&taken, &seats, &map));
    }
    context.changed(Change::Resource(uris::seats(&show.id)));
    Ok(Output {
        message: message(context.language, &seats),
        warnings: warnings(context.language, &show, &hall, &seats),
        reservation: Reservation {
            reservation_id: id,
            schedule_id: show.id.clone(),
            seat_ids: seats.iter().map(Seat::to_string).collect(),
            reservation_time: rfc3339(now, &state.zone),
            status: Status::Confirmed.as_str().into(),
            expires_at: None,
        },
        schedule_info: ScheduleInfo::from(&show),
        today: Today::of(context),
    })
}

/// Refuses more seats of a screening than one caller may have.
fn check_limit(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    show: &Show,
    requested: usize,
) -> Result<()> {
    let most = i64::from(state.settings.max_seats_per_caller);
    if most == 0 {
        return Ok(());
    }
    store::lock_show(sql, &show.id)?;
    let reserved = store::seats_of_caller(sql, &show.id, &context.caller.id, state.now(context))?;
    if reserved.saturating_add_unsigned(requested as u64) > most {
        return Err(errors::seat_limit_reached(reserved, requested, most));
    }
    Ok(())
}

/// The seats and the screening that the arguments mean.
fn named(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: &Input,
) -> Result<(Vec<Seat>, Show)> {
    let (seats, carried) = read_seats(
        &input.seat_ids,
        state.settings.max_seats_per_booking.get().into(),
    )?;
    let schedule_id = given(input.schedule_id.as_deref());
    if let (Some(one), Some(other)) = (schedule_id, carried.as_deref())
        && one != other
    {
        return Err(several_screenings());
    }
    let wanted = ScreeningQuery {
        schedule_id: schedule_id.or(carried.as_deref()),
        movie_title: input.movie_title.as_deref(),
        date: input.date.as_deref(),
        start_time: input.start_time.as_deref(),
    };
    let show = find::screening(state, context, sql, &wanted)?;
    Ok((seats, show))
}

/// What an approver sees: film, time, hall and seats.
fn card(state: &Arc<CounterState>) -> Describe {
    let state = Arc::clone(state);
    Arc::new(move |context, sql, arguments| {
        let input = kit::handler::typed(arguments.clone())?;
        let (seats, show) = named(&state, context, sql, &input)?;
        let (count, names) = (seats.len(), join(&seats));
        let starts = rfc3339(show.starts_at, &state.zone);
        let starts = format!("{starts} ({})", state.zone.iana_name().unwrap_or("UTC"));
        let (summary, labels) = match context.language {
            Language::English => (
                format!("Reserve {count} seat(s) for {}", show.film_title),
                ["Film", "Starts", "Theater", "Seats"],
            ),
            Language::Japanese => (
                format!("「{}」を{count}席予約する", show.film_title),
                ["作品", "開始", "劇場", "座席"],
            ),
        };
        let texts = [show.film_title, starts, show.theater_name, names];
        let lines = labels.into_iter().zip(texts);
        Ok(Card {
            summary,
            lines: lines.map(|(label, text)| Line::new(label, text)).collect(),
            ..Card::default()
        })
    })
}

/// The seats in the order in which they were named, each once, and the screening
/// that they name, if any does.
fn read_seats(seat_ids: &[String], most: usize) -> Result<(Vec<Seat>, Option<String>)> {
    let mut seats: Vec<Seat> = Vec::with_capacity(seat_ids.len());
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

fn several_screenings() -> kit::Error {
    errors::schedule_ambiguous("The arguments name more than one screening.", &[])
}

/// What the customer may not have meant.
fn warnings(language: Language, show: &Show, hall: &Hall, seats: &[Seat]) -> Vec<Warning> {
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

fn message(language: Language, seats: &[Seat]) -> String {
    let (count, names) = (seats.len(), join(seats));
    match language {
        Language::English => format!("Successfully reserved {count} seat(s): {names}."),
        Language::Japanese => format!("{count}席を予約しました: {names}。"),
    }
}
