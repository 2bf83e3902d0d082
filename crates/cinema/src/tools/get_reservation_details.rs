//! `get_reservation_details`: what a reservation holds.

use std::sync::Arc;

use kit::{Context, Effect, Result, Run, Sql, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LOOKS, arguments};
use crate::{
    answers::{Reservation, ScheduleInfo},
    errors,
    house::House,
    model::{
        Status,
        hall::{GENERAL, Hall},
        seat::Seat,
        when::rfc3339,
    },
    store,
};

#[derive(Deserialize)]
pub struct Input {
    reservation_id: String,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "reservation_id": {
                "type": "string",
                "description": "Reservation ID"
            }
        },
        "required": ["reservation_id"]
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    reservation: Reservation,
    schedule_info: ScheduleInfo,
    seat_details: Vec<SeatDetail>,
}

#[derive(Serialize, JsonSchema)]
struct SeatDetail {
    seat_id: String,
    row: String,
    number: u32,
    /// 一般, カップル, 車椅子 and so on.
    seat_type: String,
}

impl SeatDetail {
    fn of(seat: &Seat, hall: &Hall) -> Self {
        // A hall that was rebuilt may have lost the seat since.
        let seat_type = hall.place(seat).map_or(GENERAL, |place| &place.seat_type);
        Self {
            seat_id: seat.to_string(),
            row: seat.row.clone(),
            number: seat.number,
            seat_type: seat_type.to_owned(),
        }
    }
}

pub fn tool(house: &Arc<House>) -> Tool {
    Tool {
        name: "get_reservation_details",
        aliases: &[],
        title: "Reservation details",
        description: "Get detailed information for a reservation by reservation ID.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: LOOKS,
        effect: Effect::Read,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            arguments::narrow(arguments, "reservation_id");
        },
        meta: None,
        personal: &[],
        card: None,
        inner_calls: None,
        run: Run::query(house, handle),
    }
}

fn handle(house: &House, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let found = store::reservation(sql, &input.reservation_id, house.now(context))?
        .ok_or_else(errors::reservation_not_found)?;
    let hall = house.hall(sql, &found.show)?;
    let held_until = found.expires_at.filter(|_| found.status == Status::Held);
    Ok(Output {
        reservation: Reservation {
            reservation_id: input.reservation_id,
            schedule_id: found.show.id.clone(),
            seat_ids: found.seats.iter().map(Seat::to_string).collect(),
            reservation_time: rfc3339(found.created_at, &house.zone),
            status: found.status.as_str().into(),
            expires_at: held_until.map(|at| rfc3339(at, &house.zone)),
        },
        schedule_info: ScheduleInfo::from(&found.show),
        seat_details: found
            .seats
            .iter()
            .map(|seat| SeatDetail::of(seat, &hall))
            .collect(),
    })
}
