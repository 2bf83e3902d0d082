//! `get_reservation_details`: a reservation by its id.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Result, Sql, Today, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments;
use crate::{
    answers::{AnyObject, Reservation, ScheduleInfo, without_required},
    errors,
    model::{
        Status,
        hall::{GENERAL, Hall},
        seat::Seat,
        when::rfc3339,
    },
    state::CounterState,
    store,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Reservation ID
    reservation_id: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = without_required)]
pub struct Output {
    /// As in reserve_seats
    #[schemars(with = "AnyObject")]
    reservation: Reservation,
    /// As in get_show_schedule
    #[schemars(with = "AnyObject")]
    schedule_info: ScheduleInfo,
    seat_details: Vec<SeatDetail>,
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
        Handler::query(state, handle),
    )
    .normalise(|_, arguments| arguments::narrow(arguments, "reservation_id"))
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let found = store::reservation(sql, &input.reservation_id, state.now(context))?
        .ok_or_else(errors::reservation_not_found)?;
    let hall = state.hall(sql, &found.show)?;
    let held_until = found.expires_at.filter(|_| found.status == Status::Held);
    Ok(Output {
        reservation: Reservation {
            reservation_id: input.reservation_id,
            schedule_id: found.show.id.clone(),
            seat_ids: found.seats.iter().map(Seat::to_string).collect(),
            reservation_time: rfc3339(found.created_at, &state.zone),
            status: found.status.as_str().into(),
            expires_at: held_until.map(|at| rfc3339(at, &state.zone)),
        },
        schedule_info: ScheduleInfo::from(&found.show),
        seat_details: found
            .seats
            .iter()
            .map(|seat| SeatDetail::of(seat, &hall))
            .collect(),
        today: Today::of(context),
    })
}
