//! Who has booked: at the console, and for one screening. What is booked can be cancelled.

use jiff::Timestamp;
use kit::{
    Context, Result, Sql,
    console::{
        Action, Cell, CellRow, CellTable, Input, Part, RowAction, Section, Tag, Tone, pick,
        pick_all,
    },
};
use serde_json::json;

use super::wording::when_and_where;
use crate::{
    model::{Show, Status},
    state::CounterState,
    store::{self, ListedBooking},
};

const MOST: usize = 50;

const CANCEL: &str = "cancel_reservation";

/// The bookings of people at the console. Those of the screening that is shown are in its
/// own list.
pub fn at_console(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    shown: Option<&str>,
) -> Result<Section> {
    let mut found = store::bookings_at_console(sql, state.now(context), MOST as i64 + 1)?;
    let more = Part::cut(context, &mut found, MOST);
    found.retain(|booking| Some(booking.show.id.as_str()) != shown);
    let rows = found.iter().map(|booking| {
        let (film, when) = (
            booking.show.title_in(context.language),
            when_and_where(&booking.show),
        );
        CellRow {
            action: Some(cancel(booking, context, &format!(", {film}, {when}"))),
            cells: vec![
                Cell::Link {
                    label: film.to_owned(),
                    query: vec![
                        ("show", booking.show.id.clone()),
                        ("day", booking.show.date.clone()),
                    ],
                },
                Cell::Text(when),
                Cell::text(&booking.seats),
                Cell::text(&booking.id),
                standing(context, booking.status),
            ],
        }
    });
    let table = CellTable {
        columns: pick_all(
            context,
            &[
                ("Film", "作品"),
                ("When and where", "日時と場所"),
                ("Seats", "座席"),
                ("Reservation", "予約番号"),
                ("State", "状態"),
                ("Cancel", "取り消し"),
            ],
        ),
        rows: rows.collect(),
        tool: Some(CANCEL),
    };
    let none = match shown {
        Some(_) => pick(context, "No other bookings.", "ほかの予約はありません。"),
        None => pick(
            context,
            "Nothing is booked. Choose a screening to begin.",
            "予約はありません。上映を選んでください。",
        ),
    };
    let mut parts = vec![Part::table_or_text(table, none)];
    parts.extend(more);
    Ok(Section {
        title: pick(
            context,
            "Booked at this console",
            "このコンソールからの予約",
        )
        .into(),
        parts,
    })
}

/// For the reservations of anybody.
pub fn cancelling(context: &Context) -> Section {
    Section {
        title: pick(context, "Cancel a reservation", "予約の取り消し").into(),
        parts: vec![Part::Action(Action {
            tool: CANCEL,
            label: pick(context, "Cancel it", "取り消す").into(),
            fixed: Vec::new(),
            inputs: vec![Input::Line {
                argument: "reservation_id",
                label: pick(context, "Its number", "予約番号").into(),
            }],
        })],
    }
}

/// Everybody who has booked or holds seats of a screening.
pub fn of_show(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    show: &Show,
) -> Result<Section> {
    let now = state.now(context);
    let mut found = store::bookings_of_show(sql, &show.id, now, MOST as i64 + 1)?;
    let more = Part::cut(context, &mut found, MOST);
    let is_over = show.starts_at <= now;
    let rows = found.iter().map(|booking| CellRow {
        cells: vec![
            Cell::text(&booking.seats),
            Cell::text(&booking.id),
            standing(context, booking.status),
            Cell::Caller(booking.caller.clone()),
            booked_at(state, booking.created_at),
        ],
        action: (!is_over).then(|| cancel(booking, context, "")),
    });
    let table = CellTable {
        columns: pick_all(
            context,
            &[
                ("Seats", "座席"),
                ("Reservation", "予約番号"),
                ("State", "状態"),
                ("By", "予約者"),
                ("When", "日時"),
                ("Cancel", "取り消し"),
            ],
        ),
        rows: rows.collect(),
        tool: Some(CANCEL),
    };
    let none = match show.is_demo {
        true => pick(
            context,
            "Nobody has booked it, apart from the sample data.",
            "見本データのほかに予約はありません。",
        ),
        false => pick(
            context,
            "Nobody has booked it yet.",
            "まだ予約はありません。",
        ),
    };
    let mut parts = vec![Part::table_or_text(table, none)];
    parts.extend(more);
    Ok(Section {
        title: pick(context, "Bookings of this screening", "この上映の予約").into(),
        parts,
    })
}

/// `of`: which screening, where the list has several.
fn cancel(booking: &ListedBooking, context: &Context, of: &str) -> RowAction {
    RowAction {
        label: pick(context, "Cancel", "取り消す").into(),
        about: format!("{}{of}", booking.seats),
        arguments: vec![("reservation_id", json!(booking.id))],
    }
}

fn standing(context: &Context, status: Status) -> Cell {
    Cell::Tag(match status {
        Status::Held => Tag::new(Tone::Warning, pick(context, "Held", "取り置き")),
        _ => Tag::new(Tone::Good, pick(context, "Booked", "予約済み")),
    })
}

fn booked_at(state: &CounterState, at_ms: i64) -> Cell {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    Cell::Time(at.to_zoned(state.zone.clone()))
}
