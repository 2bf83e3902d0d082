//! Halls and their seat plans.

use kit::{Error, Param, Result, Sql};

use super::insert::insert_rows;
use crate::model::{
    hall::{Hall, HallSeat},
    seat::Seat,
};

pub fn hall(sql: &mut dyn Sql, theater_id: &str) -> Result<Hall> {
    let rows = sql.query(
        "SELECT seat_row, seat_number, seat_type FROM cinema_seats WHERE theater_id = $1",
        &[Param::Text(theater_id)],
    )?;
    let places: Result<Vec<HallSeat>> = rows
        .iter()
        .map(|row| {
            Ok(HallSeat {
                seat: Seat {
                    row: row.text(0)?,
                    number: row.int(1)?.try_into().map_err(Error::internal)?,
                },
                seat_type: row.text(2)?,
            })
        })
        .collect();
    Ok(Hall::new(places?))
}

/// Writes a hall and replaces its plan if it exists. Seats are written nowhere else, so
/// the count and the digest in the hall's row stay correct.
pub fn save_hall(sql: &mut dyn Sql, id: &str, name: &str, hall: &Hall, demo: bool) -> Result<()> {
    sql.execute(
        "INSERT INTO cinema_theaters (id, name, seat_count, layout_digest, is_demo) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET name = excluded.name, \
         seat_count = excluded.seat_count, layout_digest = excluded.layout_digest",
        &[
            Param::Text(id),
            Param::Text(name),
            Param::Int(i64::try_from(hall.seat_count()).map_err(Error::internal)?),
            Param::Int(hall.digest()),
            Param::Int(i64::from(demo)),
        ],
    )?;
    let id_param = [Param::Text(id)];
    sql.execute("DELETE FROM cinema_seats WHERE theater_id = $1", &id_param)?;
    let rows: Vec<[Param<'_>; 4]> = hall
        .seats()
        .map(|place| {
            [
                Param::Text(id),
                Param::Text(&place.seat.row),
                Param::Int(i64::from(place.seat.number)),
                Param::Text(&place.seat_type),
            ]
        })
        .collect();
    let table = "cinema_seats (theater_id, seat_row, seat_number, seat_type)";
    insert_rows(sql, table, &rows)
}
