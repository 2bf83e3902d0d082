//! The seats of one screening.

use std::collections::HashMap;

use kit::{
    Context, Result, Sql,
    console::{Action, Input, Part, Place, PlaceState, Plan, PlanRow, Section, pick},
    context::Language,
};
use serde_json::json;

use super::wording::when_and_where;
use crate::{
    model::{Show, hall::GENERAL, seat::Seat},
    state::CounterState,
    store::{self, Owned},
};

/// The seats of a screening, to be booked by clicking.
pub fn section(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    show: &Show,
) -> Result<Section> {
    let hall = state.hall(sql, show)?;
    let owned = store::owned_seats(sql, &show.id, state.now(context))?;
    let owned: HashMap<Seat, Owned> = owned.into_iter().collect();
    let state_of = |seat: &Seat| match owned.get(seat) {
        None => PlaceState::Free,
        Some(Owned::Held) => PlaceState::Held,
        Some(Owned::Booked) => PlaceState::Taken,
    };
    let seats: Vec<_> = hall.seats().collect();
    let rows = seats.chunk_by(|a, b| a.seat.row == b.seat.row).map(|row| {
        let last = row.last().map_or(0, |place| place.seat.number);
        let first = row.first().map_or(1, |place| place.seat.number);
        let places = (first.min(1)..=last).map(|number| {
            let place = row.iter().find(|place| place.seat.number == number)?;
            let is_usual = place.seat_type == GENERAL;
            Some(Place {
                value: place.seat.to_string(),
                label: number.to_string(),
                note: if is_usual { "" } else { &place.seat_type }.to_owned(),
                state: state_of(&place.seat),
            })
        });
        PlanRow {
            label: row
                .first()
                .map_or_else(String::new, |it| it.seat.row.clone()),
            places: places.collect(),
        }
    });
    let plan = Plan {
        argument: "seat_ids",
        label: pick(context, "Seats", "座席").into(),
        front: pick(context, "Screen", "スクリーン").into(),
        rows: rows.collect(),
    };
    let free = hall.seat_count() - owned.len().min(hall.seat_count());
    let count = match context.language {
        Language::English => format!("{free} of {} seats are free.", hall.seat_count()),
        Language::Japanese => format!("{}席のうち{free}席が空いています。", hall.seat_count()),
    };
    let book = Action {
        tool: "reserve_seats",
        label: pick(context, "Book these seats", "この座席を予約").into(),
        fixed: vec![("schedule_id", json!(show.id))],
        inputs: vec![Input::Plan(plan)],
    };
    Ok(Section {
        title: format!(
            "{} · {}",
            show.title_in(context.language),
            when_and_where(show)
        ),
        parts: vec![Part::Text(count), Part::Action(book)],
    })
}
