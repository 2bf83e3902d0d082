//! `get_seat_availability`: the seats of one screening.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DATE_PATTERN, TIME_PATTERN, arguments};
use crate::{
    answers::ScheduleInfo,
    errors,
    find::{self, ScreeningQuery},
    model::{
        Show,
        hall::{GENERAL, SeatMap},
    },
    state::CounterState,
    store,
};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("required" = []))]
pub struct Input {
    /// Schedule ID; movie title, date and start time can be given instead
    schedule_id: Option<String>,
    /// Movie title (can be used as alternative to schedule_id)
    movie_title: Option<String>,
    /// Screening date in YYYY-MM-DD format; today, tomorrow and 2026/11/15 work too
    #[schemars(regex(pattern = DATE_PATTERN))]
    date: Option<String>,
    /// Start time in HH:MM format; 7:30 pm and 19時半 work too
    #[schemars(regex(pattern = TIME_PATTERN))]
    start_time: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    schedule_info: ScheduleInfo,
    /// Rows from the screen backwards, with the numbers that are free.
    available_seats: Vec<AvailableRow>,
    /// Sold and held seats.
    occupied_seats: Vec<OccupiedRow>,
    available_seats_count: usize,
    total_seats_count: usize,
    /// The seats as text, the screen on top: ○ free, × taken.
    seat_map: String,
    /// Seats that are not 一般.
    special_seats: Vec<SpecialSeat>,
}

#[derive(Serialize, JsonSchema)]
struct AvailableRow {
    row: String,
    available_numbers: Vec<u32>,
}

#[derive(Serialize, JsonSchema)]
struct OccupiedRow {
    row: String,
    occupied_numbers: Vec<u32>,
}

#[derive(Serialize, JsonSchema)]
struct SpecialSeat {
    seat_id: String,
    /// カップル, 車椅子 and so on.
    seat_type: String,
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
    .rules(&[
        errors::DATE_PATTERN,
        errors::DATE_TYPE,
        errors::TIME_PATTERN,
        errors::TIME_TYPE,
    ])
    .normalise(|context, arguments| {
        arguments::narrow(arguments, "schedule_id");
        arguments::text(arguments, "movie_title");
        arguments::date(context, arguments, "date");
        arguments::time(arguments, "start_time");
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
    seats_of(state, context, sql, &show)
}

pub fn seats_of(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    show: &Show,
) -> Result<Output> {
    let hall = state.hall(sql, show)?;
    let taken = store::taken_seats(sql, &show.id, state.now(context), None)?;
    let map = SeatMap::new(&hall, taken);
    let available_seats = map.rows(true).into_iter();
    let occupied_seats = map.rows(false).into_iter();
    let special_seats = hall.seats().filter(|place| place.seat_type != GENERAL);
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
        available_seats_count: map.free_count(),
        total_seats_count: hall.seat_count(),
        seat_map: map.text(),
        special_seats: special_seats
            .map(|place| SpecialSeat {
                seat_id: place.seat.to_string(),
                seat_type: place.seat_type.clone(),
            })
            .collect(),
    })
}
