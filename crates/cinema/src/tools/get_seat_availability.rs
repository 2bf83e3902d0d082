//! `get_seat_availability`: the seats of one screening.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Hints, Result, Sql, Today, Tool, Warning,
    context::Language,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DATE_PATTERN, TIME_PATTERN, arguments};
use crate::{
    answers::{AnyObject, ScheduleInfo, age_warning, without_required},
    errors,
    find::{self, ScreeningQuery},
    model::{
        Show,
        hall::{GENERAL, Hall, SeatMap},
    },
    state::CounterState,
    store::{self, Owned},
};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("required" = []))]
pub struct Input {
    /// Schedule ID
    schedule_id: Option<String>,
    /// Movie title (can be used as alternative to schedule_id)
    movie_title: Option<String>,
    /// Screening date in YYYY-MM-DD format; today, 明日, Saturday work too
    #[schemars(regex(pattern = DATE_PATTERN))]
    date: Option<String>,
    /// Start time in HH:MM format; 7:30 pm, 19時半 work too
    #[schemars(regex(pattern = TIME_PATTERN))]
    start_time: Option<String>,
    /// True adds seat_map
    map: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = without_required)]
pub struct Output {
    /// As in get_show_schedule
    #[schemars(with = "AnyObject")]
    schedule_info: ScheduleInfo,
    available_seats: Vec<AvailableRow>,
    /// Sold or held
    occupied_seats: Vec<OccupiedRow>,
    available_seats_count: usize,
    held_seats_count: usize,
    sold_seats_count: usize,
    total_seats_count: usize,
    /// ○ free, × taken
    #[serde(skip_serializing_if = "Option::is_none")]
    seat_map: Option<String>,
    /// seat_type (カップル, 車椅子 and so on) and seat_ids
    #[schemars(with = "Vec<AnyObject>")]
    special_seats: Vec<SpecialSeats>,
    #[serde(flatten)]
    today: Today,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = without_required)]
struct AvailableRow {
    row: String,
    available_numbers: Vec<u32>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = without_required)]
struct OccupiedRow {
    row: String,
    occupied_numbers: Vec<u32>,
}

#[derive(Serialize)]
struct SpecialSeats {
    seat_type: String,
    seat_ids: Vec<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "get_seat_availability",
            title: "Seats of a screening",
            description: "Get detailed seat availability for a specified screening session.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .in_japanese("空席の確認")
    .rules(&[
        errors::DATE_PATTERN,
        errors::DATE_TYPE,
        errors::TIME_PATTERN,
        errors::TIME_TYPE,
    ])
    .normalise(|context, arguments| {
        arguments::narrow(arguments, "schedule_id");
        arguments::movie(arguments);
        arguments::date(context, arguments, "date");
        arguments::time(arguments, "start_time");
        arguments::boolean(arguments, "map");
    })
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let wanted = ScreeningQuery {
        schedule_id: input.schedule_id.as_deref(),
        movie_title: input.movie_title.as_deref(),
        date: input.date.as_deref(),
        start_time: input.start_time.as_deref(),
    };
    let show = find::screening(state, context, sql, &wanted)?;
    seats_of(state, context, sql, &show, input.map == Some(true))
}

pub fn seats_of(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    show: &Show,
    with_map: bool,
) -> Result<Output> {
    let hall = state.hall(sql, show)?;
    let now = state.now(context);
    let mut owned = store::owned_seats(sql, &show.id, now)?;
    // A hall may have been rebuilt without a seat that was sold.
    owned.retain(|(seat, _)| hall.seat(seat).is_some());
    let count = |wanted: Owned| owned.iter().filter(|(_, owned)| *owned == wanted).count();
    let (held_seats_count, sold_seats_count) = (count(Owned::Held), count(Owned::Booked));
    let map = SeatMap::new(&hall, owned.into_iter().map(|(seat, _)| seat));
    let (available_seats_count, total_seats_count) = (map.free_count(), hall.seat_count());
    let available_seats = map.rows(true).into_iter();
    let occupied_seats = map.rows(false).into_iter();
    Ok(Output {
        schedule_info: ScheduleInfo::from(show),
        available_seats: available_seats
            .map(|(row, available_numbers)| AvailableRow {
                row,
                available_numbers,
            })
            .collect(),
        occupied_seats: occupied_seats
            .map(|(row, occupied_numbers)| OccupiedRow {
                row,
                occupied_numbers,
            })
            .collect(),
        available_seats_count,
        held_seats_count,
        sold_seats_count,
        total_seats_count,
        seat_map: with_map.then(|| map.text()),
        special_seats: special_seats(&hall),
        today: Today::of(context),
        warnings: warnings(show, state.sales_time(context), context.language),
    })
}

fn special_seats(hall: &Hall) -> Vec<SpecialSeats> {
    let mut by_type: Vec<SpecialSeats> = Vec::new();
    for place in hall.seats().filter(|place| place.seat_type != GENERAL) {
        let seat = place.seat.to_string();
        let mut known = by_type.iter_mut();
        match known.find(|seats| seats.seat_type == place.seat_type) {
            Some(seats) => seats.seat_ids.push(seat),
            None => by_type.push(SpecialSeats {
                seat_type: place.seat_type.clone(),
                seat_ids: vec![seat],
            }),
        }
    }
    by_type
}

fn warnings(show: &Show, sales_time: i64, language: Language) -> Vec<Warning> {
    let closed = show.has_begun(sales_time).then(|| {
        let message = match language {
            Language::English => "Sales for this screening are closed.",
            Language::Japanese => "この回の販売は終了しました。",
        };
        Warning::new("SHOW_STARTED", message)
    });
    closed
        .into_iter()
        .chain(age_warning(&show.age_class, language))
        .collect()
}
