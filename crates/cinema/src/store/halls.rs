//! Halls and their seat plans.

use kit::{Error, Param, Result, Sql, sql::values};

use super::CHUNK;
use crate::model::{
    hall::{Hall, Place},
    seat::Seat,
};

pub fn hall(sql: &mut dyn Sql, theater_id: &str) -> Result<Hall> {
    let rows = sql.query(
        "SELECT seat_row, seat_number, seat_type FROM cinema_seats WHERE theater_id = $1",
        &[Param::Text(theater_id)],
    )?;
    let places: Result<Vec<Place>> = rows
        .iter()
        .map(|row| {
            Ok(Place {
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

/// Writes a hall that is not there yet. The only way to write seats, so that
/// the count and the digest beside the hall's name stay true.
pub fn save_hall(sql: &mut dyn Sql, id: &str, name: &str, hall: &Hall, demo: bool) -> Result<()> {
    sql.execute(
        "INSERT INTO cinema_theaters (id, name, seat_count, layout_digest, is_demo) \
         VALUES ($1, $2, $3, $4, $5)",
        &[
            Param::Text(id),
            Param::Text(name),
            Param::Int(i64::try_from(hall.seat_count()).map_err(Error::internal)?),
            Param::Int(hall.digest()),
            Param::Int(i64::from(demo)),
        ],
    )?;
    let places: Vec<&Place> = hall.places().collect();
    for chunk in places.chunks(CHUNK) {
        let params: Vec<Param<'_>> = chunk
            .iter()
            .flat_map(|place| {
                [
                    Param::Text(id),
                    Param::Text(&place.seat.row),
                    Param::Int(i64::from(place.seat.number)),
                    Param::Text(&place.seat_type),
                ]
            })
            .collect();
        sql.execute(
            &format!(
                "INSERT INTO cinema_seats (theater_id, seat_row, seat_number, seat_type) VALUES {}",
                values(chunk.len(), 4)
            ),
            &params,
        )?;
    }
    Ok(())
}
